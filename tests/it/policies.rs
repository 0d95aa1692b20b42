//! Reviewed policies, and whether the operator has the rights that they need.
//!
//! `testdata/policies/<case>.txt` is a description in `spec.yaml`, and its `deploy/policies.yaml` in `expected`, which
//! `KRATOR_UPDATE=1 cargo test policies` rewrites.

use std::collections::BTreeSet;

use krator::policies::MANIFEST;
use krator::render::{Runtime, plan};
use serde_json::Value;

use crate::case_file::case_files;
use crate::dice::{Dice, number};
use crate::random_description::{Size, describe};
use crate::yaml::documents;

/// Files of a description's crate, if the description is sound.
fn manifests<const N: usize>(text: &str, paths: [&str; N]) -> Option<[String; N]> {
    let checked = krator::check("spec.yaml", text.as_bytes());
    let plan = plan(checked.sound()?, &checked.source, &Runtime::Vendored);
    let contents = |path| plan.get(path).map(|file| file.contents.clone());
    Some(paths.map(|path| contents(path).unwrap_or_default()))
}

#[test]
fn policies_are_as_reviewed() {
    let mut differ = Vec::new();
    for case in case_files("policies", &["spec.yaml", "expected"]) {
        let [policies] = manifests(case.section("spec.yaml"), [MANIFEST]).expect("a good description");
        case.expect("expected", &policies, &mut differ);
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

fn words(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[test]
fn the_generated_role_has_what_the_policies_ask_for() {
    let (mut asked, mut dice) = (0, Dice::new(number("KRATOR_SEED", 1)));
    for _ in 0..number("KRATOR_DESCRIPTIONS", 60) {
        let text = describe(&mut dice, Size::LARGE);
        let Some([policies, rbac]) = manifests(&text, [MANIFEST, "deploy/rbac.yaml"]) else {
            continue;
        };
        let roles = documents(rbac.as_bytes());
        let account = roles[0]["metadata"]["name"].clone();
        let of_operator = |role: &&Value| role["rules"].is_array() && role["metadata"]["name"] == account;
        let roles = roles.iter().filter(of_operator);
        // The namespaces in which each kind is managed have a role with `list`; the cluster is one of them.
        let may = |verb: &str, resource: &str, group: &str| -> BTreeSet<String> {
            let has = |rule: &Value| {
                words(&rule["verbs"]).any(|granted| granted == verb)
                    && words(&rule["resources"]).any(|granted| granted == resource)
                    && words(&rule["apiGroups"]).any(|granted| granted == group)
            };
            let granting = roles.clone().filter(|role| {
                role["rules"]
                    .as_array()
                    .is_some_and(|rules| rules.iter().any(has))
            });
            granting
                .map(|role| role["metadata"]["namespace"].to_string())
                .collect()
        };
        for policy in documents(policies.as_bytes()) {
            let name = policy["metadata"]["name"].as_str().unwrap_or_default();
            let Some((plural, group)) = name.strip_prefix("status.").and_then(|name| name.split_once('.'))
            else {
                continue;
            };
            asked += 1;
            assert_eq!(
                may("operate", plural, group),
                may("watch", plural, group),
                "{name}:\n{text}"
            );
            assert!(!may("operate", plural, group).is_empty(), "{name}:\n{text}");
        }
    }
    assert!(asked > 10, "{asked} policies ask for rights");
}
