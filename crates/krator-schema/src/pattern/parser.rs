//! The grammar of Go's `regexp/syntax`, with the flags of Perl.
//!
//! The order of the checks is that of Go's parser, so that both find the same mistake first. Where Go builds a tree, this
//! writes the pattern in Rust's grammar at once and keeps of each part only what Go's limits are about.

mod scan;
mod stack;

use super::PatternError;
use super::class::{self, Class};
use scan::{class_char, consumed, error, escaped_char, repetition, split_first, unicode_class};

/// How often something may be repeated, all repetitions within each other multiplied.
const REPETITIONS: u64 = 1000;

/// Writes a pattern of Go in Rust's grammar.
pub(super) fn rewrite(pattern: &str) -> Result<String, PatternError> {
    let mut parser = Parser {
        whole: pattern,
        flags: Flags::default(),
        stack: Vec::new(),
        parts: 0,
        repeats: 1,
    };
    parser.parse()
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    fold: bool,
    multiline: bool,
    dot_newline: bool,
}

/// A part of the pattern that has been read.
#[derive(Debug)]
struct Part {
    /// The part in Rust's grammar, as one unit.
    rust: String,
    kind: Kind,
    /// How many instructions Go needs for it.
    size: i64,
    height: usize,
    /// The product of the repetitions within each other.
    repetitions: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Literal,
    Other,
    Concatenation,
    Alternation,
}

#[derive(Debug)]
enum Entry {
    Part(Part),
    /// An open parenthesis, the flags before it, and whether it captures.
    Paren(Flags, bool),
    Bar,
}

struct Parser<'a> {
    whole: &'a str,
    flags: Flags,
    stack: Vec<Entry>,
    /// How many parts there are, for Go's limit on nesting, which only applies to patterns with many.
    parts: usize,
    /// The product of all repetitions, for Go's limit on the size.
    repeats: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    /// `*`, `+` or `?`.
    Sign(char),
    /// `{2,5}` and the like.
    Count,
}

