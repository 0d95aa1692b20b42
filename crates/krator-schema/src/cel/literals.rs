//! Literals that the API server checks when a rule is compiled: elements of one type, and the texts of regular
//! expressions, durations and timestamps.

use crate::Pattern;

use super::check::{Checked, Mistake};
use super::parse::Parsed;
use super::times;
use super::tree::{Kind, Literal, Node};
use super::types::Type;

/// The mistakes in the literals of an expression whose types are right.
pub(super) fn check(parsed: &Parsed, checked: &Checked) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    elements(&parsed.root, checked, &mut mistakes);
    parsed.root.visit(&mut |node| texts(node, &mut mistakes));
    mistakes
}

/// `format` takes a list of different types, so what is within its call is exempt.
fn elements(node: &Node, checked: &Checked, mistakes: &mut Vec<Mistake>) {
    if matches!(&node.kind, Kind::Call { function, .. } if function == "format") {
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
        Kind::List(list) => differ(
            list.iter()
                .map(|(element, optional)| unwrapped(element, *optional))
                .collect(),
        ),
        Kind::Map(entries) => {
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
    let Kind::Call {
        function, arguments, ..
    } = &node.kind
    else {
        return;
    };
    let Some(Kind::Literal(literal)) = arguments.first().map(|argument| &argument.kind) else {
        return;
    };
    let wrong = match (&**function, literal) {
        ("matches" | "find" | "findAll", Literal::String(pattern)) if Pattern::new(pattern).is_err() => {
            "no regular expression of Go"
        }
        ("duration", Literal::String(text)) if !times::may_be_duration(text) => "no duration such as '1h30m'",
        ("timestamp", Literal::String(text)) if !times::may_be_timestamp(text) => {
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
        ("timestamp", Literal::Int(seconds)) if !times::TIMESTAMP_SECONDS.contains(seconds) => {
            "no timestamp: out of range"
        }
        _ => return,
    };
    mistakes.push(Mistake {
        detail: format!("the operand of `{function}` is {wrong}"),
        about: Some(function.clone()),
    });
}
