//! The costs of function calls, after `checker/cost.go` and `ext` of cel-go and `pkg/cel/library/cost.go` of the API
//! server.

use super::range::Range;
use super::sizes::Sizes;
use crate::syntax::tree::{Literal, Node, NodeKind};
use crate::types::Type;

/// The cost of traversing a text, per character.
pub(super) const TRAVERSAL: f64 = 0.1;

/// An operand of a call, with its type and size.
#[derive(Debug, Clone)]
pub(super) struct Operand<'a> {
    pub(super) node: &'a Node,
    pub(super) of: Type,
    pub(super) path: Vec<String>,
    pub(super) computed: Option<Range>,
}

/// The cost of a call, and the size of its result if it is known.
pub(super) struct CallCost {
    pub(super) cost: Range,
    pub(super) result: Option<Range>,
}

impl Operand<'_> {
    pub(super) fn size_or_unknown(&self) -> Range {
        self.computed.unwrap_or(Range::UNKNOWN)
    }
}

const REGEX: f64 = 0.25;
/// The assumed length of a named format's pattern.
const NAMED_FORMAT: f64 = 128.0;
/// The assumed length of a format's name.
const FORMAT_NAME: u64 = 64;

pub(super) struct CallOf<'a> {
    pub(super) function: &'a str,
    pub(super) overload: &'a str,
    pub(super) target: Option<&'a Operand<'a>>,
    pub(super) arguments: &'a [Operand<'a>],
}

fn costs(cost: Range) -> Option<CallCost> {
    Some(CallCost { cost, result: None })
}

fn costs_and_results(cost: Range, result: Range) -> Option<CallCost> {
    Some(CallCost {
        cost,
        result: Some(result),
    })
}

/// The cost of a library function without its operands; `None` for the standard library.
pub(super) fn library(call: &CallOf<'_>, sizes: &Sizes<'_>) -> Option<CallCost> {
    let size = |operand: &Operand<'_>| {
        operand
            .computed
            .or_else(|| sizes.at(&operand.path))
            .unwrap_or(Range::UNKNOWN)
    };
    let target = call.target;
    let argument = |at: usize| call.arguments.get(at);
    if let Some(found) = of_lists(call, &size) {
        return Some(found);
    }
    let traversal = |operand: &Operand<'_>| size(operand).scaled(TRAVERSAL);
    match call.function {
        "check" => costs(Range::fixed(350_000)),
        "serviceAccount"
        | "path"
        | "group"
        | "resource"
        | "subresource"
        | "namespace"
        | "name"
        | "allowed"
        | "reason"
        | "error"
        | "errored"
        | "masked"
        | "prefixLength"
        | "family"
        | "isUnspecified"
        | "isLoopback"
        | "isLinkLocalMulticast"
        | "isLinkLocalUnicast"
        | "isGlobalUnicast"
        | "format.named"
        | "sign"
        | "asInteger"
        | "isInteger"
        | "asApproximateFloat"
        | "isGreaterThan"
        | "isLessThan"
        | "compareTo"
        | "add"
        | "sub"
        | "major"
        | "minor"
        | "patch"
        | "getScheme"
        | "getHostname"
        | "getHost"
        | "getPort"
        | "getEscapedPath"
        | "getQuery" => costs(Range::fixed(1)),
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            let target = target?;
            let Some((of, element)) = element_size(target, sizes) else {
                return costs(traversal(target));
            };
            let each = match of {
                Type::String | Type::Bytes => Range::fixed(1).plus(element.scaled(TRAVERSAL)),
                _ => Range::fixed(1),
            };
            costs(size(target).times(each))
        }
        "url" => costs_and_results(traversal(argument(0)?), size(argument(0)?)),
        "lowerAscii" | "upperAscii" | "substring" | "trim" => {
            costs_and_results(traversal(target?), size(target?))
        }
        "replace" => {
            let (text, from, to) = (size(target?), size(argument(0)?), size(argument(1)?));
            costs_and_results(text.scaled(2.0 * TRAVERSAL), replaced(text, from, to))
        }
        "split" => {
            let text = size(target?);
            let most = match argument(1).map(|limit| &limit.node.kind) {
                Some(NodeKind::Literal(Literal::Int(limit))) => *limit as u64,
                _ => text.max,
            };
            costs_and_results(text.scaled(2.0 * TRAVERSAL), Range::new(0, most))
        }
        "join" => {
            let target = target?;
            let list = size(target);
            let mut text = Range::default();
            if let Some((_, element)) = element_size(target, sizes) {
                text = list.times(element);
            }
            if let Some(separator) = argument(0) {
                let separators = Range::new(list.min.saturating_sub(1), list.max.saturating_sub(1));
                text = text.plus(size(separator).times(separators));
            }
            costs_and_results(text.scaled(TRAVERSAL), text)
        }
        "find" | "findAll" => {
            let text = size(target?);
            let pattern = size(argument(0)?).scaled(REGEX);
            let cost = text.plus(Range::fixed(1)).scaled(TRAVERSAL).times(pattern);
            costs_and_results(cost, Range::new(0, text.max))
        }
        "ip" if call.overload == "cidr_ip" => costs(Range::fixed(1)),
        "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
            costs(traversal(argument(0)?))
        }
        "ip.isCanonical" => costs(size(argument(0)?).scaled(2.0 * TRAVERSAL)),
        "containsIP" | "containsCIDR" => {
            let address = Range::new(4, 16);
            let mut cost = address.plus(address).scaled(TRAVERSAL);
            if call.function == "containsCIDR" {
                cost = cost.plus(address.scaled(TRAVERSAL)).plus(Range::fixed(1));
            }
            if matches!(
                call.overload,
                "cidr_contains_ip_string" | "cidr_contains_cidr_string"
            ) {
                cost = cost.plus(traversal(argument(0)?));
            }
            costs(cost)
        }
        "validate" => costs(traversal(argument(0)?).scaled(NAMED_FORMAT * REGEX)),
        "_==_" => of_equality(call),
        _ => None,
    }
}

