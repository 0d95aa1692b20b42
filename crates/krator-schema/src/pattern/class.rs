//! Classes of characters, written in the part of Rust's grammar that cannot be read in two ways.

use std::fmt::Write;

/// A class as its items are met, one after the other.
#[derive(Debug, Default)]
pub(super) struct Class {
    items: String,
}

impl Class {
    /// All characters from the first to the last one. Surrogates, which no text holds, are left out.
    pub(super) fn range(&mut self, first: u32, last: u32) {
        for (first, last) in [(first, last.min(0xD7FF)), (first.max(0xE000), last)] {
            if first <= last {
                // Writing to a string cannot fail.
                let _ = write!(self.items, r"\x{{{first:X}}}-\x{{{last:X}}}");
            }
        }
    }

    /// A class that is written in Rust's grammar, or everything else.
    pub(super) fn named(&mut self, items: &str, negated: bool) {
        let sign = if negated { "^" } else { "" };
        let _ = write!(self.items, "[{sign}{items}]");
    }

    /// The class in Rust's grammar.
    pub(super) fn write(&self, negated: bool) -> String {
        let everything = r"\x{0}-\x{10FFFF}";
        match (self.items.is_empty(), negated) {
            (true, false) => format!("[^{everything}]"),
            (true, true) => format!("[{everything}]"),
            (false, false) => format!("[{}]", self.items),
            (false, true) => format!("[^{}]", self.items),
        }
    }
}

/// What `\d`, `\s` and `\w` hold in Go.
pub(super) fn perl(letter: char) -> Option<&'static str> {
    Some(match letter.to_ascii_lowercase() {
        'd' => "0-9",
        's' => r"\t\n\x{C}\r\x{20}",
        'w' => "0-9A-Za-z_",
        _ => return None,
    })
}

/// What a class such as `[:alpha:]` holds.
pub(super) fn posix(name: &str) -> Option<&'static str> {
    Some(match name {
        "alnum" => "0-9A-Za-z",
        "alpha" => "A-Za-z",
        "ascii" => r"\x{0}-\x{7F}",
        "blank" => r"\t\x{20}",
        "cntrl" => r"\x{0}-\x{1F}\x{7F}",
        "digit" => "0-9",
        "graph" => r"\x{21}-\x{7E}",
        "lower" => "a-z",
        "print" => r"\x{20}-\x{7E}",
        "punct" => r"\x{21}-\x{2F}\x{3A}-\x{40}\x{5B}-\x{60}\x{7B}-\x{7E}",
        "space" => r"\x{9}-\x{D}\x{20}",
        "upper" => "A-Z",
        "word" => "0-9A-Za-z_",
        "xdigit" => "0-9A-Fa-f",
        _ => return None,
    })
}
