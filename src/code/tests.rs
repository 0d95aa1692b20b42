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
    let found = findings(&Code::new(description, &checked.source, &plan, &written), None);
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
    let reported = of_body(select);
    assert_eq!(
        reported,
        ["edge-never-taken:3", "edge-not-in-graph:7", "stay-without-wait:8"]
    );
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
fn local_names_hide_generated_ones() {
    let own = "let height = 1; struct Height { heights: u32 }\n\
               let spec = Height { heights: height };\n\
               let _ = spec.heights;\n\
               let moose = cx.manifest();\n\
               let check = |moose: Height| moose.heights;\n\
               let _ = (check(spec), moose.spec.height);\n\
               if cx.first_run() { return Ok(Transition::to(Roam)); }\n\
               Ok(Transition::to(Sleep))";
    assert!(of_body(own).is_empty(), "{:?}", of_body(own));
}

#[test]
fn shadowing_ends_with_its_scope() {
    let own = "{ let cx = (1, 2); let _ = cx.0; }\n\
               for cx in [1] { let _ = cx; }\n\
               cx.api::<k8s_openapi::api::core::v1::Pod>();\n\
               if cx.first_run() { return Ok(Transition::to(Roam)); }\n\
               Ok(Transition::to(Sleep))";
    assert_eq!(of_body(own), ["no-rights:7"]);
}

#[test]
fn a_variable_may_have_the_name_of_a_function() {
    let text = "use k8s_openapi::api::core::v1::Pod;\nuse super::Eat;\nuse crate::moose::prelude::*;\n\
                fn pod() -> serde_json::Value { serde_json::Value::Null }\n\
                async fn run(cx: &Context<'_>) -> Result<()> {\n\
                let pod: Pod = serde_json::from_value(pod())?;\n\
                cx.apply(&pod).await?;\nOk(())\n}\n\
                impl State for Eat {}\n";
    assert!(of(text).contains(&"no-rights:7".to_owned()), "{:?}", of(text));
}

#[test]
fn fields_are_checked_in_literals_and_patterns_only() {
    let own = "let MooseSpec { height, width, .. } = &cx.manifest().spec;\n\
               let _ = (height, width, cx.manifest().spec.depth);\n\
               let _ = MooseSpec { height: 1.0 };\n\
               if cx.first_run() { return Ok(Transition::to(Roam)); }\n\
               Ok(Transition::to(Sleep))";
    assert_eq!(of_body(own), ["field-gone:5", "field-added:7"]);
}

#[test]
fn a_file_that_cannot_be_parsed_is_left_to_the_compiler() {
    assert!(of("impl State for Eat {").is_empty());
    assert!(of("").iter().all(|reported| reported == "handler-missing:1"));
}

#[test]
fn locations_include_the_byte_order_mark_and_the_shebang() {
    let text = "\u{feff}#!/usr/bin/env run\n// ä\nuse super::Graze;\n";
    let reported = of(text);
    assert!(reported.contains(&"name-gone:3".to_owned()), "{reported:?}");
}

#[test]
fn cyclic_imports_and_aliases_terminate() {
    let round = "pub mod a { pub use super::b::*; pub type A = super::b::B; }\n\
                 pub mod b { pub use super::a::*; pub type B = super::a::A; }\n\
                 type Own = Own;\n\
                 fn f(_: a::Nothing, _: Own, x: a::A) { let _ = x.spec.height; Own::new(); }\n";
    let reported = of(round);
    assert!(
        reported
            .iter()
            .all(|reported| reported.starts_with("handler-missing")),
        "{reported:?}"
    );
}
