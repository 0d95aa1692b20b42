//! Descriptions that an early krator accepted and the API server refused, each with the API server's error in its first
//! line: `testdata/found/refused/`.

use crate::case_file::entries;
use std::fs;

/// Rules that predict refusals of a schema. Costs are a warning, because they are an estimate.
const RULES: [&str; 3] = ["invalid-schema", "invalid-rule", "costly-rule"];

#[test]
fn what_the_api_server_refuses_has_a_finding_at_its_place() {
    let mut missed = Vec::new();
    let mut count = 0;
    for path in entries("found/refused") {
        let bytes = fs::read(&path).expect("a readable case");
        let checked = krator::check("krator.yaml", &bytes);
        count += 1;
        let place = |offset| checked.source.position(offset).line;
        let is_found = checked.findings.iter().any(|finding| {
            // The first lines contain the API server's error and the names of the resource.
            RULES.contains(&finding.rule.name) && place(finding.span.start) > 1
        });
        if !is_found {
            let findings: Vec<_> = checked.findings.iter().map(|finding| &finding.message).collect();
            missed.push(format!("{}: {findings:?}", path.display()));
        }
    }
    assert!(count > 30, "only {count} cases");
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
