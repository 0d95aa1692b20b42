//! `krator import`: descriptions from CRDs, and what it says that they leave out.
//!
//! A case is a folder of `testdata/import/` with a `crd.yaml`; `expected.yaml` is the description and `unsaid.txt` what it
//! cannot say. `KRATOR_UPDATE=1 cargo test` rewrites the two.

use crate::case_file::{entries, expect_file};
use crate::descriptions::cases;
use crate::yaml::documents;
use krator::catalog::Severity;
use krator::finding::{Style, to_text};
use krator::import::import;
use serde_json::Value;
use std::fs;

#[test]
fn each_case_has_its_description_and_what_it_leaves_out() {
    let mut differ = Vec::new();
    for case in entries("import") {
        let text = fs::read_to_string(case.join("crd.yaml")).expect("a case has a CRD");
        let (description, unsaid) = match import(&text, None) {
            Ok(imported) => {
                let unsaid: Vec<String> = imported.unsaid.iter().map(|it| format!("{it}\n")).collect();
                (imported.description, unsaid.concat())
            }
            Err(refusal) => (String::new(), format!("{refusal}\n")),
        };
        expect_file(&case.join("expected.yaml"), &description, &mut differ);
        expect_file(&case.join("unsaid.txt"), &unsaid, &mut differ);
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

/// The schema with required fields in the order of their names, which means nothing.
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

/// What krator generates is a CRD, too, and a description of it says all of it.
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
