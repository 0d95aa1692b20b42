//! Literals that the API server checks when it compiles a rule: the types of elements, and the texts of regular
//! expressions, durations and timestamps.

use crate::Pattern;
use crate::check::Checked;
use crate::eval::{Failure, check_format, constant};
use crate::syntax::Mistake;
use crate::syntax::parse::Parsed;
use crate::syntax::tree::{Literal, Node, NodeKind};
use crate::types::Type;

/// The mistakes in the literals of an expression whose types are correct.
pub(super) fn check(parsed: &Parsed, checked: &Checked) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    elements(&parsed.root, checked, &mut mistakes);
    parsed.root.visit(&mut |node| {
        texts(node, &mut mistakes);
        templates(node, checked, &mut mistakes);
    });
    mistakes
}

/// Checks that the elements of literals have one type. `format` accepts lists of different types, so its operands are
/// exempt.
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

fn texts(node: &Node, mistakes: &mut Vec<Mistake>) {
    let NodeKind::Call {
        function,
        target,
        arguments,
    } = &node.kind
    else {
        return;
    };
    if let ("_[_]" | "_[?_]", [_, index]) = (&**function, arguments.as_slice())
        && let Some(Ok(index)) = constant(index)
        && !index.can_be_key()
    {
        mistakes.push(Mistake {
            detail: format!("a constant of the type {} is no index", index.type_name()),
            about: None,
        });
        return;
    }
    let of_text = if target.is_some() { 0 } else { 1 };
    let operand = match &**function {
        "matches" | "find" | "findAll" => arguments.get(of_text),
        _ => arguments.first(),
    };
    let wrong = match (&**function, operand.map(|operand| &operand.kind)) {
        ("matches" | "find" | "findAll", Some(NodeKind::Literal(Literal::String(pattern))))
            if Pattern::new(pattern).is_err() =>
        {
            "no regular expression of Go".to_string()
        }
        (_, of) => match constant(node) {
            // An operand that is itself invalid is reported separately.
            Some(Err(Failure::Error(why))) if operand.and_then(constant).is_some_and(|it| it.is_ok()) => {
                reason(function, of, &why)
            }
            _ => return,
        },
    };
    mistakes.push(Mistake {
        detail: format!("the operand of `{function}` is {wrong}"),
        about: Some(function.clone()),
    });
}

/// Checks the templates of `format` if the list of values is a literal.
fn templates(node: &Node, checked: &Checked, mistakes: &mut Vec<Mistake>) {
    /// The type of a value, or that of its first part that cannot be formatted.
    fn type_of<'n>(node: &'n Node, checked: &'n Checked) -> &'n Type {
        let of = checked.type_of(node);
        let parts = match &node.kind {
            NodeKind::List(_) | NodeKind::Map(_) => node.children(),
            _ => Vec::new(),
        };
        let mut parts = parts.into_iter().map(|part| type_of(part, checked));
        parts
            .find(|of| matches!(of, Type::Opaque(..) | Type::Struct(_)))
            .unwrap_or(of)
    }
    if let NodeKind::Call {
        function,
        target: Some(target),
        arguments,
    } = &node.kind
        && function == "format"
        && let NodeKind::Literal(Literal::String(template)) = &target.kind
        && let [NodeKind::List(values)] = arguments.iter().map(|list| &list.kind).collect::<Vec<_>>()[..]
    {
        let types: Vec<&Type> = values.iter().map(|(value, _)| type_of(value, checked)).collect();
        mistakes.extend(check_format(template, &types).map(|detail| Mistake {
            detail,
            about: Some(function.clone()),
        }));
    }
}

/// The reason why a constant cannot be converted.
fn reason(function: &str, of: Option<&NodeKind>, why: &str) -> String {
    let reason = match (function, of) {
        _ if why.ends_with("overflow") => "out of range",
        // An overload for this type is declared, but cel-go cannot evaluate it.
        ("duration", Some(NodeKind::Literal(Literal::Int(_)))) => "an integer: write a text with a unit",
        ("duration", _) => "no duration such as '1h30m'",
        ("timestamp", _) => "no timestamp such as '2006-01-02T15:04:05Z'",
        ("bool", _) => "no text of a bool",
        ("int", _) => "no text of an integer",
        ("uint", _) => "no text of an unsigned integer",
        ("double", _) => "no text of a number",
        _ => return format!("wrong: {why}"),
    };
    reason.to_string()
}
