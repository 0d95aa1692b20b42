//! Character classes, in the subset of Rust's grammar that is unambiguous.

use std::fmt::Write;

use regex::Regex;

/// The POSIX classes, which are the same in both grammars.
const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit",
];

/// A class that is built item by item.
#[derive(Debug, Default)]
pub(super) struct Class {
    items: String,
}

impl Class {
    /// Adds all characters of a range. Surrogates are skipped, because texts cannot contain them.
    pub(super) fn range(&mut self, first: u32, last: u32) {
        for (first, last) in [(first, last.min(0xD7FF)), (first.max(0xE000), last)] {
            if first <= last {
                // Writing to a string cannot fail.
                let _ = write!(self.items, r"\x{{{first:X}}}-\x{{{last:X}}}");
            }
        }
    }

    /// Adds the class of `\d`, `\s`, `\w` or, for an upper-case letter, its complement; false for other letters.
    pub(super) fn perl(&mut self, letter: char) -> bool {
        let items = match letter.to_ascii_lowercase() {
            'd' => "0-9",
            // Rust's `\s` also contains the vertical tab.
            's' => r"\t\n\x{C}\r\x{20}",
            'w' => "0-9A-Za-z_",
            _ => return false,
        };
        let sign = if letter.is_ascii_uppercase() { "^" } else { "" };
        let _ = write!(self.items, "[{sign}{items}]");
        true
    }

    /// Adds a class such as `[:alpha:]` or `[:^alpha:]` by its name; false if there is none.
    pub(super) fn posix(&mut self, name: &str) -> bool {
        let is_known = POSIX.contains(&name.strip_prefix('^').unwrap_or(name));
        if is_known {
            let _ = write!(self.items, "[:{name}:]");
        }
        is_known
    }

    /// Adds Go's class for the name of a Unicode category or script, or its complement; false if the name is unknown.
    pub(super) fn unicode(&mut self, name: &str, negated: bool) -> bool {
        // Go ignores separators in names, and therefore finds no script with a separator in its name.
        let separator = |c: char| matches!(c, '_' | '-' | ' ');
        let plain = name.replace(separator, "").to_ascii_lowercase();
        if !plain.chars().all(|c| c.is_ascii_alphanumeric()) {
            return false;
        }
        // Go's strings may contain surrogates, but texts from JSON cannot.
        if matches!(plain.as_str(), "cs" | "surrogate") {
            if negated {
                self.range(0, u32::from(char::MAX));
            }
            return true;
        }
        let letter = if negated { 'P' } else { 'p' };
        let items = ["gc", "sc"].map(|property| format!(r"\{letter}{{{property}={plain}}}"));
        let [category, script] = items.each_ref().map(|item| Regex::new(item).is_ok());
        match (category, script && !name.contains(separator)) {
            (true, _) => self.items.push_str(&items[0]),
            (false, true) => self.items.push_str(&items[1]),
            (false, false) => return false,
        }
        true
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
