//! Which characters are safe to show, and how to show a string that may hold others.
//!
//! Handlers, users and servers write texts that end up in terminals. This module knows characters only.

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
pub fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The whole string with its unprintable characters escaped.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            _ if is_unprintable(c) => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprintable_characters_are_escaped() {
        assert_eq!(
            printable("a\u{202e}b\u{0}c\u{ffff}\nd\u{1b}[31m"),
            "a\\u{202e}b\\u{0}c\\u{ffff}\\nd\\u{1b}[31m"
        );
        assert_eq!(
            printable("déjà vu 🦌"),
            "déjà vu 🦌",
            "what can be seen stays as it is"
        );
    }
}
