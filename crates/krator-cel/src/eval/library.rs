//! Functions of the types that libraries add: times, quantities, versions, URLs and the authorizer, after
//! `pkg/cel/library` of the API server.

use std::sync::Arc;

use num_traits::{Signed as _, ToPrimitive as _};

use super::function::CallResult;
use super::quantity::Quantity;
use super::semver::Semver;
use super::value::{Map, Value};
use super::{Failure, Fallible, fail, url};
use crate::authorizer::Authorizer;
use crate::formats::is_request_uri;

pub(super) fn call<'a>(function: &str, operands: &[Value<'a>]) -> CallResult<'a> {
    if let [Value::Authorizer(authorizer), rest @ ..] = operands {
        return of_authorizer(authorizer, function, rest);
    }
    of_times(function, operands)
        .or_else(|| of_quantities(function, operands))
        .or_else(|| of_versions(function, operands))
        .or_else(|| of_urls(function, operands))
}

fn of_times<'a>(function: &str, operands: &[Value<'a>]) -> CallResult<'a> {
    let found = match operands {
        [Value::Timestamp(time)] => time.part(function, 0)?,
        [Value::Timestamp(time), Value::Text(zone)] => match time.offset_of(zone) {
            Ok(offset) => time.part(function, offset)?,
            Err(why) => return Some(Err(why)),
        },
        [Value::Duration(nanoseconds)] => Ok(match function {
            "getHours" => nanoseconds / 3_600_000_000_000,
            "getMinutes" => nanoseconds / 60_000_000_000,
            "getSeconds" => nanoseconds / 1_000_000_000,
            "getMilliseconds" => nanoseconds / 1_000_000,
            _ => return None,
        }),
        _ => return None,
    };
    Some(found.map(Value::Int))
}

fn of_quantities<'a>(function: &str, operands: &[Value<'a>]) -> CallResult<'a> {
    let made = |quantity: Fallible<Quantity>| quantity.map(|made| Value::Quantity(Arc::new(made)));
    Some(match (function, operands) {
        ("quantity", [Value::Text(text)]) => made(Quantity::parse(text)),
        ("isQuantity", [Value::Text(text)]) => match Quantity::parse(text) {
            Err(why @ Failure::Unknown(_)) => Err(why),
            parsed => Ok(parsed.is_ok().into()),
        },
        ("isInteger", [Value::Quantity(quantity)]) => Ok(quantity.integer().is_some().into()),
        ("asInteger", [Value::Quantity(quantity)]) => match quantity.integer() {
            Some(integer) => Ok(Value::Int(integer)),
            None => fail("cannot convert value to integer".to_owned()),
        },
        ("asApproximateFloat", [Value::Quantity(quantity)]) => Ok(Value::Double(quantity.approximate())),
        ("sign", [Value::Quantity(quantity)]) => {
            Ok(Value::Int(quantity.number.signum().to_i64().unwrap_or(0)))
        }
        ("add", [Value::Quantity(quantity), Value::Quantity(other)]) => made(quantity.plus(other)),
        ("add", [Value::Quantity(quantity), Value::Int(other)]) => made(quantity.plus(&Quantity::of(*other))),
        ("sub", [Value::Quantity(quantity), Value::Quantity(other)]) => made(quantity.minus(other)),
        ("sub", [Value::Quantity(quantity), Value::Int(other)]) => {
            made(quantity.minus(&Quantity::of(*other)))
        }
        ("compareTo", [Value::Quantity(quantity), Value::Quantity(other)]) => {
            quantity.compare(other).map(|order| Value::Int(order as i64))
        }
        ("isGreaterThan", [Value::Quantity(quantity), Value::Quantity(other)]) => {
            quantity.compare(other).map(|order| order.is_gt().into())
        }
        ("isLessThan", [Value::Quantity(quantity), Value::Quantity(other)]) => {
            quantity.compare(other).map(|order| order.is_lt().into())
        }
        _ => return None,
    })
}

