//! The grammar of Go's `regexp/syntax`, with the flags of Perl.
//!
//! The order of the checks is that of Go's parser, so that both find the same mistake first. Where Go builds a tree, this
//! writes the pattern in Rust's grammar at once and keeps of each part only what Go's limits are about.

use super::PatternError;
use super::class::{self, Class};
use super::unicode;

/// How often something may be repeated, all repetitions within each other multiplied.
const REPETITIONS: u64 = 1000;
/// How deep parts may be nested.
const HEIGHT: usize = 1000;
/// How many instructions a pattern may have.
const SIZE: i64 = (128 << 20) / 40;

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

fn error(reason: &'static str, part: &str) -> PatternError {
    PatternError {
        reason,
        part: part.to_string(),
    }
}

/// The part of `from` that is not in its rest.
fn consumed<'a>(from: &'a str, rest: &str) -> &'a str {
    &from[..from.len() - rest.len()]
}

fn split_first(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    chars.next().map(|c| (c, chars.as_str()))
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

    fn literal(&mut self, c: char) -> Result<(), PatternError> {
        self.literal_code(u32::from(c))
    }

    fn literal_code(&mut self, code: u32) -> Result<(), PatternError> {
        let mut class = Class::default();
        class.range(code, code);
        let rust = self.folded(class.write(false));
        self.push_part(rust, Kind::Literal)
    }

    fn push_class(&mut self, class: &Class, negated: bool) -> Result<(), PatternError> {
        let rust = self.folded(class.write(negated));
        self.push_part(rust, Kind::Other)
    }

    fn push_assertion(&mut self, rust: &str) -> Result<(), PatternError> {
        self.push_part(format!("(?:{rust})"), Kind::Other)
    }

    fn folded(&self, rust: String) -> String {
        if self.flags.fold {
            format!("(?i:{rust})")
        } else {
            rust
        }
    }

    fn push_part(&mut self, rust: String, kind: Kind) -> Result<(), PatternError> {
        self.count();
        self.join_literals();
        self.push(Part {
            rust,
            kind,
            size: 1,
            height: 1,
            repetitions: 1,
        })
    }

    fn push(&mut self, part: Part) -> Result<(), PatternError> {
        self.check(&part)?;
        self.stack.push(Entry::Part(part));
        Ok(())
    }

    fn count(&mut self) {
        self.parts += 1;
    }

    /// Go's limits on the size and the nesting, which it only looks at once there are many parts.
    fn check(&self, part: &Part) -> Result<(), PatternError> {
        if self.parts as i64 >= SIZE / self.repeats && part.size > SIZE {
            return Err(error("expression too large", self.whole));
        }
        if self.parts >= HEIGHT && part.height > HEIGHT {
            return Err(error("expression nests too deeply", self.whole));
        }
        Ok(())
    }

    /// Literals next to each other are one part. The last one stays apart, because a repetition may follow it.
    fn join_literals(&mut self) {
        let [.., Entry::Part(first), Entry::Part(second)] = &mut self.stack[..] else {
            return;
        };
        if first.kind == Kind::Literal && second.kind == Kind::Literal {
            first.rust.push_str(&second.rust);
            first.size += second.size;
            self.stack.pop();
            self.parts = self.parts.saturating_sub(1);
        }
    }

    fn repeat(
        &mut self,
        kind: Repeat,
        (min, max): (u64, Option<u64>),
        before: &'a str,
        after: &'a str,
        last_repeat: &'a str,
    ) -> Result<&'a str, PatternError> {
        let after = after.strip_prefix('?').unwrap_or(after);
        if !last_repeat.is_empty() {
            return Err(error(
                "invalid nested repetition operator",
                consumed(last_repeat, after),
            ));
        }
        let Some(Entry::Part(part)) = self.stack.last() else {
            return Err(error(
                "missing argument to repetition operator",
                consumed(before, after),
            ));
        };
        let times = max.unwrap_or(min).max(1);
        let (size, repetitions) = match kind {
            Repeat::Sign('*') => (2 + part.size, part.repetitions),
            Repeat::Sign(_) => (1 + part.size, part.repetitions),
            Repeat::Count => {
                let size = match max {
                    None if min == 0 => 2 + part.size,
                    None => 1 + min as i64 * part.size,
                    Some(max) => max as i64 * part.size + (max - min) as i64,
                };
                self.repeats = self.repeats.saturating_mul(times as i64).min(SIZE);
                let repetitions = match max {
                    Some(0) => 1,
                    _ => part.repetitions.saturating_mul(times),
                };
                (size.max(1), repetitions)
            }
        };
        let bounds = match max {
            Some(max) => format!("{{{min},{max}}}"),
            None => format!("{{{min},}}"),
        };
        let part = Part {
            rust: format!("(?:{}){bounds}", part.rust),
            kind: Kind::Other,
            size,
            height: part.height + 1,
            repetitions,
        };
        self.count();
        self.stack.pop();
        let too_often = kind == Repeat::Count && times >= 2 && part.repetitions > REPETITIONS;
        self.push(part)?;
        if too_often {
            return Err(error("invalid repeat count", consumed(before, after)));
        }
        Ok(after)
    }

    /// Makes one part of those since the last bar or parenthesis.
    fn concatenate(&mut self) -> Result<(), PatternError> {
        self.join_literals();
        let parts = self.pop_parts();
        let part = self.collapse(parts, Kind::Concatenation);
        self.push(part)
    }

    /// Makes one part of the alternatives since the last parenthesis.
    fn alternate(&mut self) -> Result<(), PatternError> {
        let mut parts = self.pop_parts();
        while matches!(self.stack.last(), Some(Entry::Bar)) {
            self.stack.pop();
            parts.splice(0..0, self.pop_parts());
        }
        let part = self.collapse(parts, Kind::Alternation);
        self.push(part)
    }

    fn pop_parts(&mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        while matches!(self.stack.last(), Some(Entry::Part(_))) {
            if let Some(Entry::Part(part)) = self.stack.pop() {
                parts.push(part);
            }
        }
        parts.reverse();
        parts
    }

    fn collapse(&mut self, mut parts: Vec<Part>, kind: Kind) -> Part {
        if parts.len() == 1
            && let Some(part) = parts.pop()
        {
            return part;
        }
        self.count();
        // What has the same kind is joined with its neighbours, so it adds no level.
        let height = parts
            .iter()
            .map(|part| part.height + usize::from(part.kind != kind))
            .max()
            .unwrap_or(1);
        let separator = if kind == Kind::Alternation { "|" } else { "" };
        let rust: Vec<&str> = parts.iter().map(|part| part.rust.as_str()).collect();
        let bars = match kind {
            Kind::Alternation => parts.len().saturating_sub(1) as i64,
            _ => 0,
        };
        Part {
            rust: format!("(?:{})", rust.join(separator)),
            kind,
            size: (parts.iter().map(|part| part.size).sum::<i64>() + bars).max(1),
            height,
            repetitions: parts.iter().map(|part| part.repetitions).max().unwrap_or(1),
        }
    }

    fn close(&mut self) -> Result<(), PatternError> {
        self.concatenate()?;
        self.alternate()?;
        let inner = self.stack.pop();
        let Some(Entry::Paren(flags, captures)) = self.stack.pop() else {
            return Err(error("unexpected )", self.whole));
        };
        self.flags = flags;
        let Some(Entry::Part(inner)) = inner else {
            return Err(error("unexpected )", self.whole));
        };
        self.join_literals();
        self.push(match captures {
            false => inner,
            true => Part {
                rust: inner.rust,
                kind: Kind::Other,
                size: inner.size + 2,
                height: inner.height + 1,
                repetitions: inner.repetitions,
            },
        })
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    /// `*`, `+` or `?`.
    Sign(char),
    /// `{2,5}` and the like.
    Count,
}

