//! Functions of lists, after `ext/lists.go` and `ext/sets.go` of cel-go and `library/lists.go` of the API server.

use std::cmp::Ordering;

use super::function::{Call, CallResult, LONGEST};
use super::value::{List, Value};
use super::{Fallible, fail, operators, too_costly};

pub(super) fn call<'a>(call: &Call<'_>, operands: &[Value<'a>]) -> CallResult<'a> {
    let function = call.function;
    Some(match operands {
        [Value::List(list)] => match function {
            "first" => list.get(0).map(Value::from),
            "last" => list.get(list.len().wrapping_sub(1)).map(Value::from),
            "flatten" => flattened(list, 1),
            "reverse" => list
                .values()
                .map(|values| values.into_iter().rev().collect::<Vec<_>>().into()),
            "distinct" => distinct(list),
            "sort" => sorted(list, list),
            "isSorted" => is_sorted(list)?,
            "sum" => sum(list, call.overload)?,
            "min" => extreme(list, "min", Ordering::Greater)?,
            "max" => extreme(list, "max", Ordering::Less)?,
            "join" => joined(list, ""),
            _ => return None,
        },
        [Value::List(list), Value::Text(separator)] if function == "join" => joined(list, separator),
        [Value::List(list), Value::Int(depth)] if function == "flatten" => flattened(list, *depth),
        [Value::List(list), Value::List(other)] => match function {
            "@sortByAssociatedKeys" => sorted(list, other),
            "sets.contains" => contains_all(list, other).map(Value::Bool),
            "sets.equivalent" => match contains_all(list, other) {
                Ok(true) => contains_all(other, list).map(Value::Bool),
                other => other.map(Value::Bool),
            },
            "sets.intersects" => {
                let found =
                    |value: Fallible<Value<'a>>| value.and_then(|value| other.contains(&value)) == Ok(true);
                Ok(list.elements().any(found).into())
            }
            "indexOf" | "lastIndexOf" => position(function, list, &operands[1]),
            _ => return None,
        },
        [Value::List(list), value] if matches!(function, "indexOf" | "lastIndexOf") => {
            position(function, list, value)
        }
        [Value::List(list), Value::Int(start), Value::Int(end)] if function == "slice" => {
            slice(list, *start, *end)
        }
        [Value::Int(end)] if function == "lists.range" => match *end {
            1_000_001.. => too_costly(),
            end => Ok((0..end).map(Value::Int).collect::<Vec<_>>().into()),
        },
        _ => return None,
    })
}

fn position<'a>(function: &str, list: &List<'a>, value: &Value<'a>) -> Fallible<Value<'a>> {
    let is_it = |at: &usize| match list.get(*at) {
        Ok(Some(own)) => matches!(own.equals(value), Ok(true)),
        _ => false,
    };
    let mut places = 0..list.len();
    let at = match function {
        "indexOf" => places.find(is_it),
        _ => places.rfind(is_it),
    };
    Ok(Value::Int(at.map_or(-1, |at| at as i64)))
}

fn contains_all<'a>(list: &List<'a>, part: &List<'a>) -> Fallible<bool> {
    for value in part.elements() {
        if !list.contains(&value?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn slice<'a>(list: &List<'a>, start: i64, end: i64) -> Fallible<Value<'a>> {
    let cannot = |why: &str| fail(format!("cannot slice({start}, {end}), {why}"));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return cannot("negative indexes not supported");
    };
    if from > to {
        return cannot("start index must be less than or equal to end index");
    }
    if list.len() < to {
        return cannot(&format!("list is length {}", list.len()));
    }
    let part: Fallible<Vec<_>> = list.elements().skip(from).take(to - from).collect();
    part.map(Value::from)
}

