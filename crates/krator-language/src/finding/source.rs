//! The text of a description, with the offsets of its lines.

use super::Span;

/// The text of a description, with the name that findings use for its file.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    text: String,
    line_starts: Vec<usize>,
}

/// A place as it is shown to users: lines and columns start at 1, and columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Source {
    /// A text with a name, which is usually the path that the user gave.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Source {
            name: name.into(),
            text,
            line_starts,
        }
    }

    /// The name that findings use for the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text at a span. It is empty if the span is out of bounds or splits a character.
    pub fn at(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// The index of the line that contains the offset, starting at 0.
    pub(super) fn line_index(&self, offset: usize) -> usize {
        self.line_starts
            .partition_point(|start| *start <= offset)
            .saturating_sub(1)
    }

    /// The offset of the first byte of a line, or the end of the text if there is no such line.
    pub(super) fn line_start(&self, index: usize) -> usize {
        self.line_starts.get(index).copied().unwrap_or(self.text.len())
    }

    /// The line of an offset, from 0, and its column in UTF-16, as editors count.
    pub fn utf16_position(&self, offset: usize) -> (u32, u32) {
        let offset = offset.min(self.text.len());
        let line = self.line_index(offset);
        let before = self.text.get(self.line_start(line)..offset).unwrap_or_default();
        let column = before.encode_utf16().count();
        // A file of 2^32 lines or columns is larger than what krator reads.
        (
            u32::try_from(line).unwrap_or(u32::MAX),
            u32::try_from(column).unwrap_or(u32::MAX),
        )
    }

    /// The offset of a line, from 0, and a column in UTF-16. A column after the end of its line is the end of the line,
    /// and a column inside a character is the start of the character.
    pub fn utf16_offset(&self, line: u32, column: u32) -> usize {
        let start = self.line_start(line as usize);
        let rest = self.text.get(start..).unwrap_or_default();
        let rest = rest.split(['\n', '\r']).next().unwrap_or_default();
        let mut left = column as usize;
        let mut offset = start;
        for c in rest.chars() {
            if left < c.len_utf16() {
                break;
            }
            left -= c.len_utf16();
            offset += c.len_utf8();
        }
        offset
    }

    /// The line and column of an offset.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.line_index(offset);
        let before = self.text.get(self.line_start(line)..offset).unwrap_or_default();
        Position {
            line: line + 1,
            column: before.chars().count() + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_from_1_and_columns_in_characters() {
        let source = Source::new("a.yaml", "äb\nc: dé\n");
        assert_eq!(source.position(0), Position { line: 1, column: 1 });
        assert_eq!(source.position(2), Position { line: 1, column: 2 });
        assert_eq!(
            source.position(source.text().len()),
            Position { line: 3, column: 1 }
        );
        let editors = Source::new("a.yaml", "a: 🦌b\r\nc: d\n");
        assert_eq!(
            editors.utf16_position(7),
            (0, 5),
            "the moose has two units and four bytes"
        );
        assert_eq!(editors.utf16_offset(0, 5), 7);
        assert_eq!(editors.utf16_offset(0, 4), 3, "inside the moose");
        assert_eq!(editors.utf16_offset(0, 99), 8, "the end of the line");
        assert_eq!(editors.utf16_offset(1, 3), 13);
        assert_eq!(editors.utf16_offset(99, 0), editors.text().len());
        assert_eq!(source.at(Span { start: 4, end: 5 }), "c");
        assert_eq!(
            source.at(Span { start: 1, end: 2 }),
            "",
            "a span that splits a character does not panic"
        );
    }
}
