//! The functions in the server's table of declarations, with their types.

use super::Ty;
use std::collections::BTreeMap;

/// A function that expressions can call.
pub(super) struct Overload {
    pub(super) name: String,
    pub(super) receiver: bool,
    pub(super) operands: Vec<Ty>,
    pub(super) result: Ty,
}

/// Whether a type is an instance of a pattern; binds the pattern's parameters.
pub(super) fn fits(pattern: &Ty, want: &Ty, bound: &mut BTreeMap<String, Ty>) -> bool {
    if let Some(name) = pattern.0.strip_prefix('$') {
        return bound
            .insert(name.to_string(), want.clone())
            .is_none_or(|before| before == *want);
    }
    pattern.0 == want.0
        && pattern.1.len() == want.1.len()
        && pattern
            .1
            .iter()
            .zip(&want.1)
            .all(|(pattern, want)| fits(pattern, want, bound))
}

/// The functions of the table that expressions can call.
pub(super) fn overloads() -> Vec<Overload> {
    let table = krator_cel::DECLARATIONS;
    let functions = table.lines().filter_map(|line| line.strip_prefix("fn "));
    let read = |line: &str| {
        let columns: Vec<&str> = line.split(" | ").collect();
        let operands = columns[4].split("; ").filter(|operand| !operand.is_empty());
        Overload {
            name: columns[0].to_string(),
            receiver: columns[2] == "receiver",
            operands: operands.map(|operand| read_type(&mut &*operand)).collect(),
            result: read_type(&mut &*columns[5]),
        }
    };
    let hidden = ["@not", "@sort", "cel.@", "__not", "_in_", "in"];
    functions
        .map(read)
        .filter(|overload| {
            !hidden
                .iter()
                .any(|name| overload.name == *name || name.len() > 3 && overload.name.starts_with(name))
        })
        .filter(|overload| {
            overload
                .operands
                .iter()
                .all(|operand| !operand.0.starts_with("kubernetes.authorization"))
        })
        .collect()
}

fn read_type(rest: &mut &str) -> Ty {
    let end = rest.find(['(', ')', ',']).unwrap_or(rest.len());
    let name = rest[..end].to_string();
    *rest = &rest[end..];
    let mut of = Vec::new();
    while rest.starts_with(['(', ',']) && (rest.starts_with('(') || !of.is_empty()) {
        *rest = rest[1..].trim_start();
        of.push(read_type(rest));
        if let Some(after) = rest.strip_prefix(')') {
            *rest = after;
            break;
        }
    }
    Ty(name, of)
}
