//! The parts that have been read, on a stack as in Go's parser, and Go's limits on them.

use super::super::PatternError;
use super::super::class::Class;
use super::scan::{consumed, error};
use super::{Entry, Kind, Parser, Part, REPETITIONS, Repeat};

/// How deep parts may be nested.
const HEIGHT: usize = 1000;
/// How many instructions a pattern may have.
const SIZE: i64 = (128 << 20) / 40;

impl<'a> Parser<'a> {
    pub(super) fn literal(&mut self, c: char) -> Result<(), PatternError> {
        self.literal_code(u32::from(c))
    }

    pub(super) fn literal_code(&mut self, code: u32) -> Result<(), PatternError> {
        let mut class = Class::default();
        class.range(code, code);
        let rust = self.folded(class.write(false));
        self.push_part(rust, Kind::Literal)
    }

    pub(super) fn push_class(&mut self, class: &Class, negated: bool) -> Result<(), PatternError> {
        let rust = self.folded(class.write(negated));
        self.push_part(rust, Kind::Other)
    }

    pub(super) fn push_assertion(&mut self, rust: &str) -> Result<(), PatternError> {
        self.push_part(format!("(?:{rust})"), Kind::Other)
    }

    fn folded(&self, rust: String) -> String {
        if self.flags.fold {
            format!("(?i:{rust})")
        } else {
            rust
        }
    }

    pub(super) fn push_part(&mut self, rust: String, kind: Kind) -> Result<(), PatternError> {
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

    pub(super) fn push(&mut self, part: Part) -> Result<(), PatternError> {
        self.check(&part)?;
        self.stack.push(Entry::Part(part));
        Ok(())
    }

    pub(super) fn count(&mut self) {
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
    pub(super) fn join_literals(&mut self) {
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

    pub(super) fn repeat(
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
    pub(super) fn concatenate(&mut self) -> Result<(), PatternError> {
        self.join_literals();
        let parts = self.pop_parts();
        let part = self.collapse(parts, Kind::Concatenation);
        self.push(part)
    }

    /// Makes one part of the alternatives since the last parenthesis.
    pub(super) fn alternate(&mut self) -> Result<(), PatternError> {
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

    pub(super) fn close(&mut self) -> Result<(), PatternError> {
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
}