type Bounds = (u64, Option<u64>);

/// `{2}`, `{2,}` or `{2,5}` at the beginning of the text: the bounds unless they are out of the limits, and what follows.
fn repetition(text: &str) -> Option<(Option<Bounds>, &str)> {
    let (min, rest) = integer(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => {
            let (max, rest) = integer(rest)?;
            (Some(max), rest)
        }
    };
    let after = rest.strip_prefix('}')?;
    let within = |value: u64| value <= REPETITIONS;
    let valid = within(min) && max.is_none_or(|max| within(max) && min <= max);
    Some((valid.then_some((min, max)), after))
}

/// A decimal number without leading zeros; one that is far too large is the largest number.
fn integer(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().unwrap_or(u64::MAX), rest))
}

/// A class of Unicode such as `\pL`, `\p{Greek}` or `\P{^Lu}`, and what follows it.
fn unicode_class<'a>(text: &'a str, class: &mut Class) -> Result<&'a str, PatternError> {
    let mut negated = text.starts_with(r"\P");
    let rest = &text[2..];
    let (mut name, after) = match split_first(rest) {
        // Go's parser returns an empty character here and then finds no such class.
        None => return Err(error("invalid character class range", text)),
        Some(('{', rest)) => match rest.split_once('}') {
            Some(found) => found,
            None => return Err(error("invalid character class range", text)),
        },
        Some((_, after)) => (consumed(rest, after), after),
    };
    if let Some(rest) = name.strip_prefix('^') {
        negated = !negated;
        name = rest;
    }
    let Some(property) = unicode::property(name) else {
        return Err(error("invalid character class range", consumed(text, after)));
    };
    match (property.as_str(), negated) {
        // Go's strings may hold surrogates, and the texts of JSON cannot.
        ("gc=Cs", false) => {}
        ("gc=Cs", true) => class.named(r"\x{0}-\x{10FFFF}", false),
        (property, negated) => class.named(&format!(r"\p{{{property}}}"), negated),
    }
    Ok(after)
}

