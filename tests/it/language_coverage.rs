//! Whether random descriptions use the whole language, and whether most of them are correct.

use std::collections::{BTreeMap, BTreeSet};

use krator::catalog::Severity;
use krator::catalog::keys::{Section, Type, places};
use krator::model::kubernetes;
use serde_json::Value;

use crate::dice::Dice;
use crate::random_description::{Documents, KUBERNETES, Size, describe, mutate};
use crate::random_versions::with_versions;

/// The keys of a section that a value uses, as `section key`.
fn used(value: &Value, of: &Type, types: &'static Section, found: &mut BTreeSet<String>) {
    match (of, value) {
        (Type::Mapping(section), Value::Object(entries)) => in_section(section, entries, types, found),
        (Type::Schema, Value::Object(entries)) => in_section(types, entries, types, found),
        (Type::List { of, .. }, Value::Array(items)) => {
            items.iter().for_each(|item| used(item, of, types, found));
        }
        (Type::Map { of, .. }, Value::Object(entries)) => {
            entries.values().for_each(|value| used(value, of, types, found));
        }
        (Type::Either(alternatives), value) => {
            alternatives.iter().for_each(|of| used(value, of, types, found));
        }
        _ => {}
    }
}

fn in_section(
    section: &Section,
    entries: &serde_json::Map<String, Value>,
    types: &'static Section,
    found: &mut BTreeSet<String>,
) {
    for key in section.keys {
        if let Some(value) = entries.get(key.name) {
            found.insert(format!("{} {}", section.called, key.name));
            used(value, &key.value, types, found);
        }
    }
}

/// Keys that random descriptions omit: `schemas` names files, which they do not have; the cases of `testdata/import`
/// cover the others, because `krator import` writes them.
const LEFT_OUT: [&str; 7] = [
    "schemas",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "optionalOldSelf",
    "apiApproved",
];

#[test]
fn every_key_is_used() {
    let places = places();
    let types = places
        .iter()
        .map(|place| place.section)
        .find(|section| section.called == "a type")
        .expect("types are a section");
    let top = places[0].section;
    let mut found = BTreeSet::new();
    for seed in 0..60 {
        for document in &Documents::random(&mut Dice::new(seed), Size::LARGE).0 {
            let entries = document.as_object().expect("a mapping");
            in_section(top, entries, types, &mut found);
        }
    }
    for seed in 0..150 {
        let mut dice = Dice::new(seed);
        let random = Documents::random(&mut dice, Size::SMALL);
        if krator::check("krator.yaml", random.text().as_bytes())
            .sound()
            .is_some()
        {
            let versioned = with_versions(random, 3, &mut dice).documents;
            in_section(
                top,
                versioned.0[0].as_object().expect("a mapping"),
                types,
                &mut found,
            );
        }
    }
    let missing: Vec<String> = places
        .iter()
        .flat_map(|place| {
            let keys = place
                .section
                .keys
                .iter()
                .filter(|key| !LEFT_OUT.contains(&key.name));
            keys.map(|key| format!("{} {}", place.section.called, key.name))
        })
        .filter(|key| !found.contains(key))
        .collect();
    assert!(
        missing.is_empty(),
        "tests/shared/src/random_description/ never uses {missing:#?}"
    );
}

/// The number of correct descriptions among `count`, and the frequency of each error.
fn correct(size: Size, count: u64) -> (u64, BTreeMap<String, usize>) {
    let mut errors = BTreeMap::new();
    let mut correct = 0;
    for seed in 0..count {
        let text = describe(&mut Dice::new(seed), size);
        let checked = krator::check("krator.yaml", text.as_bytes());
        let mut is_correct = true;
        for finding in checked
            .findings
            .iter()
            .filter(|finding| finding.rule.severity == Severity::Error)
        {
            is_correct = false;
            *errors
                .entry(format!("{}: {}", finding.rule.name, finding.message))
                .or_default() += 1;
        }
        correct += u64::from(is_correct);
    }
    (correct, errors)
}

#[test]
fn most_are_correct() {
    for (size, count) in [(Size::SMALL, 200), (Size::LARGE, 40)] {
        let (correct, errors) = correct(size, count);
        assert!(
            correct * 10 >= count * 8,
            "{correct} of {count} are correct: {errors:#?}"
        );
    }
}

#[test]
fn the_types_of_kubernetes_are_known() {
    let known: BTreeSet<&str> = kubernetes::references().collect();
    for (reference, _) in KUBERNETES {
        assert!(known.contains(*reference), "{reference}");
    }
}

#[test]
fn mutants_differ_and_each_change_is_made() {
    let mut changes = BTreeMap::new();
    for seed in 0..2_000 {
        let dice = &mut Dice::new(seed);
        let documents = Documents::random(dice, Size::SMALL);
        let mut mutant = documents.clone();
        if let Some(change) = mutate(&mut mutant, dice) {
            *changes.entry(change).or_insert(0) += usize::from(mutant != documents);
        }
    }
    assert!(changes.len() >= 20, "{changes:#?}");
    assert!(changes.values().all(|count| *count > 0), "{changes:#?}");
}
