//! The types of CEL and their unification, after `checker/types.go` of cel-go.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A type of CEL. It is displayed in the notation of CEL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A 64-bit signed integer.
    Int,
    /// A 64-bit unsigned integer.
    Uint,
    /// A double-precision number.
    Double,
    /// A string.
    String,
    /// Binary data.
    Bytes,
    /// The type of `null`.
    Null,
    /// A point in time.
    Timestamp,
    /// A duration.
    Duration,
    /// Any type, which is determined when the expression is evaluated.
    Dyn,
    /// The type of an invalid expression. It is compatible with any type, so that one mistake is reported once.
    Error,
    /// A type parameter, or an unknown type.
    Param(Arc<str>),
    /// A list, with the type of its elements.
    List(Arc<Type>),
    /// A map, with the types of its keys and of its values.
    Map(Arc<Type>, Arc<Type>),
    /// The type of a type, or of any type without a parameter.
    Meta(Option<Arc<Type>>),
    /// A library type, by name, with its type arguments: for example, an optional value.
    Opaque(Arc<str>, Vec<Type>),
    /// An object of the schema, by the name of its path. Objects at different paths have different types.
    Struct(Arc<str>),
}

const OPTIONAL: &str = "optional_type";

impl Type {
    /// A list of elements of a type.
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }

    /// A map from keys to values of given types.
    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new(key), Arc::new(value))
    }

    /// An optional value of a type.
    pub fn optional(of: Type) -> Type {
        Type::Opaque(OPTIONAL.into(), vec![of])
    }

    /// The type inside an optional type.
    pub(crate) fn unwrap_optional(&self) -> Option<&Type> {
        match self {
            Type::Opaque(name, of) if &**name == OPTIONAL => of.first(),
            _ => None,
        }
    }

    pub(crate) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Type::Dyn | Type::Error)
    }

    /// Whether values of this type are written as literals, and not as messages.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(
            self,
            Type::Bool | Type::Int | Type::Uint | Type::Double | Type::String | Type::Bytes
        )
    }

    fn is_nullable(&self) -> bool {
        matches!(
            self,
            Type::Opaque(..) | Type::Struct(_) | Type::Duration | Type::Timestamp | Type::Null
        )
    }

    /// Whether two types are equal, except for the names of type parameters.
    pub(crate) fn is_equivalent(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Param(_), Type::Param(_)) => true,
            (Type::List(a), Type::List(b)) => a.is_equivalent(b),
            (Type::Map(a, b), Type::Map(c, d)) => a.is_equivalent(c) && b.is_equivalent(d),
            (Type::Meta(Some(a)), Type::Meta(Some(b))) => a.is_equivalent(b),
            (Type::Opaque(a, of_a), Type::Opaque(b, of_b)) => {
                a == b && of_a.len() == of_b.len() && of_a.iter().zip(of_b).all(|(a, b)| a.is_equivalent(b))
            }
            _ => self == other,
        }
    }

    /// Whether this type equals the other one, or is the other one with `dyn` in some places.
    fn is_equal_or_less_specific(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Dyn | Type::Param(_), _) => true,
            (_, Type::Dyn | Type::Param(_)) => false,
            (Type::Opaque(a, of_a), Type::Opaque(b, of_b)) => {
                a == b
                    && of_a.len() == of_b.len()
                    && of_a.iter().zip(of_b).all(|(a, b)| a.is_equal_or_less_specific(b))
            }
            (Type::List(a), Type::List(b)) => a.is_equal_or_less_specific(b),
            (Type::Map(a, b), Type::Map(c, d)) => {
                a.is_equal_or_less_specific(c) && b.is_equal_or_less_specific(d)
            }
            (Type::Meta(_), Type::Meta(_)) => true,
            _ => self == other,
        }
    }

    /// The more general of two types that unify.
    pub(crate) fn most_general(a: &Type, b: &Type) -> Type {
        if a.is_equal_or_less_specific(b) { a } else { b }.clone()
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Null => f.write_str("null"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Duration => f.write_str("duration"),
            Type::Dyn | Type::Param(_) => f.write_str("dyn"),
            Type::Error => f.write_str("!error!"),
            Type::List(of) => write!(f, "list({of})"),
            Type::Map(key, value) => write!(f, "map({key}, {value})"),
            Type::Meta(None) => f.write_str("type"),
            Type::Meta(Some(of)) => write!(f, "type({of})"),
            Type::Opaque(name, of) if of.is_empty() => f.write_str(name),
            Type::Opaque(name, of) => {
                write!(f, "{name}(")?;
                for (at, of) in of.iter().enumerate() {
                    if at > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{of}")?;
                }
                f.write_str(")")
            }
            Type::Struct(_) => f.write_str("object"),
        }
    }
}

