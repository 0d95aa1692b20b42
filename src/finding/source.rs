//! The text of a description and where its lines begin.

use super::Span;

/// A description's text under the name that findings call it by.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    text: String,
    line_starts: Vec<usize>,
}

/// A place as people count: from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl Source {
    /// A text under a name, most often the path that the user gave.
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

    /// What findings call the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text at a span; empty where the span is none of this text.
    pub fn at(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// Index of the line that holds the offset, from 0.
    pub fn line_index(&self, offset: usize) -> usize {
        self.line_starts
            .partition_point(|start| *start <= offset)
            .saturating_sub(1)
    }

    /// Offset of the line's first byte; behind the last line, the end of the text.
    pub fn line_start(&self, index: usize) -> usize {
        self.line_starts.get(index).copied().unwrap_or(self.text.len())
    }

    /// Line and column of an offset.
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
        assert_eq!(source.at(Span { start: 4, end: 5 }), "c");
        assert_eq!(
            source.at(Span { start: 1, end: 2 }),
            "",
            "no panic within a character"
        );
    }
}
