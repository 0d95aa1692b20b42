//! Literals that the API server checks when a rule is compiled: elements of one type, and the texts of regular
//! expressions, durations and timestamps.

use std::ops::RangeInclusive;

use crate::Pattern;
use crate::value::formats::{is_go_duration, is_rfc3339};

use super::check::{Checked, Mistake};
use super::parse::Parsed;
use super::tree::{Literal, Node, NodeKind};
use super::types::Type;

/// From the year 1 to the year 9999.
const TIMESTAMP_SECONDS: RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// The mistakes in the literals of an expression whose types are right.
pub(super) fn check(parsed: &Parsed, checked: &Checked) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    elements(&parsed.root, checked, &mut mistakes);
    parsed.root.visit(&mut |node| texts(node, &mut mistakes));
    mistakes
}

/// `format` takes a list of different types, so what is within its call is exempt.
fn elements(node: &Node, checked: &Checked, mistakes: &mut Vec<Mistake>) {
    if matches!(&node.kind, NodeKind::Call { function, .. } if function == "format") {
        return;
    }
    let mut differ = |types: Vec<Type>| {
        let different = types.iter().find(|of| !types[0].is_equivalent(of));
        if let Some(different) = different {
            mistakes.push(Mistake {
                detail: format!(
                    "the elements of a literal must have one type, but these are {} and {different}",
                    types[0]
                ),
                about: None,
            });
        }
    };
    let unwrapped = |node: &Node, optional: bool| {
        let of = checked.type_of(node);
        of.unwrap_optional().filter(|_| optional).unwrap_or(of).clone()
    };
    match &node.kind {
        NodeKind::List(list) => differ(
            list.iter()
                .map(|(element, optional)| unwrapped(element, *optional))
                .collect(),
        ),
        NodeKind::Map(entries) => {
            differ(entries.iter().map(|(key, ..)| unwrapped(key, false)).collect());
            differ(
                entries
                    .iter()
                    .map(|(_, value, optional)| unwrapped(value, *optional))
                    .collect(),
            );
        }
        _ => {}
    }
    for child in node.children() {
        elements(child, checked, mistakes);
    }
}

/// The texts that Go's `strconv.ParseBool` takes.
fn is_bool(text: &str) -> bool {
    matches!(
        text,
        "1" | "t" | "T" | "TRUE" | "true" | "True" | "0" | "f" | "F" | "FALSE" | "false" | "False"
    )
}

/// Go reads the year 0, too, which is out of range.
fn is_timestamp(text: &str) -> bool {
    is_rfc3339(text) && !text.starts_with("0000")
}

fn is_integer(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether Go may read a number from a text: it also knows hexadecimal ones, and names for those that are not finite.
fn may_be_number(text: &str) -> bool {
    let unsigned = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        || matches!(unsigned.as_str(), "inf" | "infinity" | "nan")
}

fn texts(node: &Node, mistakes: &mut Vec<Mistake>) {
    let NodeKind::Call {
        function, arguments, ..
    } = &node.kind
    else {
        return;
    };
    let Some(NodeKind::Literal(literal)) = arguments.first().map(|argument| &argument.kind) else {
        return;
    };
    let wrong = match (&**function, literal) {
        ("matches" | "find" | "findAll", Literal::String(pattern)) if Pattern::new(pattern).is_err() => {
            "no regular expression of Go"
        }
        ("duration", Literal::String(text)) if !is_go_duration(text) => "no duration such as '1h30m'",
        ("timestamp", Literal::String(text)) if !is_timestamp(text) => {
            "no timestamp such as '2006-01-02T15:04:05Z'"
        }
        // An overload of this type is declared, but cel-go does not evaluate it.
        ("duration", Literal::Int(_)) => "an integer: write a text with a unit",
        ("bool", Literal::String(text)) if !is_bool(text) => "no text of a bool",
        ("int", Literal::String(text)) if !is_integer(text.strip_prefix(['+', '-']).unwrap_or(text)) => {
            "no text of an integer"
        }
        ("uint", Literal::String(text)) if !is_integer(text) => "no text of an unsigned integer",
        ("uint", Literal::Int(..=-1)) => "negative",
        ("double", Literal::String(text)) if !may_be_number(text) => "no text of a number",
        ("timestamp", Literal::Int(seconds)) if !TIMESTAMP_SECONDS.contains(seconds) => {
            "no timestamp: out of range"
        }
        _ => return,
    };
    mistakes.push(Mistake {
        detail: format!("the operand of `{function}` is {wrong}"),
        about: Some(function.clone()),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps() {
        for good in ["2020-02-29T23:59:59Z", "0001-01-01T0:00:00.5+01:00"] {
            assert!(is_timestamp(good), "{good}");
        }
        for bad in [
            "2020",
            "2021-02-29T00:00:00Z",
            "2020-01-01T24:00:00Z",
            "2020-01-01T00:00:00",
            "0000-01-01T00:00:00Z",
        ] {
            assert!(!is_timestamp(bad), "{bad}");
        }
    }

    #[test]
    fn durations() {
        for good in ["1h", "-1.5h3m.5s", "0", "1.s", "2562047h"] {
            assert!(is_go_duration(good), "{good}");
        }
        for bad in ["", "1", "h", "1d", ".s", "1h ", "2600000h", "-"] {
            assert!(!is_go_duration(bad), "{bad}");
        }
    }
}
