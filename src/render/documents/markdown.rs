//! Texts of a description in Markdown, escaped so that a renderer shows them as plain words.

use crate::text::is_unprintable;

/// A text as one paragraph, in which no part begins a block or has a meaning in Markdown.
pub(super) fn paragraph(text: &str) -> String {
    let mut out = String::new();
    for word in text
        .split(|c: char| c.is_whitespace() || is_unprintable(c))
        .filter(|word| !word.is_empty())
    {
        if !out.is_empty() {
            out.push(' ');
        }
        for c in word.chars() {
            match c {
                // Not every renderer supports a backslash before these.
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '&' => out.push_str("&amp;"),
                c if is_mark(c) => out.extend(['\\', c]),
                c => out.push(c),
            }
        }
    }
    // At the start of a paragraph these would begin a list or underline a heading.
    let digits = out.chars().take_while(char::is_ascii_digit).count();
    if digits > 0 && out[digits..].starts_with(['.', ')']) {
        out.insert(digits, '\\');
    } else if out.starts_with(['-', '+', '=']) {
        out.insert(0, '\\');
    }
    out
}

/// ASCII punctuation that has a meaning inside a line, in CommonMark or on a code host: `:` is part of bare links and
/// encloses emoji, `@` and `#` refer to people and issues, `$` encloses mathematics.
fn is_mark(c: char) -> bool {
    "\\`*_[]#|~$@:!{}".contains(c)
}

/// A text as inline code.
pub(super) fn code(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control() || is_unprintable(c), " ");
    let fence = "`".repeat(longest_run(&text) + 1);
    match fence.len() {
        1 => format!("`{text}`"),
        _ => format!("{fence} {text} {fence}"),
    }
}

/// Lines as a code block.
pub(super) fn block(language: &str, lines: &str) -> String {
    let fence = "`".repeat(longest_run(lines).max(2) + 1);
    format!("{fence}{language}\n{lines}{fence}")
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_code() {
        for (text, expected) in [
            (".spec.a", "`.spec.a`"),
            ("a`b``\nc", "``` a`b`` c ```"),
            ("`", "`` ` ``"),
        ] {
            assert_eq!(code(text), expected);
        }
        assert_eq!(block("yaml", "a: |\n  ```\n"), "````yaml\na: |\n  ```\n````");
    }

    #[test]
    fn no_text_has_a_meaning_in_markdown() {
        for (text, expected) in [
            (
                "Takes a backup, waits, and closes it.",
                "Takes a backup, waits, and closes it.",
            ),
            ("[a](javascript:x)", r"\[a\](javascript\:x)"),
            ("</script>", "&lt;/script&gt;"),
            ("    indented\n\n```sh\nrm\n```", r"indented \`\`\`sh rm \`\`\`"),
            ("- item", r"\- item"),
            ("12. item", r"12\. item"),
            ("===", r"\==="),
            ("a\\", r"a\\"),
            (
                "{{x}} ${{ secrets.X }} $(X)",
                r"\{\{x\}\} \$\{\{ secrets.X \}\} \$(X)",
            ),
            ("| a |", r"\| a \|"),
            ("a\u{202e}b\0c", "a b c"),
            ("", ""),
        ] {
            assert_eq!(paragraph(text), expected);
        }
    }
}
