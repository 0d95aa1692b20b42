//! The part of CEL that `kube-cel` is known to evaluate as the API server does.

use serde_json::Value as Json;

use super::check::Checked;
use super::schema_types::{Declared, Equality, Shape};
use super::tree::{Literal, Node, NodeKind};
use super::types::Type;

/// The functions that `kube-cel` evaluates as the API server does, by the names of their overloads. Others, such as
/// those of quantities, IP addresses, times and optional values, differ in some cases.
const TRUSTED: [&str; 36] = [
    "add_int64",
    "add_double",
    "add_string",
    "add_list",
    "subtract_int64",
    "subtract_double",
    "multiply_int64",
    "multiply_double",
    "divide_int64",
    "divide_double",
    "modulo_int64",
    "negate_int64",
    "negate_double",
    "contains_string",
    "starts_with_string",
    "ends_with_string",
    "matches_string",
    "matches",
    "string_lower_ascii",
    "string_upper_ascii",
    "list_join",
    "list_join_string",
    "string_split_string",
    "string_replace_string_string",
    "string_char_at_int",
    "string_index_of_string",
    "list_int_is_sorted_bool",
    "list_string_is_sorted_bool",
    "list_int_sum_int",
    "list_int_max_int",
    "list_int_min_int",
    "list_sets_contains_list",
    "list_sets_intersects_list",
    "string_to_string",
    "int64_to_string",
    "int64_to_int64",
];

/// More of them, which also treat `null` as cel-go does, or fail where it fails.
const TRUSTED_WITH_NULL: [&str; 29] = [
    "logical_and",
    "logical_or",
    "logical_not",
    "conditional",
    "not_strictly_false",
    "equals",
    "not_equals",
    "less_int64",
    "less_double",
    "less_string",
    "less_equals_int64",
    "less_equals_double",
    "less_equals_string",
    "greater_int64",
    "greater_double",
    "greater_string",
    "greater_equals_int64",
    "greater_equals_double",
    "greater_equals_string",
    "in_list",
    "in_map",
    "index_list",
    "index_map",
    "size_list",
    "size_map",
    "size_string",
    "list_size",
    "map_size",
    "string_size",
];

/// Whether a function is evaluated as the API server does.
pub(super) fn is_trusted(overload: &str) -> bool {
    TRUSTED.contains(&overload) || TRUSTED_WITH_NULL.contains(&overload)
}

/// The parts of an expression that the API server may evaluate otherwise.
pub(super) fn distrust(root: &Node, checked: &Checked, declared: &Declared) -> Option<String> {
    let mut why = None;
    root.visit(&mut |node| {
        let of = checked.type_of(node);
        let reason = match &node.kind {
            NodeKind::Literal(Literal::Null) => None,
            _ if is_strange(of) => Some(format!("values of the type {of}")),
            NodeKind::Call {
                function, arguments, ..
            } => {
                let overloads = checked
                    .overloads
                    .get(&node.id)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                let trusted = overloads.iter().all(|overload| is_trusted(overload));
                // Lists of a schema may be sets or maps, whose equality and sum are their own. Where both are parts of
                // objects, [`comparisons`] has them.
                let of_containers = matches!(function.as_str(), "_==_" | "_!=_" | "_+_" | "@in")
                    && arguments
                        .iter()
                        .take(1)
                        .any(|operand| is_container(checked.type_of(operand)))
                    && !adds_to_result(arguments)
                    && comparison(node, checked, declared).is_none()
                    && !arguments.iter().any(is_null);
                (!trusted || overloads.is_empty() || of_containers).then(|| format!("`{function}`"))
            }
            NodeKind::Select { operand, .. } if matches!(checked.type_of(operand), Type::Dyn) => {
                Some("fields of values without a type".to_string())
            }
            NodeKind::Loop(fold) => {
                let over_map = matches!(checked.type_of(&fold.range), Type::Map(..));
                let ordered = matches!(of, Type::List(_));
                let strange = fold.second_variable.is_some() || fold.is_binding() || over_map && ordered;
                strange.then(|| "a loop of this kind".to_string())
            }
            NodeKind::Map(_) | NodeKind::Message(..) => Some("a map or message literal".to_string()),
            NodeKind::List(elements) if elements.iter().any(|(_, optional)| *optional) => {
                Some("optional elements".to_string())
            }
            _ => None,
        };
        if let Some(reason) = reason {
            why.get_or_insert(format!("{reason} may be evaluated otherwise by the API server"));
        }
    });
    why
}

/// Two parts of objects that are lists, maps or objects, and that an expression compares.
#[derive(Debug)]
pub(super) struct Comparison {
    operands: [Part; 2],
    equality: Equality,
}

