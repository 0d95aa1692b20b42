//! Tests of the rules on small crates.

use super::{Code, InFile, findings};
use crate::render::{self, Runtime};
use std::collections::BTreeMap;

const MOOSE: &str = "
krator: 1
resource: {group: animals.com, version: v1, kind: Moose, plural: moose}
spec: {height: number, mood: {enum: [calm, wild]}}
status: {seen: integer}
machine: {initial: Roam}
states:
  Roam: {next: [Eat], wait: {poll: 2s}}
  Eat: {next: [Roam, Sleep]}
  Sleep: {kind: ready, next: [Roam]}
";

/// The findings for a handler of `Eat` with this body, as the names of their rules and their lines in the file.
fn of_body(body: &str) -> Vec<String> {
    of(&format!(
        "use super::{{Eat, Roam, Sleep}};\nuse crate::moose::prelude::*;\nimpl State for Eat {{\n\
         async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {{\n{body}\n}}\n}}\n"
    ))
}

/// The findings for this text as the file with the handler of `Eat`.
fn of(eat: &str) -> Vec<String> {
    let checked = crate::check("krator.yaml", MOOSE.as_bytes());
    let description = checked.sound().expect("a good description");
    let plan = render::plan(description, &checked.source, &Runtime::Path("runtime".into()));
    let files = plan.files().filter(|(path, _)| path.ends_with(".rs"));
    let mut written: BTreeMap<String, String> = files
        .filter(|(_, file)| file.ownership != crate::plan::Ownership::Generated)
        .map(|(path, file)| (path.to_owned(), file.contents.clone()))
        .collect();
    written.insert("src/moose/states/eat.rs".to_owned(), eat.to_owned());
    let found = findings(&Code::new(description, &checked.source, &plan, &written));
    let of_file = |file: &InFile| file.source.name() == "src/moose/states/eat.rs";
    let reported = found.iter().filter(|file| of_file(file)).flat_map(|file| {
        let line = |finding: &crate::finding::Finding| file.source.position(finding.span.start).line;
        file.findings
            .iter()
            .map(move |finding| format!("{}:{}", finding.rule.name, line(finding)))
    });
    reported.collect()
}

#[test]
fn edges_are_found_in_known_macros() {
    let select = "tokio::select! {\n\
                  _ = std::future::ready(()) => Ok(Transition::to(Sleep)),\n\
                  _ = std::future::pending::<()>() => Ok(Transition::to(Eat)),\n\
                  _ = other() => { return Ok(Transition::stay()); }\n}";
    assert_eq!(of_body(select), ["edge-never-taken:3"]);
}

#[test]
fn edges_that_may_be_hidden_are_not_reported() {
    for body in [
        "let to = Sleep; Ok(Transition::to(to))",
        "Ok([Sleep].map(Transition::to).into_iter().next().unwrap())",
        "unknown!(Transition::to(Sleep))",
        "include!(\"answer.rs\")",
    ] {
        assert!(of_body(body).is_empty(), "{body}: {:?}", of_body(body));
    }
}

#[test]
fn a_file_that_cannot_be_parsed_is_left_to_the_compiler() {
    assert!(of("impl State for Eat {").is_empty());
    assert!(of("").is_empty());
}

#[test]
fn locations_include_the_byte_order_mark_and_the_shebang() {
    let text = "\u{feff}#!/usr/bin/env run\n// ä\nfn f(_: kube::Api<k8s_openapi::api::core::v1::Pod>) {}\n";
    assert_eq!(of(text), ["unnamed-client:3"]);
}

#[test]
fn cyclic_imports_and_aliases_terminate() {
    let round = "pub mod a { pub use super::b::*; pub type A = super::b::B; }\n\
                 pub mod b { pub use super::a::*; pub type B = super::a::A; }\n\
                 type Own = Own;\n\
                 fn f(_: a::Nothing, _: Own, x: a::A) { let _ = x.spec.height; Own::new(); }\n";
    assert!(of(round).is_empty(), "{:?}", of(round));
}
