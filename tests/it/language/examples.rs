//! Each key works in a description as documented in the table: its example is correct, values of its type are accepted,
//! and others are refused.

use super::file;
use krator::catalog::keys::{Absent, Located, Type, all};
use krator::finding::{Finding, Style, has_errors, to_text};
use krator::model::parse_duration;
use serde_yaml::{Mapping, Value};

/// Merges `part` into `whole`: mappings are merged, other values are replaced.
fn merge(whole: &mut Value, part: Value) {
    match (whole, part) {
        (Value::Mapping(whole), Value::Mapping(part)) => {
            for (key, value) in part {
                match whole.get_mut(&key) {
                    Some(inner) => merge(inner, value),
                    None => {
                        whole.insert(key, value);
                    }
                }
            }
        }
        (whole, part) => *whole = part,
    }
}

/// The value at a path. Paths do not contain names that the description chooses, nor positions in lists.
pub(super) fn at<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    let Some((first, rest)) = path.split_first() else {
        return Some(value);
    };
    let is_key = value.get(first).is_some();
    match value {
        Value::Mapping(mapping) => {
            if is_key {
                at(mapping.get_mut(*first)?, rest)
            } else {
                mapping.values_mut().find_map(|inner| at(inner, path))
            }
        }
        Value::Sequence(items) => items.iter_mut().find_map(|inner| at(inner, path)),
        _ => None,
    }
}

/// The example of a key in a complete description, and the path of the key in it.
pub(super) fn example(located: &Located) -> (Value, Vec<&str>) {
    let key = located.key;
    let mut part: Value =
        serde_yaml::from_str(key.example).unwrap_or_else(|error| panic!("{}: {error}", key.example));
    let paths = located
        .paths
        .iter()
        .map(|path| path.split('.').collect::<Vec<_>>());
    let used = paths
        .into_iter()
        .find(|path| at(&mut part, path).is_some())
        .unwrap_or_else(|| panic!("{:?} is not in its example {}", located.paths, key.example));
    let mut whole: Value = serde_yaml::from_str(&file("testdata/keys.yaml")).expect("a description");
    merge(&mut whole, part);
    (whole, used)
}

/// The findings of `check`, and the findings as text.
pub(super) fn check(description: &Value) -> (Vec<Finding>, String) {
    let text = serde_yaml::to_string(description).expect("YAML");
    let mut files = krator::spec::Files::default();
    files.add(
        "crds/certificate.yaml",
        Ok(file("testdata/schemas/crds/certificate.yaml")),
    );
    let checked = krator::check_with("krator.yaml", text.as_bytes(), &files);
    let texts = checked.findings.iter();
    let texts = texts.map(|finding| to_text(&checked.source, finding, Style::Plain));
    let texts = texts.collect();
    (checked.findings, texts)
}

