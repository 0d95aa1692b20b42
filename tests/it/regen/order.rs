//! Edits that change no generated file: comments, blank lines, and another order of states, conditions and keys.

use crate::descriptions::cases;
use crate::dice::{Dice, number};
use crate::random_description::{Documents, Size};
use crate::yaml::documents;
use krator::render::{self, Runtime};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs;

/// The generated files of a description, without the description and the documents for people, which follow its order;
/// `None` if it has an error.
fn generated(text: &str) -> Option<BTreeMap<String, String>> {
    let checked = krator::check("krator.yaml", text.as_bytes());
    let plan = render::plan(
        checked.sound()?,
        &checked.source,
        &Runtime::Version("*".parse().expect("any")),
    );
    let files = plan
        .files()
        .map(|(path, file)| (path.to_owned(), file.contents.clone()))
        .filter(|(path, _)| !["krator.yaml", "docs/states.md", "docs/runbook.md"].contains(&path.as_str()));
    Some(files.collect())
}

/// Reverses the order of the entries of a mapping.
fn reverse(mapping: &mut Json) {
    if let Json::Object(entries) = mapping {
        let reversed = std::mem::take(entries).into_iter().rev().collect();
        *entries = reversed;
    }
}

/// The same description in another order, with a comment before each line.
fn rewritten(documents: &[Json]) -> String {
    let texts = documents.iter().map(|document| {
        let mut document = document.clone();
        for state in document["states"].as_object_mut().expect("states").values_mut() {
            reverse(state);
        }
        for key in ["states", "conditions", "machine", "resource"] {
            document.get_mut(key).map(reverse);
        }
        // `krator` has to come first.
        let version = document["krator"].take();
        reverse(&mut document);
        let entries = document.as_object_mut().expect("a mapping");
        entries.shift_remove("krator");
        entries.shift_insert(0, "krator".to_owned(), version);
        let text = serde_yaml::to_string(&document).expect("JSON is YAML");
        // In a block scalar, comments would be part of the text.
        let is_block = text.lines().any(|line| line.ends_with(['|', '>', '-', '+']));
        if is_block {
            format!("# A comment.\n\n{text}")
        } else {
            text.replace('\n', "\n# A comment.\n\n")
        }
    });
    texts.collect::<Vec<_>>().join("---\n")
}

#[test]
fn comments_and_another_order_change_no_generated_file() {
    let seed = number("KRATOR_SEED", 1);
    let mut dice = Dice::new(seed);
    let reviewed = cases().into_iter().map(|(name, case)| {
        let text = fs::read(case.join("spec.yaml")).expect("a case has a description");
        (name, documents(&text))
    });
    let random = (0..number("KRATOR_DESCRIPTIONS", 30)).map(|at| {
        (
            format!("{at} of seed {seed}"),
            Documents::random(&mut dice, Size::LARGE).0,
        )
    });
    let mut tried = 0;
    for (name, documents) in reviewed.chain(random) {
        let texts = documents
            .iter()
            .map(|document| serde_yaml::to_string(document).expect("JSON is YAML"));
        // YAML aliases become copies here, which not every description allows.
        let Some(before) = generated(&texts.collect::<Vec<_>>().join("---\n")) else {
            continue;
        };
        tried += 1;
        let text = rewritten(&documents);
        let after = generated(&text).unwrap_or_else(|| panic!("{name} has an error now:\n{text}"));
        let differ: Vec<_> = before
            .iter()
            .filter(|(path, text)| after.get(*path) != Some(*text))
            .collect();
        assert!(
            before.len() == after.len() && differ.is_empty(),
            "{name}: {differ:#?}"
        );
    }
    println!("{tried} descriptions, seed {seed}");
    assert!(tried > 30, "most descriptions have no error");
}