/// A part of `self` or of `oldSelf`.
#[derive(Debug)]
struct Part {
    is_old: bool,
    /// The names of the fields that lead there.
    fields: Vec<String>,
}

impl Part {
    fn of<'a>(&self, value: &'a Json, old: Option<&'a Json>) -> Option<&'a Json> {
        let root = if self.is_old { old? } else { value };
        let mut fields = self.fields.iter();
        fields.try_fold(root, |value, field| value.get(field))
    }
}

impl Comparison {
    /// Whether the answer of the API server is known for these values.
    pub(super) fn is_decidable(&self, value: &Json, old: Option<&Json>) -> bool {
        let operands = self.operands.each_ref().map(|operand| operand.of(value, old));
        let [Some(left), Some(right)] = operands else {
            // A field that is absent is an error, which everybody sees.
            return true;
        };
        // A field of an object that is `null` is not found, so that the object is not even equal to itself.
        let is_simple = !has_null(left) && !has_null(right);
        is_simple && (self.equality == Equality::Structural || left == right)
    }
}

fn has_null(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(items) => items.iter().any(has_null),
        Json::Object(fields) => fields.values().any(has_null),
        _ => false,
    }
}

/// The comparisons of containers in an expression that can be decided for some values.
pub(super) fn comparisons(root: &Node, checked: &Checked, declared: &Declared) -> Vec<Comparison> {
    let mut found = Vec::new();
    root.visit(&mut |node| found.extend(comparison(node, checked, declared)));
    found
}

/// The comparison that a node is, if it is one of two parts of objects.
fn comparison(node: &Node, checked: &Checked, declared: &Declared) -> Option<Comparison> {
    let NodeKind::Call {
        function, arguments, ..
    } = &node.kind
    else {
        return None;
    };
    let [left, right] = arguments.as_slice() else {
        return None;
    };
    let compares = ["_==_", "_!=_"].contains(&function.as_str()) && is_container(checked.type_of(left));
    let ((left, of_left), (right, of_right)) = (part(left, declared)?, part(right, declared)?);
    let equality = of_left.equality.max(of_right.equality);
    (compares && equality != Equality::Undecidable).then_some(Comparison {
        operands: [left, right],
        equality,
    })
}

/// The part of an object that a node is, and its schema.
fn part<'a>(node: &Node, declared: &'a Declared) -> Option<(Part, &'a Declared)> {
    match &node.kind {
        NodeKind::Ident(name) if ["self", "oldSelf"].contains(&name.as_str()) => {
            let is_old = name == "oldSelf";
            let fields = Vec::new();
            Some((Part { is_old, fields }, declared))
        }
        NodeKind::Select {
            operand,
            field,
            test: false,
        } => {
            let (mut part, of) = part(operand, declared)?;
            let Shape::Object(fields) = &of.shape else {
                return None;
            };
            let field = fields.get(field)?;
            part.fields.push(field.name.clone());
            Some((part, &field.declared))
        }
        _ => None,
    }
}

/// Whether an expression may meet a `null` in a list or a map without being evaluated otherwise than by the API server.
///
/// `kube-cel` selects `false` from what has no fields, so that there must be no selection from an entry.
pub(super) fn takes_nulls(root: &Node, checked: &Checked) -> bool {
    let mut takes = true;
    root.visit(&mut |node| {
        takes &= match &node.kind {
            NodeKind::Select { operand, .. } => is_own_field(operand, checked),
            NodeKind::Call { .. } => checked
                .overloads
                .get(&node.id)
                .is_some_and(|overloads| overloads.iter().all(|it| TRUSTED_WITH_NULL.contains(it))),
            _ => true,
        };
    });
    takes
}

/// Whether a value is reached through fields of objects alone, which are never `null`.
fn is_own_field(node: &Node, checked: &Checked) -> bool {
    match &node.kind {
        NodeKind::Ident(name) => matches!(name.as_str(), "self" | "oldSelf"),
        NodeKind::Select { operand, .. } => {
            matches!(checked.type_of(operand), Type::Struct(_)) && is_own_field(operand, checked)
        }
        _ => false,
    }
}

fn is_null(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Literal(Literal::Null))
}

/// Whether a sum is that of `map` or `filter`, whose list is no list of the schema.
fn adds_to_result(operands: &[Node]) -> bool {
    matches!(operands.first().map(|first| &first.kind), Some(NodeKind::Ident(name)) if name == "@result")
}

fn is_container(of: &Type) -> bool {
    matches!(of, Type::List(_) | Type::Map(..) | Type::Struct(_))
}

fn is_strange(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Int | Type::Double | Type::String | Type::Struct(_) | Type::Dyn => false,
        Type::List(of) => is_strange(of),
        Type::Map(key, value) => is_strange(key) || is_strange(value),
        _ => true,
    }
}
