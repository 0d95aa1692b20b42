//! The functions and constants of the API server: the table `declarations.txt`, which `tools/cel-declarations` extracts
//! from its sources.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use crate::types::Type;

/// The functions and constants that expressions can use, as a table: a line for each signature, in the format that its
/// head describes.
pub const DECLARATIONS: &str = include_str!("declarations.txt");

/// One signature of a function.
#[derive(Debug)]
pub(crate) struct Overload {
    pub(crate) id: &'static str,
    /// Whether the function is called as `operand.function(...)`; the receiver is then the first operand.
    pub(crate) receiver: bool,
    pub(crate) parameters: Vec<Arc<str>>,
    pub(crate) operands: Vec<Type>,
    pub(crate) result: Type,
}

#[derive(Debug, Default)]
pub(crate) struct Declarations {
    constants: BTreeMap<&'static str, Type>,
    functions: BTreeMap<&'static str, Vec<Overload>>,
}

impl Declarations {
    /// The declarations of the API server.
    pub(crate) fn get() -> &'static Declarations {
        static READ: LazyLock<Declarations> =
            LazyLock::new(|| read(DECLARATIONS).expect("a test reads the table"));
        &READ
    }

    /// The type of a constant. Constants are the names of types.
    pub(crate) fn constant(&self, name: &str) -> Option<&Type> {
        self.constants.get(name)
    }

    /// The signatures of a function, in the order in which the API server tries them.
    pub(crate) fn function(&self, name: &str) -> Option<&[Overload]> {
        self.functions.get(name).map(Vec::as_slice)
    }
}

fn read(table: &'static str) -> Option<Declarations> {
    let mut declarations = Declarations::default();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        if let Some(constant) = line.strip_prefix("const ") {
            let (name, of) = constant.split_once(" | ")?;
            declarations.constants.insert(name, read_type(of)?);
            continue;
        }
        let columns: Vec<&str> = line.strip_prefix("fn ")?.split(" | ").collect();
        let &[name, id, style, parameters, operands, result] = columns.as_slice() else {
            return None;
        };
        let operands = operands.split("; ").filter(|operand| !operand.is_empty());
        declarations.functions.entry(name).or_default().push(Overload {
            id,
            receiver: style == "receiver",
            parameters: parameters.split_whitespace().map(Into::into).collect(),
            operands: operands.map(read_type).collect::<Option<_>>()?,
            result: read_type(result)?,
        });
    }
    Some(declarations)
}

fn read_type(text: &str) -> Option<Type> {
    let mut rest = text;
    let found = type_at(&mut rest)?;
    rest.is_empty().then_some(found)
}

/// Reads a type from the start of a text, and removes it there.
fn type_at(rest: &mut &str) -> Option<Type> {
    let end = rest.find(['(', ')', ',']).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    *rest = after;
    let mut of = Vec::new();
    if let Some(inner) = rest.strip_prefix('(') {
        *rest = inner;
        loop {
            of.push(type_at(rest)?);
            match rest.strip_prefix(", ") {
                Some(next) => *rest = next,
                None => break,
            }
        }
        *rest = rest.strip_prefix(')')?;
    }
    if let Some(name) = name.strip_prefix('$') {
        return Some(Type::Param(name.into()));
    }
    Some(match (name, of.as_slice()) {
        ("bool", []) => Type::Bool,
        ("int", []) => Type::Int,
        ("uint", []) => Type::Uint,
        ("double", []) => Type::Double,
        ("string", []) => Type::String,
        ("bytes", []) => Type::Bytes,
        ("null", []) => Type::Null,
        ("Timestamp", []) => Type::Timestamp,
        ("Duration", []) => Type::Duration,
        ("dyn", []) => Type::Dyn,
        ("type", []) => Type::Meta(None),
        ("type", [of]) => Type::Meta(Some(Arc::new(of.clone()))),
        ("list", [of]) => Type::list(of.clone()),
        ("map", [key, value]) => Type::map(key.clone(), value.clone()),
        _ => Type::Opaque(name.into(), of),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read() {
        let declarations = read(DECLARATIONS).expect("each line has the form that its head says");
        let index = declarations
            .function("_[_]")
            .expect("the table has the operators");
        assert_eq!(index[1].operands[0].to_string(), "map(dyn, dyn)");
        assert_eq!(index[1].operands[1], Type::Param("A".into()));
        assert!(declarations.constant("timestamp").is_some());
    }
}
