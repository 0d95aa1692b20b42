//! Characters that are safe to show, and how to show a string that may contain others.
//!
//! A description may come from another person, and its strings end up in terminals, manifests, diagrams and Rust
//! comments. This module handles characters in general; each of those formats adds the characters that are special in
//! it.

pub mod conflict;

pub(crate) use krator_machine::text::is_direction_mark;
pub use krator_machine::text::{is_unprintable, printable};

/// A string from outside, for use within a message: unprintable characters are escaped, and a long string is cut.
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => printable(&text[..end]) + "…",
        None => printable(text),
    }
}

/// The text with Unix line ends.
pub fn normalized(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The text with the line ends that prevail in `model`.
pub fn with_line_ends_of(model: &str, text: &str) -> String {
    let text = normalized(text);
    let is_crlf = 2 * model.matches("\r\n").count() > model.matches('\n').count();
    if is_crlf { text.replace('\n', "\r\n") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_lines_decide_about_line_ends() {
        assert_eq!(with_line_ends_of("a\r\nb\r\nc\n", "x\ny\r\n"), "x\r\ny\r\n");
        assert_eq!(with_line_ends_of("a\r\nb\nc\n", "x\ny\r\n"), "x\ny\n");
        assert_eq!(with_line_ends_of("", "x\n"), "x\n");
    }

    #[test]
    fn long_strings_are_cut_between_characters() {
        let longest = "ä".repeat(80);
        assert_eq!(shown(&longest), longest);
        assert_eq!(shown(&(longest.clone() + "b")), longest + "…");
    }
}