fn class_char<'a>(text: &'a str, whole: &str) -> Result<(u32, &'a str), PatternError> {
    match split_first(text) {
        None => Err(error("missing closing ]", whole)),
        Some(('\\', _)) => escaped_char(text),
        Some((c, after)) => Ok((u32::from(c), after)),
    }
}

/// The character that an escape stands for, and what follows.
fn escaped_char(text: &str) -> Result<(u32, &str), PatternError> {
    let Some((c, mut rest)) = split_first(&text[1..]) else {
        return Err(error("trailing backslash at end of expression", ""));
    };
    let code = match c {
        '0'..='7' if c == '0' || rest.starts_with(|c| matches!(c, '0'..='7')) => {
            let mut code = u32::from(c) - u32::from('0');
            for _ in 1..3 {
                let Some((digit @ '0'..='7', after)) = split_first(rest) else {
                    break;
                };
                code = code * 8 + (u32::from(digit) - u32::from('0'));
                rest = after;
            }
            Some(code)
        }
        'x' => {
            let (code, after) = hexadecimal(rest);
            rest = after;
            code
        }
        'a' => Some(0x07),
        'f' => Some(0x0C),
        'n' => Some(0x0A),
        'r' => Some(0x0D),
        't' => Some(0x09),
        'v' => Some(0x0B),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
        _ => None,
    };
    match code {
        Some(code) => Ok((code, rest)),
        None => Err(error("invalid escape sequence", consumed(text, rest))),
    }
}

/// What follows `\x`: two digits, or any number of them in braces.
fn hexadecimal(text: &str) -> (Option<u32>, &str) {
    let Some((first, mut rest)) = split_first(text) else {
        return (None, text);
    };
    if first != '{' {
        let Some((second, after)) = split_first(rest) else {
            return (None, rest);
        };
        let code = first
            .to_digit(16)
            .zip(second.to_digit(16))
            .map(|(first, second)| first * 16 + second);
        return (code, after);
    }
    let mut code = None;
    while let Some((c, after)) = split_first(rest) {
        rest = after;
        if c == '}' {
            return (code, rest);
        }
        let Some(digit) = c.to_digit(16) else {
            break;
        };
        let next = code.unwrap_or(0) * 16 + digit;
        if next > u32::from(char::MAX) {
            break;
        }
        code = Some(next);
    }
    (None, rest)
}
