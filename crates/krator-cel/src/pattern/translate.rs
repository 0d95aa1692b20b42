//! Translates a pattern of Go's `regexp/syntax`, with the flags of Perl, to the grammar of Rust's `regex`.
//!
//! Most of a pattern has the same meaning in both and is copied. Escapes, classes and flags are translated. Errors are
//! found in the order of Go's parser and have its messages. Of Go's limits, those on repetitions and on nested groups
//! are kept, but not that on the size of the compiled pattern.

use std::collections::BTreeMap;

use super::PatternError;
use super::class::Class;
use super::scan::{class_char, consumed, error, escaped_char, repetition, split_first, unicode_class};

/// The largest count of a repetition, and the largest product of nested counts.
const MAX_REPETITIONS: u64 = 1000;
/// Go's limit on the height of the tree, in which each capturing group and the innermost operand count.
const MAX_CAPTURES: usize = 999;

pub(super) fn translate(pattern: &str) -> Result<String, PatternError> {
    Translator {
        whole: pattern,
        rust: String::new(),
        groups: Vec::new(),
        repetitions: 1,
        operand: Operand::Missing,
    }
    .translate()
}

/// An open group.
struct Group {
    captures: bool,
    /// The repetitions of the outer group.
    outer: u64,
}

/// The part before the current position, to which a repetition operator applies.
#[derive(Clone, Copy)]
enum Operand<'a> {
    Missing,
    /// A part with its product of repetitions.
    Part(u64),
    /// A part with a repetition operator, at which this text starts.
    Repeated(u64, &'a str),
}

struct Translator<'a> {
    whole: &'a str,
    rust: String,
    groups: Vec<Group>,
    /// The largest product of repetitions in the current group, without the operand.
    repetitions: u64,
    operand: Operand<'a>,
}

impl<'a> Translator<'a> {
    fn translate(mut self) -> Result<String, PatternError> {
        let mut text = self.whole;
        while let Some((c, after)) = split_first(text) {
            text = match c {
                '(' if after.starts_with('?') => self.perl_group(text)?,
                '(' => {
                    self.open("(", true)?;
                    after
                }
                ')' => {
                    self.close()?;
                    after
                }
                '|' => {
                    self.rust.push('|');
                    self.settle(Operand::Missing);
                    after
                }
                '[' => self.class(text)?,
                '*' | '+' | '?' => self.repeat(text, after, (0, None))?,
                '{' => match repetition(text) {
                    None => {
                        self.part(r"\{");
                        after
                    }
                    Some((min, max, after)) => {
                        let most = max.unwrap_or(min).max(min);
                        if most > MAX_REPETITIONS || max.is_some_and(|max| max < min) {
                            return Err(error("invalid repeat count", consumed(text, after)));
                        }
                        self.repeat(text, after, (min, max))?
                    }
                },
                '\\' => self.escape(text)?,
                _ => {
                    self.part(consumed(text, after));
                    after
                }
            };
        }
        match self.groups.is_empty() {
            true => Ok(self.rust),
            false => Err(error("missing closing )", self.whole)),
        }
    }

    /// Adds a part without repetitions.
    fn part(&mut self, rust: &str) {
        self.rust.push_str(rust);
        self.settle(Operand::Part(1));
    }

    /// Adds the operand to the count of its group, and replaces it.
    fn settle(&mut self, next: Operand<'a>) {
        if let Operand::Part(repetitions) | Operand::Repeated(repetitions, _) = self.operand {
            self.repetitions = self.repetitions.max(repetitions);
        }
        self.operand = next;
    }

    fn open(&mut self, rust: &str, captures: bool) -> Result<(), PatternError> {
        self.rust.push_str(rust);
        self.settle(Operand::Missing);
        let outer = std::mem::replace(&mut self.repetitions, 1);
        self.groups.push(Group { captures, outer });
        let captures = self.groups.iter().filter(|group| group.captures).count();
        match captures > MAX_CAPTURES {
            true => Err(error("expression nests too deeply", self.whole)),
            false => Ok(()),
        }
    }

    fn close(&mut self) -> Result<(), PatternError> {
        let Some(group) = self.groups.pop() else {
            return Err(error("unexpected )", self.whole));
        };
        self.rust.push(')');
        self.settle(Operand::Missing);
        let inner = std::mem::replace(&mut self.repetitions, group.outer);
        self.operand = Operand::Part(inner);
        Ok(())
    }