fn flattened<'a>(list: &List<'a>, depth: i64) -> Fallible<Value<'a>> {
    fn add<'a>(list: &List<'a>, depth: i64, to: &mut Vec<Value<'a>>) -> Fallible<()> {
        for value in list.elements() {
            match value? {
                Value::List(inner) if depth > 0 => add(&inner, depth - 1, to)?,
                value => to.push(value),
            }
            if to.len() > 1_000_000 {
                return too_costly();
            }
        }
        Ok(())
    }
    if depth < 0 {
        return fail("level must be non-negative".to_owned());
    }
    let mut flat = Vec::new();
    add(list, depth, &mut flat)?;
    Ok(flat.into())
}

fn distinct<'a>(list: &List<'a>) -> Fallible<Value<'a>> {
    let mut seen: Vec<Value<'a>> = Vec::new();
    for value in list.values()? {
        if !seen.iter().any(|other| matches!(value.equals(other), Ok(true))) {
            seen.push(value);
        }
    }
    Ok(seen.into())
}

fn sorted<'a>(list: &List<'a>, keys: &List<'a>) -> Fallible<Value<'a>> {
    if list.len() != keys.len() {
        return fail(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements \
             respectively",
            list.len(),
            keys.len()
        ));
    }
    if list.len() == 0 {
        return Ok(Value::List(list.clone()));
    }
    let keys = keys.values()?;
    if keys[0].compare(&keys[0]).is_none() {
        return fail("list elements must be comparable".to_owned());
    }
    if keys.len() > 1 && keys.iter().any(|key| key.type_name() != keys[0].type_name()) {
        return fail("list elements must have the same type".to_owned());
    }
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|a, b| match keys[*a].compare(&keys[*b]) {
        Some(Ok(order)) => order,
        _ => Ordering::Equal,
    });
    let values = list.values()?;
    Ok(order
        .into_iter()
        .map(|at| values[at].clone())
        .collect::<Vec<_>>()
        .into())
}

fn is_sorted<'a>(list: &List<'a>) -> CallResult<'a> {
    let values = match list.values() {
        Ok(values) => values,
        Err(why) => return Some(Err(why)),
    };
    for pair in values.windows(2) {
        // Values without an order count as sorted.
        if matches!(pair[0].compare(&pair[1])?, Ok(Ordering::Greater)) {
            return Some(Ok(Value::Bool(false)));
        }
    }
    Some(Ok(Value::Bool(true)))
}

/// The sum. For elements without a type, the API server uses the first overload, which is that for integers.
fn sum<'a>(list: &List<'a>, overload: Option<&str>) -> CallResult<'a> {
    let mut total = match overload {
        Some("list_uint_sum_uint") => Value::Uint(0),
        Some("list_double_sum_double") => Value::Double(0.0),
        Some("list_duration_sum_duration") => Value::Duration(0),
        _ => Value::Int(0),
    };
    for value in list.elements() {
        total = match value {
            Ok(value) => match operators::call("_+_", &[total, value]) {
                Some(Ok(total)) => total,
                Some(Err(why)) => return Some(Err(why)),
                None => return Some(fail("no such overload".to_owned())),
            },
            Err(why) => return Some(Err(why)),
        };
    }
    Some(Ok(total))
}

fn extreme<'a>(list: &List<'a>, name: &str, worse: Ordering) -> CallResult<'a> {
    let mut best: Option<Value<'a>> = None;
    for value in list.elements() {
        let value = match value {
            Ok(value) => value,
            Err(why) => return Some(Err(why)),
        };
        let is_better = match &best {
            None => value.compare(&value).is_some(),
            Some(best) => matches!(best.compare(&value)?, Ok(order) if order == worse),
        };
        if is_better {
            best = Some(value);
        }
    }
    Some(best.map_or_else(|| fail(format!("{name} called on empty list")), Ok))
}

fn joined<'a>(list: &List<'a>, separator: &str) -> Fallible<Value<'a>> {
    let mut text = String::new();
    for (at, value) in list.elements().enumerate() {
        if at > 0 {
            text.push_str(separator);
        }
        match value? {
            Value::Text(part) => text.push_str(&part),
            other => return fail(format!("join: invalid input: {other}")),
        }
        if text.len() > LONGEST {
            return too_costly();
        }
    }
    Ok(text.into())
}