/// Comparisons of values of library types have fixed costs.
fn of_equality(call: &CallOf<'_>) -> Option<CallCost> {
    let [left, right] = call.arguments else {
        return None;
    };
    let Type::Opaque(name, _) = &left.of else {
        return None;
    };
    if left.of != right.of {
        return None;
    }
    match &**name {
        "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver" => costs(Range::fixed(1)),
        "kubernetes.NamedFormat" => costs(Range::new(1, FORMAT_NAME).scaled(TRAVERSAL)),
        "kubernetes.URL" => {
            // The API server uses only the right operand.
            let most = right.computed.map_or(1, |size| size.max);
            costs(Range::new(1, most).scaled(TRAVERSAL))
        }
        _ => None,
    }
}

/// The costs of functions for lists and sets, as cel-go defines them.
fn of_lists(call: &CallOf<'_>, size: &dyn Fn(&Operand<'_>) -> Range) -> Option<CallCost> {
    let allocating =
        |factor: f64, list: Range| costs_and_results(list.scaled(factor).plus(Range::fixed(11)), list);
    let integer =
        |operand: Option<&Operand<'_>>, otherwise: u64| match operand.map(|operand| &operand.node.kind) {
            Some(NodeKind::Literal(Literal::Int(value))) => u64::try_from(*value).unwrap_or(0),
            _ => otherwise,
        };
    let argument = |at: usize| call.arguments.get(at);
    match call.overload {
        "list_sets_contains_list" | "list_sets_intersects_list" | "list_sets_equivalent_list" => {
            let factor = if call.overload == "list_sets_equivalent_list" {
                2.0
            } else {
                1.0
            };
            let product = size(argument(0)?).times(size(argument(1)?));
            costs(product.scaled(factor).plus(Range::fixed(1)))
        }
        "list_slice" => {
            let most = size(call.target?).max;
            let (start, end) = (integer(argument(0), 0), integer(argument(1), most));
            allocating(1.0, Range::fixed(end.wrapping_sub(start)))
        }
        "list_flatten" => allocating(1.0, size(call.target?)),
        "list_flatten_int" => allocating(integer(argument(0), u64::MAX) as f64, size(call.target?)),
        "lists_range" => allocating(1.0, Range::fixed(integer(argument(0), u64::MAX))),
        "list_reverse" => allocating(1.0, size(call.target?)),
        "list_distinct" => allocating(2.0, size(call.target?).times(size(call.target?))),
        sort if sort.ends_with("_sort") || sort.ends_with("_sortByAssociatedKeys") => {
            let list = if sort.ends_with("_sort") {
                call.target?
            } else {
                argument(0)?
            };
            let is_text = sort.starts_with("list_string") || sort.starts_with("list_bytes");
            let factor = if is_text { 2.0 + TRAVERSAL } else { 2.0 };
            allocating(factor, size(list).times(size(list)))
        }
        _ => None,
    }
}