/// The types that are bound to type parameters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bindings(BTreeMap<Arc<str>, Type>);

impl Bindings {
    pub(crate) fn bind(&mut self, parameter: Arc<str>, to: Type) {
        self.0.insert(parameter, to);
    }

    /// The type with its bound parameters replaced.
    pub(crate) fn substitute(&self, of: &Type) -> Type {
        match of {
            Type::Param(name) => match self.0.get(name) {
                Some(bound) => self.substitute(bound),
                None => of.clone(),
            },
            Type::List(of) => Type::list(self.substitute(of)),
            Type::Map(key, value) => Type::map(self.substitute(key), self.substitute(value)),
            Type::Meta(Some(of)) => Type::Meta(Some(Arc::new(self.substitute(of)))),
            Type::Opaque(name, of) => {
                Type::Opaque(name.clone(), of.iter().map(|of| self.substitute(of)).collect())
            }
            _ => of.clone(),
        }
    }

    /// Whether the first type is assignable to the second; if so, parameters are bound.
    pub(crate) fn assign(&mut self, from: &Type, to: &Type) -> bool {
        self.assign_all(&[from], &[to])
    }

    /// Whether each of the types is assignable to its counterpart; if so, parameters are bound.
    pub(crate) fn assign_all(&mut self, from: &[&Type], to: &[&Type]) -> bool {
        if from.len() != to.len() {
            return false;
        }
        let mut tried = self.clone();
        if from
            .iter()
            .zip(to)
            .all(|(from, to)| tried.is_assignable(from, to))
        {
            *self = tried;
            return true;
        }
        false
    }

    fn is_assignable(&mut self, from: &Type, to: &Type) -> bool {
        if let Type::Param(name) = to {
            match self.is_substitution(from, name, to) {
                (true, _) => return true,
                (false, true) => return false,
                (false, false) => {}
            }
        }
        if let Type::Param(name) = from {
            return self.is_substitution(to, name, from).0;
        }
        if from.is_dyn_or_error() || to.is_dyn_or_error() {
            return true;
        }
        match (from, to) {
            (Type::Null, other) | (other, Type::Null) => other.is_nullable(),
            (Type::Meta(_), Type::Meta(_)) => true,
            (Type::List(a), Type::List(b)) => self.is_assignable(a, b),
            (Type::Map(a, b), Type::Map(c, d)) => self.is_assignable(a, c) && self.is_assignable(b, d),
            (Type::Opaque(a, of_a), Type::Opaque(b, of_b)) => {
                a == b
                    && of_a.len() == of_b.len()
                    && of_a.iter().zip(of_b).all(|(a, b)| self.is_assignable(a, b))
            }
            _ => from == to,
        }
    }

    /// Whether a parameter can be bound to a type, and whether it was bound before.
    fn is_substitution(&mut self, of: &Type, name: &Arc<str>, parameter: &Type) -> (bool, bool) {
        if of == parameter {
            return (true, true);
        }
        if let Some(bound) = self.0.get(name).cloned() {
            if *of == bound {
                return (true, true);
            }
            if !self.is_assignable(of, &bound) {
                return (false, true);
            }
            let general = Type::most_general(of, &bound);
            if self.is_free_of(parameter, &general) {
                self.bind(name.clone(), general);
            }
            return (true, true);
        }
        if self.is_free_of(parameter, of) {
            self.bind(name.clone(), of.clone());
            return (true, false);
        }
        (false, false)
    }

    /// Whether a parameter does not occur in a type.
    fn is_free_of(&self, parameter: &Type, within: &Type) -> bool {
        if parameter == within {
            return false;
        }
        match within {
            Type::Param(name) => self
                .0
                .get(name)
                .is_none_or(|bound| self.is_free_of(parameter, bound)),
            Type::List(of) | Type::Meta(Some(of)) => self.is_free_of(parameter, of),
            Type::Map(key, value) => self.is_free_of(parameter, key) && self.is_free_of(parameter, value),
            Type::Opaque(_, of) => of.iter().all(|of| self.is_free_of(parameter, of)),
            _ => true,
        }
    }
}