impl<'a> Parser<'a> {
    fn parse(&mut self) -> Result<String, PatternError> {
        let mut text = self.whole;
        let mut last_repeat = "";
        while let Some((c, after)) = split_first(text) {
            let mut repeat = "";
            match c {
                '(' if after.starts_with('?') => text = self.perl_group(text)?,
                '(' => {
                    self.count();
                    self.join_literals();
                    self.stack.push(Entry::Paren(self.flags, true));
                    text = after;
                }
                '|' => {
                    self.concatenate()?;
                    self.stack.push(Entry::Bar);
                    text = after;
                }
                ')' => {
                    self.close()?;
                    text = after;
                }
                '^' => {
                    self.push_assertion(if self.flags.multiline { "(?m:^)" } else { r"\A" })?;
                    text = after;
                }
                '$' => {
                    self.push_assertion(if self.flags.multiline { "(?m:$)" } else { r"\z" })?;
                    text = after;
                }
                '.' => {
                    let any = if self.flags.dot_newline {
                        "(?s:.)"
                    } else {
                        r"[^\n]"
                    };
                    self.push_part(any.to_string(), Kind::Other)?;
                    text = after;
                }
                '[' => text = self.class(text)?,
                '*' | '+' | '?' => {
                    let bounds = match c {
                        '*' => (0, None),
                        '+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    repeat = text;
                    text = self.repeat(Repeat::Sign(c), bounds, text, after, last_repeat)?;
                }
                '{' => match repetition(text) {
                    None => {
                        self.literal('{')?;
                        text = after;
                    }
                    Some((bounds, after)) => {
                        let Some((min, max)) = bounds else {
                            return Err(error("invalid repeat count", consumed(text, after)));
                        };
                        repeat = text;
                        text = self.repeat(Repeat::Count, (min, max), text, after, last_repeat)?;
                    }
                },
                '\\' => text = self.escape(text)?,
                c => {
                    self.literal(c)?;
                    text = after;
                }
            }
            last_repeat = repeat;
        }
        self.concatenate()?;
        self.alternate()?;
        match self.stack.pop() {
            Some(Entry::Part(part)) if self.stack.is_empty() => Ok(part.rust),
            _ => Err(error("missing closing )", self.whole)),
        }
    }

    /// What begins with a backslash outside a class.
    fn escape(&mut self, text: &'a str) -> Result<&'a str, PatternError> {
        let rest = &text[1..];
        if let Some((letter, after)) = split_first(rest) {
            match letter {
                'A' => return self.push_assertion(r"\A").map(|()| after),
                'z' => return self.push_assertion(r"\z").map(|()| after),
                'b' => return self.push_assertion(r"(?-u:\b)").map(|()| after),
                'B' => return self.push_assertion(r"(?-u:\B)").map(|()| after),
                'C' => return Err(error("invalid escape sequence", r"\C")),
                'Q' => {
                    let (quoted, after) = after.split_once(r"\E").unwrap_or((after, ""));
                    for c in quoted.chars() {
                        self.literal(c)?;
                    }
                    return Ok(after);
                }
                'p' | 'P' => {
                    let mut class = Class::default();
                    let after = unicode_class(text, &mut class)?;
                    self.push_class(&class, false)?;
                    return Ok(after);
                }
                _ => {
                    if let Some(items) = class::perl(letter) {
                        let mut class = Class::default();
                        class.named(items, letter.is_ascii_uppercase());
                        self.push_class(&class, false)?;
                        return Ok(after);
                    }
                }
            }
        }
        let (code, after) = escaped_char(text)?;
        self.literal_code(code)?;
        Ok(after)
    }

    /// What begins with `(?`: a named group, flags, or a group that does not capture.
    fn perl_group(&mut self, text: &'a str) -> Result<&'a str, PatternError> {
        let name = text
            .strip_prefix("(?P<")
            .filter(|name| !name.is_empty())
            .or_else(|| text.strip_prefix("(?<").filter(|name| !name.is_empty()));
        if let Some(name) = name {
            let Some((name, after)) = name.split_once('>') else {
                return Err(error("invalid named capture", text));
            };
            let valid = |c: char| c == '_' || c.is_ascii_alphanumeric();
            if name.is_empty() || !name.chars().all(valid) {
                return Err(error("invalid named capture", consumed(text, after)));
            }
            self.count();
            self.join_literals();
            self.stack.push(Entry::Paren(self.flags, true));
            return Ok(after);
        }
        let mut flags = self.flags;
        let mut rest = &text[2..];
        let mut negative = false;
        let mut seen = false;
        while let Some((c, after)) = split_first(rest) {
            rest = after;
            match c {
                'i' => flags.fold = !negative,
                'm' => flags.multiline = !negative,
                's' => flags.dot_newline = !negative,
                // Only which of several matches is found depends on it.
                'U' => {}
                '-' if !negative => {
                    negative = true;
                    seen = false;
                    continue;
                }
                ':' | ')' if !negative || seen => {
                    if c == ':' {
                        self.count();
                        self.join_literals();
                        self.stack.push(Entry::Paren(self.flags, false));
                    }
                    self.flags = flags;
                    return Ok(after);
                }
                _ => break,
            }
            seen = true;
        }
        Err(error("invalid or unsupported Perl syntax", consumed(text, rest)))
    }

    fn class(&mut self, text: &'a str) -> Result<&'a str, PatternError> {
        let mut rest = &text[1..];
        let negated = rest.starts_with('^');
        if negated {
            rest = &rest[1..];
        }
        let mut class = Class::default();
        let mut first = true;
        while first || !rest.starts_with(']') {
            first = false;
            if rest.starts_with("[:")
                && let Some((name, after)) = rest[2..].split_once(":]")
            {
                let (name, sign) = match name.strip_prefix('^') {
                    Some(name) => (name, true),
                    None => (name, false),
                };
                let Some(items) = class::posix(name) else {
                    return Err(error("invalid character class range", consumed(rest, after)));
                };
                class.named(items, sign);
                rest = after;
                continue;
            }
            if rest.starts_with(r"\p") || rest.starts_with(r"\P") {
                rest = unicode_class(rest, &mut class)?;
                continue;
            }
            if let Some((letter, after)) = rest.strip_prefix('\\').and_then(split_first)
                && let Some(items) = class::perl(letter)
            {
                class.named(items, letter.is_ascii_uppercase());
                rest = after;
                continue;
            }
            let range = rest;
            let (low, after) = class_char(rest, text)?;
            rest = after;
            let mut high = low;
            if let Some(after) = rest.strip_prefix('-')
                && !after.is_empty()
                && !after.starts_with(']')
            {
                (high, rest) = class_char(after, text)?;
                if high < low {
                    return Err(error("invalid character class range", consumed(range, rest)));
                }
            }
            class.range(low, high);
        }
        self.push_class(&class, negated)?;
        Ok(&rest[1..])
    }
}