/// The type and the size of the elements of a list, a map or an opaque type; none for other types.
fn element_size(list: &Operand<'_>, sizes: &Sizes<'_>) -> Option<(Type, Range)> {
    let of = match &list.of {
        Type::List(of) => (**of).clone(),
        Type::Map(key, _) => (**key).clone(),
        Type::Opaque(_, of) => of.first()?.clone(),
        _ => return None,
    };
    let path: Vec<String> = list.path.iter().cloned().chain(["@items".to_string()]).collect();
    let found = if list.path.is_empty() {
        None
    } else {
        sizes.at(&path)
    };
    Some((of, found.unwrap_or(Range::UNKNOWN)))
}

/// The size of a text after a replacement.
fn replaced(text: Range, from: Range, to: Range) -> Range {
    let parts = |text: u64, part: u64| (text as f64 / part as f64).ceil() as u64;
    let (most, most_kept) = match from.min {
        0 => (text.max.saturating_add(1), text.max),
        _ if to.max <= from.min => (0, text.max),
        part => (parts(text.max, part), 0),
    };
    let (least, least_kept) = match from.max {
        0 => (text.min.saturating_add(1), text.min),
        _ if from.max <= to.min => (0, text.min),
        part => (parts(text.min, part), 0),
    };
    Range::new(least, most)
        .times(to)
        .plus(Range::new(least_kept, most_kept))
}

/// The cost of a function of the standard library without its operands.
pub(super) fn standard(call: &CallOf<'_>) -> CallCost {
    of_standard(call).unwrap_or(CallCost {
        cost: Range::fixed(1),
        result: None,
    })
}

fn of_standard(call: &CallOf<'_>) -> Option<CallCost> {
    let size = |at: usize| call.arguments.get(at).map(Operand::size_or_unknown);
    let target = call.target.map(Operand::size_or_unknown);
    match call.overload {
        "string_format" => costs(target?.scaled(TRAVERSAL)),
        // Products of sizes wrap around in cel-go.
        "string_to_bytes" => {
            let text = size(0)?;
            costs_and_results(
                text.scaled(TRAVERSAL),
                Range::new(text.min, text.max.wrapping_mul(4)),
            )
        }
        "bytes_to_string" => {
            let bytes = size(0)?;
            costs_and_results(bytes.scaled(TRAVERSAL), Range::new(bytes.min / 4, bytes.max))
        }
        "strings_quote" => {
            let text = size(0)?;
            let most = text.max.wrapping_mul(2).wrapping_add(2);
            costs_and_results(text.scaled(TRAVERSAL), Range::new(text.min.wrapping_add(2), most))
        }
        "starts_with_string" | "ends_with_string" => costs(size(0)?.scaled(TRAVERSAL)),
        "in_list" => costs(size(1)?.scaled(1.0)),
        "matches_string" => {
            let text = target?.plus(Range::fixed(1)).scaled(TRAVERSAL);
            costs(text.times(size(0)?.scaled(REGEX)))
        }
        "contains_string" => costs(target?.scaled(TRAVERSAL).times(size(0)?.scaled(TRAVERSAL))),
        "less_string"
        | "greater_string"
        | "less_equals_string"
        | "greater_equals_string"
        | "less_bytes"
        | "greater_bytes"
        | "less_equals_bytes"
        | "greater_equals_bytes"
        | "equals"
        | "not_equals" => {
            let most = size(0)?.max.min(size(1)?.max);
            costs(Range::new(u64::from(most > 0), most).scaled(TRAVERSAL))
        }
        _ => None,
    }
}
