//! Finds mistakes in CEL that need no compiler: brackets, quotes, and operators of other languages. The API server
//! finds the rest.

/// The first mistake of an expression that is visible without compiling it.
pub(super) fn slip(expression: &str) -> Option<&'static str> {
    if expression.trim().is_empty() {
        return Some("the expression is empty");
    }
    let mut open = Vec::new();
    let mut rest = expression;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match c {
            '"' | '\'' => {
                // A raw string has no escapes; `r` may be the last of several letters of its prefix (`br'…'`).
                let before = &expression[..expression.len() - rest.len()];
                let is_raw = before.ends_with(['r', 'R']);
                let Some(end) = text_end(rest, c, is_raw) else {
                    return Some("a string has no closing quote");
                };
                length = end;
            }
            '(' | '[' | '{' => open.push(c),
            ')' | ']' | '}' => match (open.pop(), c) {
                (Some('('), ')') | (Some('['), ']') | (Some('{'), '}') => {}
                _ => return Some("a closing bracket has no opening one"),
            },
            '=' | '!' | '<' | '>' => {
                if rest[1..].starts_with('=') {
                    length = 2;
                } else if c == '=' {
                    return Some("CEL compares with `==` and has no assignments");
                }
            }
            '&' | '|' => {
                if !rest[1..].starts_with(c) {
                    return Some("the operators of CEL are `&&` and `||`");
                }
                length = 2;
            }
            ';' | '#' | '$' | '@' => return Some("CEL does not use this character"),
            _ => {}
        }
        rest = &rest[length..];
    }
    (!open.is_empty()).then_some("a bracket is not closed")
}

/// The offset just after the closing quote of the string that `rest` begins with.
fn text_end(rest: &str, quote: char, is_raw: bool) -> Option<usize> {
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    let (from, closing) = if rest.starts_with(&triple) {
        (3, triple.as_str())
    } else {
        (1, &triple[..1])
    };
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(from) {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' && !is_raw {
            is_escaped = true;
        } else if rest[at..].starts_with(closing) {
            return Some(at + closing.len());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::slip;

    #[test]
    fn slips_show_and_rules_do_not() {
        for good in [
            "self == oldSelf",
            "!has(self.a) || self.a.exists(n, n in self.b && n != 'x)')",
            "self.all(x, x.operator == 'In' ? has(x.values) && x.values.size() != 0 : true)",
            r#"self.matches(r'\d+\') || self == "it's \"quoted\"" || size(self) >= 3"#,
            "{'a': [1, 2]}['a'][0] <= -1",
            "'''it's'''.size() > 1",
            "self.`x-y` == 1",
        ] {
            assert_eq!(slip(good), None, "{good}");
        }
        for bad in [
            "", " ", "(self", "self)", "(self]", "self = 1", "a & b", "a | b", "'open", "a; b", "'''x'",
        ] {
            assert!(slip(bad).is_some(), "{bad}");
        }
    }
}