    /// Repeats the operand; `(0, None)` is used for the operators without counts.
    fn repeat(
        &mut self,
        operator: &'a str,
        after: &'a str,
        (min, max): (u64, Option<u64>),
    ) -> Result<&'a str, PatternError> {
        let after = after.strip_prefix('?').unwrap_or(after);
        let inner = match self.operand {
            Operand::Missing => {
                let part = consumed(operator, after);
                return Err(error("missing argument to repetition operator", part));
            }
            Operand::Repeated(_, before) => {
                let part = consumed(before, after);
                return Err(error("invalid nested repetition operator", part));
            }
            Operand::Part(inner) => inner,
        };
        let times = max.unwrap_or(min).max(1);
        let repetitions = if max == Some(0) {
            1
        } else {
            inner.saturating_mul(times)
        };
        if times > 1 && repetitions > MAX_REPETITIONS {
            return Err(error("invalid repeat count", consumed(operator, after)));
        }
        self.rust.push_str(consumed(operator, after));
        self.operand = Operand::Repeated(repetitions, operator);
        Ok(after)
    }

    /// An escape outside a class.
    fn escape(&mut self, text: &'a str) -> Result<&'a str, PatternError> {
        let (letter, after) = split_first(&text[1..]).unwrap_or_default();
        match letter {
            'A' | 'z' => self.part(consumed(text, after)),
            'b' => self.part(r"(?-u:\b)"),
            'B' => self.part(r"(?-u:\B)"),
            'C' => return Err(error("invalid escape sequence", r"\C")),
            'Q' => {
                let (quoted, after) = after.split_once(r"\E").unwrap_or((after, ""));
                quoted.chars().for_each(|c| self.character(c.into()));
                return Ok(after);
            }
            'p' | 'P' | 'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                let mut class = Class::default();
                let after = match class.perl(letter) {
                    true => after,
                    false => unicode_class(text, &mut class)?,
                };
                self.part(&class.write(false));
                return Ok(after);
            }
            _ => {
                let (code, after) = escaped_char(text)?;
                self.character(code);
                return Ok(after);
            }
        }
        Ok(after)
    }

    fn character(&mut self, code: u32) {
        let mut class = Class::default();
        class.range(code, code);
        self.part(&class.write(false));
    }

    /// Parses a part that begins with `(?`: a named group, flags, or a group that does not capture.
    fn perl_group(&mut self, text: &'a str) -> Result<&'a str, PatternError> {
        let named = ["(?P<", "(?<"].iter().find_map(|open| text.strip_prefix(open));
        if let Some(name) = named.filter(|name| !name.is_empty()) {
            let Some((name, after)) = name.split_once('>') else {
                return Err(error("invalid named capture", text));
            };
            let valid = |c: char| c == '_' || c.is_ascii_alphanumeric();
            if name.is_empty() || !name.chars().all(valid) {
                return Err(error("invalid named capture", consumed(text, after)));
            }
            // The name is dropped: Rust refuses some names that Go accepts, and names are not used.
            self.open("(", true)?;
            return Ok(after);
        }
        // In Go a flag may occur several times, and the last occurrence is used.
        let mut flags = BTreeMap::new();
        let mut rest = &text[2..];
        let mut is_on = true;
        let mut is_complete = true;
        while let Some((c, after)) = split_first(rest) {
            rest = after;
            match c {
                // `U` only changes which of several matches is returned.
                'U' => is_complete = true,
                'i' | 'm' | 's' => {
                    flags.insert(c, is_on);
                    is_complete = true;
                }
                '-' if is_on => (is_on, is_complete) = (false, false),
                ':' if is_complete => {
                    self.open(&format!("(?{}:", written(&flags)), false)?;
                    return Ok(after);
                }
                ')' if is_complete => {
                    if !flags.is_empty() {
                        self.rust.push_str(&format!("(?{})", written(&flags)));
                    }
                    // A repetition after the flags applies to the part before them.
                    if let Operand::Repeated(repetitions, _) = self.operand {
                        self.operand = Operand::Part(repetitions);
                    }
                    return Ok(after);
                }
                _ => break,
            }
        }
        Err(error("invalid or unsupported Perl syntax", consumed(text, rest)))
    }

    fn class(&mut self, text: &'a str) -> Result<&'a str, PatternError> {
        let negated = text.starts_with("[^");
        let mut rest = &text[1 + usize::from(negated)..];
        let mut class = Class::default();
        let mut is_first = true;
        while std::mem::take(&mut is_first) || !rest.starts_with(']') {
            if let Some((name, after)) = rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) {
                if !class.posix(name) {
                    return Err(error("invalid character class range", consumed(rest, after)));
                }
                rest = after;
                continue;
            }
            if rest.starts_with(r"\p") || rest.starts_with(r"\P") {
                rest = unicode_class(rest, &mut class)?;
                continue;
            }
            if let Some((letter, after)) = rest.strip_prefix('\\').and_then(split_first)
                && class.perl(letter)
            {
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
        self.part(&class.write(negated));
        Ok(&rest[1..])
    }
}

/// The flags in Rust's grammar, which allows each of them once.
fn written(flags: &BTreeMap<char, bool>) -> String {
    let with = |value: bool| flags.iter().filter(move |(_, is_on)| **is_on == value);
    let on: String = with(true).map(|(flag, _)| flag).collect();
    let off: String = with(false).map(|(flag, _)| flag).collect();
    if off.is_empty() { on } else { format!("{on}-{off}") }
}