#[test]
fn each_example_is_correct() {
    let mut wrong = Vec::new();
    for located in all() {
        let (findings, text) = check(&example(&located).0);
        if has_errors(&findings) {
            wrong.push(format!("{:?}:\n{text}", located.paths));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Values of every form, including the limits of the type.
pub(super) fn probes(of: &Type) -> Vec<Value> {
    let integers = [
        Some(7),
        min(of),
        min(of).map(|min| min - 1),
        max(of),
        max(of).and_then(|max| max.checked_add(1)),
    ];
    let mut probes: Vec<Value> = integers.into_iter().flatten().map(Value::from).collect();
    if let Type::Number(Some((min, max))) = of {
        probes.extend([*min, *max, min - 1.0, max + 1.0].map(Value::from));
    }
    if let Type::Word(words) = of {
        probes.extend(words.iter().map(|word| Value::from(*word)));
    }
    let strange = Value::from(" ¿");
    probes.extend([
        Value::Null,
        Value::from(true),
        Value::from(false),
        Value::from("1s"),
        strange.clone(),
        Value::Sequence(vec![strange]),
        Value::Sequence(vec![Value::Mapping(Mapping::new())]),
        Value::Mapping(Mapping::new()),
        Value::Mapping(Mapping::from_iter([("¿".into(), 7.into())])),
    ]);
    probes
}

fn min(of: &Type) -> Option<i64> {
    match of {
        Type::Integer { min, .. } => Some(*min),
        Type::Either(types) => types.iter().find_map(min),
        _ => None,
    }
}

fn max(of: &Type) -> Option<i64> {
    match of {
        Type::Integer { max, .. } => Some(*max),
        Type::Either(types) => types.iter().find_map(max),
        _ => None,
    }
}

/// Whether a value is of a type, if this can be decided without the rest of the description.
pub(super) fn takes(of: &Type, value: &Value) -> Option<bool> {
    let is_strange = value.as_str() == Some(" ¿");
    let is_scalar = !value.is_null() && !value.is_mapping() && !value.is_sequence();
    match of {
        Type::Any => None,
        Type::String => Some(is_scalar),
        Type::Boolean => Some(value.is_bool()),
        Type::True => Some(value.as_bool() == Some(true)),
        Type::Integer { min, max } => Some(value.as_i64().is_some_and(|it| (*min..=*max).contains(&it))),
        Type::Number(None) => Some(value.is_number()),
        Type::Number(Some((min, max))) => Some(value.as_f64().is_some_and(|it| (*min..=*max).contains(&it))),
        Type::Duration => Some(value.as_str().is_some_and(|it| parse_duration(it).is_some())),
        Type::Word(words) => match value.as_str() {
            Some(word) => Some(words.contains(&word)),
            // The words `True` and `False` may be written with or without quotes.
            None if value.is_bool() => None,
            None => Some(false),
        },
        Type::Quantity | Type::Name(_) | Type::Phrase(_) | Type::State | Type::Kind | Type::Path => {
            (!is_scalar || is_strange).then_some(false)
        }
        Type::Schema => (value.is_null() || value.is_sequence() || is_strange).then_some(false),
        Type::List { of, .. } => match value {
            Value::Sequence(items) => items
                .iter()
                .map(|item| takes(of, item))
                .find(|taken| *taken != Some(true))
                .unwrap_or(Some(true)),
            _ => Some(false),
        },
        Type::Map { .. } => (!value.is_mapping()).then_some(false),
        Type::Mapping(section) => match value {
            Value::Mapping(entries) if entries.is_empty() => {
                let needs_none = section.keys.iter().all(|key| key.absent != Absent::Required);
                // Some sections need one of several keys.
                (!needs_none).then_some(false)
            }
            _ => Some(false),
        },
        Type::Either(types) => {
            let taken: Vec<Option<bool>> = types.iter().map(|of| takes(of, value)).collect();
            if taken.contains(&Some(true)) {
                Some(true)
            } else if taken.contains(&None) {
                None
            } else {
                Some(false)
            }
        }
    }
}

#[test]
fn each_key_takes_the_values_of_its_type_and_no_others() {
    let mut wrong = Vec::new();
    let mut told = 0;
    for located in all() {
        let (whole, path) = example(&located);
        for probe in probes(&located.key.value) {
            let mut whole = whole.clone();
            *at(&mut whole, &path).expect("the key of the example") = probe.clone();
            let Some(is_taken) = takes(&located.key.value, &probe) else {
                continue;
            };
            told += 1;
            let (findings, text) = check(&whole);
            let is_wrong = match is_taken {
                true => findings.iter().any(|finding| finding.rule.name == "wrong-type"),
                false => !has_errors(&findings),
            };
            if is_wrong {
                let taken = if is_taken { "refused" } else { "accepted" };
                wrong.push(format!("{} {taken} {probe:?}\n{text}", path.join(".")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(told > 500, "only {told} values were tried");
}

/// The hint for an unknown key without a similar one lists each key of its mapping once.
#[test]
fn a_hint_names_each_key_once() {
    for located in all() {
        let (mut whole, path) = example(&located);
        let Some((_, above)) = path.split_last() else {
            continue;
        };
        let Some(mapping) = at(&mut whole, above).and_then(|value| match value {
            Value::Sequence(items) => items.iter_mut().find(|item| item.is_mapping()),
            value => Some(value),
        }) else {
            continue;
        };
        let Value::Mapping(entries) = mapping else {
            continue;
        };
        entries.insert("zzzzzzzzzzzzzzzz".into(), 1.into());
        let (findings, _) = check(&whole);
        let hints = findings
            .iter()
            .filter_map(|finding| finding.help.as_deref()?.strip_prefix("known here: "));
        for hint in hints {
            let mut names: Vec<&str> = hint.split(", ").collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "{path:?}: {hint}");
        }
    }
}

#[test]
fn a_list_has_as_many_items_as_the_table_says() {
    for located in all() {
        let Type::List { min, max, .. } = located.key.value else {
            continue;
        };
        let (mut whole, path) = example(&located);
        let list = at(&mut whole, &path).expect("the key of the example");
        let item = list[0].clone();
        let mut with = |count| {
            *at(&mut whole, &path).expect("the key of the example") =
                Value::Sequence(vec![item.clone(); count]);
            let mut findings = check(&whole).0;
            // Some lists must not contain an item twice, which another rule checks.
            findings.retain(|finding| {
                count < 2 || !["invalid-schema", "name-collision"].contains(&finding.rule.name)
            });
            has_errors(&findings)
        };
        if let Some(max) = max {
            assert!(!with(max), "{path:?}");
            assert!(with(max + 1), "{path:?}");
        }
        if min > 0 {
            assert!(with(0), "{path:?}");
        }
    }
}