fn of_versions<'a>(function: &str, operands: &[Value<'a>]) -> CallResult<'a> {
    let part = |number: u64| Ok(Value::Int(number as i64));
    let parse = |text: &str, loosely: bool| match loosely {
        true => Semver::parse_loosely(text),
        false => Semver::parse(text),
    };
    let made = |version: Fallible<Semver>| version.map(|made| Value::Semver(Arc::new(made)));
    Some(match (function, operands) {
        ("semver", [Value::Text(text)]) => made(parse(text, false)),
        ("semver", [Value::Text(text), Value::Bool(loosely)]) => made(parse(text, *loosely)),
        ("isSemver", [Value::Text(text)]) => Ok(parse(text, false).is_ok().into()),
        ("isSemver", [Value::Text(text), Value::Bool(loosely)]) => Ok(parse(text, *loosely).is_ok().into()),
        ("major", [Value::Semver(version)]) => part(version.numbers[0]),
        ("minor", [Value::Semver(version)]) => part(version.numbers[1]),
        ("patch", [Value::Semver(version)]) => part(version.numbers[2]),
        ("compareTo", [Value::Semver(version), Value::Semver(other)]) => {
            Ok(Value::Int(version.compare(other) as i64))
        }
        ("isGreaterThan", [Value::Semver(version), Value::Semver(other)]) => {
            Ok(version.compare(other).is_gt().into())
        }
        ("isLessThan", [Value::Semver(version), Value::Semver(other)]) => {
            Ok(version.compare(other).is_lt().into())
        }
        _ => return None,
    })
}

fn of_urls<'a>(function: &str, operands: &[Value<'a>]) -> CallResult<'a> {
    match (function, operands) {
        ("url", [Value::Text(text)]) => Some(url::parse(text).map(|url| Value::Url(Arc::new(url)))),
        ("isURL", [Value::Text(text)]) => Some(Ok(is_request_uri(text).into())),
        (_, [Value::Url(url)]) => Some(Ok(match function {
            "getScheme" => url.scheme.as_str().into(),
            "getHost" => url.host.as_str().into(),
            "getHostname" => url.host_and_port().0.into(),
            "getPort" => url.host_and_port().1.into(),
            "getEscapedPath" => url.path.as_str().into(),
            "getQuery" => {
                let entries = url.query().into_iter().map(|(key, values)| {
                    let values: Vec<Value<'a>> = values.into_iter().map(Value::from).collect();
                    (key.into(), values.into())
                });
                Value::Map(Map::Made(Arc::new(entries.collect())))
            }
            _ => return None,
        })),
        _ => None,
    }
}

fn of_authorizer<'a>(authorizer: &Authorizer, function: &str, operands: &[Value<'a>]) -> CallResult<'a> {
    let of = |found: Authorizer| Value::Authorizer(Arc::new(found));
    let decision = authorizer.decision();
    Some(Ok(match (function, operands) {
        ("group", [Value::Text(group)]) => of(authorizer.with(|asked| asked.group = group.to_string())),
        ("resource", [Value::Text(resource)]) => {
            of(authorizer.with(|asked| asked.resource = resource.to_string()))
        }
        ("subresource", [Value::Text(it)]) => of(authorizer.with(|asked| asked.subresource = it.to_string())),
        ("namespace", [Value::Text(namespace)]) => {
            of(authorizer.with(|asked| asked.namespace = namespace.to_string()))
        }
        ("name", [Value::Text(name)]) => of(authorizer.with(|asked| asked.name = name.to_string())),
        ("path", [Value::Text(path)]) => of(authorizer.with(|asked| asked.path = Some(path.to_string()))),
        // Selectors do not affect the decisions of RBAC.
        ("fieldSelector" | "labelSelector", [Value::Text(_)]) => of(authorizer.clone()),
        ("serviceAccount", [Value::Text(namespace), Value::Text(name)]) => {
            let account = (namespace.to_string(), name.to_string());
            of(authorizer.with(|asked| asked.service_account = Some(account)))
        }
        ("check", [Value::Text(verb)]) => of(authorizer.check(verb)),
        ("allowed", []) => decision.is_some_and(|(allowed, _)| *allowed).into(),
        ("reason", []) => decision.map_or("", |(_, reason)| reason).into(),
        ("errored", []) => false.into(),
        ("error", []) => "".into(),
        _ => return None,
    }))
}
