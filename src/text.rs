//! Which characters are safe to show, and how to show a string that may hold others.
//!
//! A description may come from somebody else, and its strings end up in terminals, manifests, diagrams and Rust
//! comments. This module knows characters only; each of those formats adds the characters that it gives a meaning.

pub(crate) mod conflict;

/// Whether a reader cannot see the character, or a terminal would act on it instead of showing it: control
/// characters, invisible formatting, marks that change the direction of text, and noncharacters.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || is_direction_mark(c)
        || matches!(
            c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{2029}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

/// Whether the character overrides or isolates the direction of the text around it, so that source code can read
/// differently from what it does. rustc refuses these in comments and string literals.
pub(crate) fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A string from outside, for use within a message: unprintable characters are escaped, and a long string is cut.
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => printable(&text[..end]) + "…",
        None => printable(text),
    }
}

/// The whole string with its unprintable characters escaped, such as the name of a file.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unprintable(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// The text with Unix line ends.
pub(crate) fn normalized(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The text with the line ends that most lines of `model` have.
pub(crate) fn with_line_ends_of(model: &str, text: &str) -> String {
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
    fn unprintable_characters_are_escaped() {
        assert_eq!(
            printable("a\u{202e}b\u{0}c\u{ffff}"),
            "a\\u{202e}b\\u{0}c\\u{ffff}"
        );
        assert_eq!(
            printable("déjà vu 🦌"),
            "déjà vu 🦌",
            "what can be seen stays as it is"
        );
    }

    #[test]
    fn long_strings_are_cut_between_characters() {
        let longest = "ä".repeat(80);
        assert_eq!(shown(&longest), longest);
        assert_eq!(shown(&(longest.clone() + "b")), longest + "…");
    }
}
