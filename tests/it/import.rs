//! `krator import`: descriptions from CRDs, and the reported omissions.
//!
//! A case is a folder of `testdata/import/` with a `crd.yaml`; `expected.yaml` is the description and `unsaid.txt`
//! lists the parts that it cannot express. `KRATOR_UPDATE=1 cargo test` rewrites the two. `KRATOR_IMPORTS` is the
//! number of random CRDs, and `KRATOR_CRDS` a folder with CRDs of other projects, which are not part of this
//! repository.

use crate::case_file::{entries, expect_file};
use crate::descriptions::cases;
use crate::dice::{Dice, number};
use crate::random_crd::random_crd;
use crate::yaml::documents;
use krator::catalog::Severity;
use krator::finding::{Style, to_text};
use krator::import::{Refusal, import};
use serde_json::Value;
use std::fs;

#[test]
fn each_case_has_its_description_and_what_it_leaves_out() {
    let mut differ = Vec::new();
    for case in entries("import") {
        let text = fs::read_to_string(case.join("crd.yaml")).expect("a case has a CRD");
        let (description, left_out) = match import(&text, None) {
            Ok(imported) => {
                let left_out: Vec<String> =
                    imported.not_imported.iter().map(|it| format!("{it}\n")).collect();
                (imported.description, left_out.concat())
            }
            Err(refusal) => (String::new(), format!("{refusal}\n")),
        };
        expect_file(&case.join("expected.yaml"), &description, &mut differ);
        expect_file(&case.join("unsaid.txt"), &left_out, &mut differ);
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn descriptions_of_the_cases_have_no_errors_and_no_warnings() {
    for case in entries("import") {
        let text = fs::read_to_string(case.join("crd.yaml")).expect("a case has a CRD");
        let Ok(imported) = import(&text, None) else {
            continue;
        };
        let checked = krator::check("krator.yaml", imported.description.as_bytes());
        let found = checked.findings.iter();
        let found: String = found
            .filter(|finding| finding.rule.severity != Severity::Info)
            .map(|finding| to_text(&checked.source, finding, Style::Plain))
            .collect();
        assert_eq!(found, "", "{}", case.display());
    }
}

/// The schema of `.spec` in the CRD of a kind.
fn spec_of(crds: &str, kind: &str) -> Value {
    let all = documents(crds.as_bytes());
    let mut of_kind = all.iter().filter(|crd| crd["spec"]["names"]["kind"] == kind);
    let crd = of_kind.next().expect("the kind has a CRD");
    sorted(&crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"])
}

/// The schema with sorted required fields, whose order is irrelevant.
fn sorted(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| {
                let mut value = sorted(value);
                if let ("required", Some(names)) = (key.as_str(), value.as_array_mut()) {
                    names.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
                }
                (key.clone(), value)
            })
            .collect(),
        Value::Array(items) => items.iter().map(sorted).collect(),
        scalar => scalar.clone(),
    }
}

/// The definitions of a description, as one text.
fn manifest(description: &krator::model::Description) -> String {
    let documents = krator::render::crd::crd(description).into_iter();
    documents.map(|document| format!("---\n{document}\n")).collect()
}

/// The CRDs that krator generates can be imported, too, and the resulting description is complete.
#[test]
fn descriptions_survive_the_way_through_their_crd() {
    for path in cases().values() {
        let path = path.join("spec.yaml");
        let text = fs::read_to_string(&path).expect("a file of the repository");
        let checked = krator::check("krator.yaml", text.as_bytes());
        let Some(description) = checked.sound() else {
            continue;
        };
        let crds = manifest(description);
        for kind in &description.kinds {
            let kind = kind.resource.kind.as_str();
            let imported =
                import(&crds, Some(kind)).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            let again = krator::check("krator.yaml", imported.description.as_bytes());
            let again = again
                .sound()
                .unwrap_or_else(|| panic!("{}", imported.description));
            let was = spec_of(&crds, kind);
            let is = spec_of(&manifest(again), kind);
            assert_eq!(is, was, "{}: {kind}\n{}", path.display(), imported.description);
        }
    }
}

/// The errors in the description of an import.
fn errors(description: &str) -> String {
    let checked = krator::check("krator.yaml", description.as_bytes());
    let found = checked.findings.iter();
    found
        .filter(|finding| finding.rule.severity == Severity::Error)
        .map(|finding| to_text(&checked.source, finding, Style::Plain))
        .collect()
}

/// A schema without the parts that the API server ignores: null beside an `enum`, empty fields, texts and examples.
fn meant(schema: &Value) -> Value {
    let Value::Object(keys) = schema else {
        return schema.clone();
    };
    let says_nothing = |key: &str, value: &Value| match key {
        "nullable" => keys.contains_key("enum"),
        "properties" => *value == serde_json::json!({}),
        "description" | "example" => true,
        _ => false,
    };
    let said = keys.iter().filter(|(key, value)| !says_nothing(key, value));
    said.map(|(key, value)| {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(fields)) => fields
                .iter()
                .map(|(name, field)| (name.clone(), meant(field)))
                .collect(),
            ("items" | "additionalProperties", inner) => meant(inner),
            ("x-kubernetes-validations", Value::Array(rules)) => {
                rules.iter().map(|rule| &rule["rule"]).cloned().collect()
            }
            _ => value.clone(),
        };
        (key.clone(), value)
    })
    .collect()
}

#[test]
fn random_crds_have_descriptions_without_errors_that_say_all_of_spec() {
    let (mut imported, mut refused) = (0, 0);
    for seed in 0..number("KRATOR_IMPORTS", 150) {
        let crd = random_crd(&mut Dice::new(number("KRATOR_SEED", 11).wrapping_add(seed)));
        let written = crd.to_string();
        let description = match import(&written, None) {
            Ok(imported) => imported.description,
            // The random traits may contradict each other.
            Err(Refusal::Invalid(_)) => {
                refused += 1;
                continue;
            }
            Err(refusal) => panic!("{refusal}\n{written}"),
        };
        imported += 1;
        assert_eq!(errors(&description), "", "seed {seed}\n{written}\n{description}");
        let checked = krator::check("krator.yaml", description.as_bytes());
        let again = checked.sound().expect("it has no errors");
        let kind = crd["spec"]["names"]["kind"].as_str().expect("a kind");
        let (is, was) = (spec_of(&manifest(again), kind), spec_of(&written, kind));
        assert_eq!(meant(&is), meant(&was), "seed {seed}\n{written}\n{description}");
    }
    assert!(imported > refused, "{imported} imported, {refused} refused");
}

#[test]
fn real_crds_have_descriptions_without_errors() {
    let Some(folder) = std::env::var_os("KRATOR_CRDS") else {
        return;
    };
    let mut folders = vec![std::path::PathBuf::from(folder)];
    let mut wrong = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("KRATOR_CRDS is a folder") {
            let path = entry.expect("KRATOR_CRDS can be read").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let kinds = match import(&text, None) {
                Err(Refusal::SeveralKinds(kinds)) => kinds,
                // Some files of such folders are templates.
                Err(Refusal::NotYaml(_) | Refusal::NoDefinition) => continue,
                _ => vec![String::new()],
            };
            for kind in &kinds {
                let kind = Some(kind.as_str()).filter(|kind| !kind.is_empty());
                let name = format!("{} {}", path.display(), kind.unwrap_or_default());
                match import(&text, kind) {
                    Ok(imported) => match errors(&imported.description) {
                        errors if errors.is_empty() => println!("{name}: imported"),
                        errors => wrong.push(format!("{name}: {errors}")),
                    },
                    Err(refusal) => println!("{name}: {refusal}"),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
