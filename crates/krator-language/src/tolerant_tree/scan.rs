//! Scans a text by lines and, in brackets and quotes, by characters.

use super::{Part, Step, TolerantTree};
use crate::finding::Span;

pub(super) fn scan(text: &str) -> TolerantTree {
    let mut scanner = Scanner {
        text,
        tree: TolerantTree::default(),
        frames: Vec::new(),
        document: 0,
    };
    scanner.begin_document(0);
    let mut at = 0;
    while at < text.len() {
        at = scanner.line(at);
    }
    let mut tree = scanner.tree;
    // Parts come after the part that contains them.
    for at in (0..tree.parts.len()).rev() {
        let end = tree.parts[at].end;
        if let Some(within) = tree.parts[at].within {
            let around = &mut tree.parts[within];
            around.end = around.end.max(end);
        }
    }
    tree
}

/// A mapping or a list in block style that later lines may continue.
struct Frame {
    /// The column of its keys or dashes.
    column: usize,
    is_list: bool,
    /// The part whose value it is.
    within: usize,
    /// Its last entry until the current line.
    last: usize,
}

/// An open mapping or list in brackets.
struct Bracket {
    is_list: bool,
    within: usize,
    /// The key whose value follows.
    key: Option<usize>,
}

struct Scanner<'t> {
    text: &'t str,
    tree: TolerantTree,
    frames: Vec<Frame>,
    document: usize,
}

impl<'t> Scanner<'t> {
    fn add(&mut self, within: Option<usize>, step: Step, name: Span) -> usize {
        self.tree.parts.push(Part {
            within,
            step,
            name,
            value: None,
            bracket: None,
            end: name.end,
        });
        self.tree.parts.len() - 1
    }

    fn set_value(&mut self, part: usize, value: Span, end: usize) {
        let part = &mut self.tree.parts[part];
        part.value = Some(value);
        part.end = part.end.max(end);
    }

    fn begin_document(&mut self, at: usize) {
        self.frames.clear();
        self.document = self.add(None, Step::Document, Span::new(at, at));
    }

    /// The end of the line at an offset, without its line break.
    fn line_end(&self, at: usize) -> usize {
        let end = self.text[at..]
            .find('\n')
            .map_or(self.text.len(), |length| at + length);
        if self.text[at..end].ends_with('\r') {
            end - 1
        } else {
            end
        }
    }

    /// The start of the next line.
    fn next_line(&self, at: usize) -> usize {
        self.text[at..]
            .find('\n')
            .map_or(self.text.len(), |length| at + length + 1)
    }

    fn spaces(&self, at: usize) -> usize {
        self.text[at..].bytes().take_while(|byte| *byte == b' ').count()
    }

