//! Types of keys in words, for `krator explain` and the reference.

use std::fmt;

use super::{NameOf, Type};

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::String => f.write_str("`string`"),
            Type::Boolean => f.write_str("`boolean`"),
            Type::True => f.write_str("`true`"),
            Type::Integer { min, max } if *max >= i64::from(i32::MAX) => {
                write!(f, "`integer` of at least {min}")
            }
            Type::Integer { min, max } if min == max => write!(f, "`{min}`"),
            Type::Integer { min, max } => write!(f, "`integer` from {min} to {max}"),
            Type::Number(None) => f.write_str("`number`"),
            Type::Number(Some((min, max))) => write!(f, "`number` from {min} to {max}"),
            Type::Duration => f.write_str("`duration`"),
            Type::Quantity => f.write_str("`quantity`"),
            Type::Any => f.write_str("any value"),
            Type::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                f.write_str(&alternatives(&words))
            }
            Type::Name(pattern) => write!(f, "`string`: {}", pattern.expected),
            Type::Phrase(what) => write!(f, "`string`: {what}"),
            Type::State => f.write_str("name of a state"),
            Type::Kind => f.write_str("`group/version.Kind`"),
            Type::Path => f.write_str("path of a field"),
            Type::Schema => f.write_str("type"),
            Type::List { of, min, max } => {
                let of = match of {
                    Type::Either(_) => format!("({of})"),
                    _ => of.to_string(),
                };
                write!(f, "list of {of}")?;
                if *min > 0 {
                    write!(f, ", at least {min}")?;
                }
                match max {
                    Some(max) => write!(f, ", at most {max}"),
                    None => Ok(()),
                }
            }
            Type::Map { by, of } => write!(f, "map from {by} to {of}"),
            Type::Mapping(_) => f.write_str("mapping"),
            Type::Either(types) => {
                let types: Vec<String> = types.iter().map(Type::to_string).collect();
                f.write_str(&types.join(" or "))
            }
        }
    }
}

impl fmt::Display for NameOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NameOf::State => "state",
            NameOf::Field => "field",
            NameOf::Type => "name",
            NameOf::Condition => "condition",
            NameOf::Kind => "kind",
            NameOf::Rule => "rule",
            NameOf::Resource => "resource",
            NameOf::Label => "label",
            NameOf::Version => "version",
            NameOf::Value => "value",
        })
    }
}

/// `a`, `a or b`, `a, b or c`.
fn alternatives(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [word] => word.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