    fn rest(&self, at: usize) -> &'t str {
        &self.text[at..self.line_end(at)]
    }

    /// Reads the content that starts on a line, and returns the start of the first line after it.
    fn line(&mut self, start: usize) -> usize {
        let line = self.rest(start);
        if line == "---" || line.starts_with("--- ") {
            self.begin_document(start);
            return self.next_line(start);
        }
        let mut column = self.spaces(start);
        let mut at = start + column;
        let mut item = None;
        while is_dash(self.rest(at)) {
            let within = self.within(column, true);
            let part = self.add(Some(within), Step::Item, Span::new(at, at + 1));
            self.entered(part);
            item = Some((part, column));
            let skipped = 1 + self.spaces(at + 1);
            column += skipped;
            at += skipped;
        }
        let rest = self.rest(at);
        if is_nothing(rest) {
            return self.next_line(start);
        }
        match (self.key_at(at, false), item) {
            (Some((name, after)), _) => {
                let within = self.within(column, false);
                let part = self.add(Some(within), Step::Key(self.unquoted(name)), name);
                self.entered(part);
                self.value(part, after, column + 1)
            }
            (None, Some((item, dash))) => self.value(item, at, dash + 1),
            (None, None) => {
                let within = self.within(column, false);
                if rest.starts_with(['{', '[']) {
                    let left = if within == self.document { 0 } else { column };
                    return self.bracket(within, at, left);
                }
                let span = self.plain(at);
                let word = self.add(Some(within), Step::Word, span);
                self.entered(word);
                self.next_line(start)
            }
        }
    }

    /// The part that contains an entry at this column. Closes frames further right.
    fn within(&mut self, column: usize, is_list: bool) -> usize {
        // The items of a list may have the same column as its key.
        let is_over =
            |frame: &Frame| frame.column > column || frame.column == column && frame.is_list && !is_list;
        while self.frames.last().is_some_and(is_over) {
            self.frames.pop();
        }
        let (within, is_open) = match self.frames.last() {
            Some(frame) => {
                let is_open = frame.column == column && frame.is_list == is_list;
                (if is_open { frame.within } else { frame.last }, is_open)
            }
            None => (self.document, false),
        };
        if !is_open {
            self.frames.push(Frame {
                column,
                is_list,
                within,
                last: within,
            });
        }
        within
    }

    /// Records a part as the last entry of the innermost frame.
    fn entered(&mut self, part: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.last = part;
        }
    }

    /// A key at this offset: its name without quotes, and the offset after its colon.
    fn key_at(&self, at: usize, in_brackets: bool) -> Option<(Span, usize)> {
        let rest = self.rest(at);
        let ends_key = |after: &str| {
            after.is_empty()
                || after.starts_with([' ', '\t'])
                || in_brackets && after.starts_with([',', '[', ']', '{', '}'])
        };
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let end = at + 1 + closing_quote(&rest[1..], quote)?;
            let after = self.text[end + 1..].trim_start_matches(' ');
            let colon = self.text.len() - after.len();
            let is_key = after.starts_with(':');
            return is_key.then_some((Span::new(at + 1, end), colon + 1));
        }
        if rest.starts_with(['{', '[', '&', '*', '!', '|', '>']) {
            return None;
        }
        for (offset, c) in rest.char_indices() {
            match c {
                ':' if ends_key(&rest[offset + 1..]) => {
                    let end = at + rest[..offset].trim_end().len();
                    return Some((Span::new(at, end), at + offset + 1));
                }
                '#' if rest[..offset].ends_with(' ') => return None,
                ',' | '{' | '}' | '[' | ']' if in_brackets => return None,
                _ => {}
            }
        }
        None
    }

    fn unquoted(&self, span: Span) -> String {
        self.text[span.start..span.end].to_owned()
    }

    /// The plain scalar from an offset to the end of its line.
    fn plain(&self, at: usize) -> Span {
        let rest = self.rest(at);
        let end = rest.find(" #").unwrap_or(rest.len());
        Span::new(at, at + rest[..end].trim_end().len())
    }

    /// Reads the value of a part, and returns the start of the first line after it. A line that starts before the
    /// column `left` does not belong to the value.
    fn value(&mut self, part: usize, after: usize, left: usize) -> usize {
        let mut at = after + self.spaces(after);
        if self.rest(at).starts_with(['&', '!']) {
            let property = self.rest(at).find(' ').unwrap_or(self.rest(at).len());
            at += property + self.spaces(at + property);
        }
        let rest = self.rest(at);
        let next = self.next_line(at);
        if is_nothing(rest) {
            return next;
        }
        match rest.chars().next() {
            Some('|' | '>') => self.block_scalar(part, next, left),
            Some('{' | '[') => self.bracket(part, at, left),
            Some(quote @ ('"' | '\'')) => {
                let (span, end) = self.quoted(at, quote, left);
                self.set_value(part, span, end);
                self.next_line(end)
            }
            Some('*') | None => next,
            Some(_) => {
                let span = self.plain(at);
                self.set_value(part, span, span.end);
                next
            }
        }
    }

    /// Skips the lines of a block scalar, which are indented further than its key.
    fn block_scalar(&mut self, part: usize, mut at: usize, left: usize) -> usize {
        while at < self.text.len() {
            let rest = self.rest(at);
            let is_inside = rest.trim().is_empty() || self.spaces(at) >= left;
            if !is_inside {
                break;
            }
            let end = self.line_end(at);
            self.tree.parts[part].end = end;
            at = self.next_line(at);
        }
        at
    }

    /// A quoted scalar: the span between its quotes, and the offset after it. An unclosed quote ends before the next
    /// line with too little indentation.
    fn quoted(&self, at: usize, quote: char, left: usize) -> (Span, usize) {
        let start = at + 1;
        let mut line = start;
        loop {
            let end = self.line_end(line);
            if let Some(length) = closing_quote(&self.text[line..end], quote) {
                let end = line + length;
                return (Span::new(start, end), end + 1);
            }
            let next = self.next_line(line);
            if next >= self.text.len() || self.spaces(next) < left && !self.rest(next).trim().is_empty() {
                return (Span::new(start, end), end);
            }
            line = next;
        }
    }

    /// Reads the brackets at an offset as the value of a part, and returns the start of the first line after them. An
    /// unclosed bracket ends before the next line with too little indentation.
    fn bracket(&mut self, part: usize, start: usize, left: usize) -> usize {
        let mut open: Vec<Bracket> = Vec::new();
        let mut at = start;
        while let Some(c) = self.text[at..].chars().next() {
            match c {
                '\n' => {
                    at += 1;
                    let indent = self.spaces(at);
                    let rest = self.rest(at);
                    let is_left = indent < left && !rest.trim().is_empty();
                    if is_left && !rest[indent..].starts_with(['}', ']']) {
                        return at;
                    }
                }
                '#' if self.text[..at].ends_with([' ', '\n']) => at = self.line_end(at),
                '{' | '[' => {
                    let within = self.bracketed(&mut open, part, at);
                    let inner = &mut self.tree.parts[within];
                    inner.bracket = Some(at);
                    open.push(Bracket {
                        is_list: c == '[',
                        within,
                        key: None,
                    });
                    at += 1;
                }
                '}' | ']' => {
                    at += 1;
                    if let Some(closed) = open.pop() {
                        self.tree.parts[closed.within].end = at;
                    }
                    if open.is_empty() {
                        return self.next_line(at);
                    }
                }
                ',' => {
                    if let Some(bracket) = open.last_mut() {
                        bracket.key = None;
                    }
                    at += 1;
                }
                c if c.is_whitespace() || c == ':' => at += c.len_utf8(),
                _ => at = self.token(&mut open, at, left),
            }
        }
        at
    }

    /// The part whose value is in the brackets at an offset.
    fn bracketed(&mut self, open: &mut [Bracket], outermost: usize, at: usize) -> usize {
        match open.last() {
            None => outermost,
            Some(Bracket { key: Some(key), .. }) => *key,
            Some(around) => {
                let within = Some(around.within);
                self.add(within, Step::Item, Span::new(at, at))
            }
        }
    }

    /// Reads a key or a scalar inside brackets, and returns the offset after it.
    fn token(&mut self, open: &mut [Bracket], at: usize, left: usize) -> usize {
        let Some(bracket) = open.last_mut() else {
            return self.line_end(at);
        };
        if !bracket.is_list
            && bracket.key.is_none()
            && let Some((name, after)) = self.key_at(at, true)
        {
            let within = Some(bracket.within);
            let key = self.add(within, Step::Key(self.unquoted(name)), name);
            bracket.key = Some(key);
            return after;
        }
        let quote = self.text[at..].chars().next().filter(|c| matches!(c, '"' | '\''));
        let (span, end) = match quote {
            Some(quote) => self.quoted(at, quote, left),
            None => {
                let rest = self.rest(at);
                let end = rest.find([',', '[', ']', '{', '}']).unwrap_or(rest.len());
                let end = rest[..end].find(" #").unwrap_or(end);
                let length = rest[..end].trim_end().len();
                (Span::new(at, at + length), at + end.max(1))
            }
        };
        let within = bracket.within;
        let value_end = if quote.is_some() { end } else { span.end };
        match (bracket.key, bracket.is_list) {
            (Some(key), _) => self.set_value(key, span, value_end),
            (None, true) => {
                let start = span.start;
                let item = self.add(Some(within), Step::Item, Span::new(start, start));
                self.set_value(item, span, value_end);
            }
            (None, false) => {
                self.add(Some(within), Step::Word, span);
            }
        }
        end
    }
}

fn is_dash(rest: &str) -> bool {
    rest == "-" || rest.starts_with("- ")
}

/// Whether the rest of a line has no content.
fn is_nothing(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || rest.starts_with('#')
}

/// The place of the quote that closes a scalar.
fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote == '"' => {
                chars.next();
            }
            '\'' if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') => {
                chars.next();
            }
            _ if c == quote => return Some(at),
            _ => {}
        }
    }
    None
}
