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
  Eat: {checkpoint: false, next: [Roam, Sleep]}
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
    of_file(MOOSE, "src/moose/states/eat.rs", eat)
}

/// The findings for a file of the crate of this description, as the names of their rules and their lines.
fn of_file(description: &str, path: &str, text: &str) -> Vec<String> {
    let checked = crate::check("krator.yaml", description.as_bytes());
    let description = checked.sound().expect("a good description");
    let plan = render::plan(description, &checked.source, &Runtime::Path("runtime".into()));
    let files = plan.files().filter(|(path, _)| path.ends_with(".rs"));
    let mut written: BTreeMap<String, String> = files
        .filter(|(_, file)| file.ownership != crate::plan::Ownership::Generated)
        .map(|(path, file)| (path.to_owned(), file.contents.clone()))
        .collect();
    written.insert(path.to_owned(), text.to_owned());
    let found = findings(&Code::new(description, &checked.source, &plan, &written));
    let of_file = |file: &InFile| file.source.name() == path;
    let reported = found.iter().filter(|file| of_file(file)).flat_map(|file| {
        let line = |finding: &crate::finding::Finding| file.source.position(finding.span.start).line;
        file.findings
            .iter()
            .map(move |finding| format!("{}:{}", finding.rule.name, line(finding)))
    });
    reported.collect()
}

const WEBHOOK: &str = "webhooks: {validate: {}}";

/// The findings for a webhook of moose with this body, as the names of their rules. `described` is added to the
/// description.
fn of_webhook(described: &str, body: &str) -> Vec<String> {
    let description = format!("{MOOSE}{described}\n");
    let text = format!(
        "use super::prelude::*;\nuse krator_runtime::{{Review, Validate, Verdict}};\nimpl Validate for Moose {{\n\
         async fn validate(review: &Review<'_, Self>) -> Verdict {{\n{body}\n}}\n}}\n"
    );
    let found = of_file(&description, "src/moose/admission.rs", &text);
    found
        .iter()
        .filter_map(|found| found.split(':').next().map(str::to_owned))
        .collect()
}

#[test]
fn webhooks_that_judge_the_object_alone_are_reported() {
    for body in [
        "if review.object.spec.height > 3.0 { Verdict::deny(\"tall\") } else { Verdict::allow() }",
        "match &review.object.metadata.name { Some(name) if name.contains(\"George\") => Verdict::deny(\"no\"), _ => Verdict::allow() }",
        "let is_calm = matches!(review.object.spec.mood, SpecMood::Calm); is_calm.then(|| Verdict::deny(\"\")).into_iter().collect()",
    ] {
        assert_eq!(of_webhook(WEBHOOK, body), ["rule-instead-of-webhook"], "{body}");
    }
}

#[test]
fn webhooks_that_may_see_more_are_not_reported() {
    let tall = "if review.object.spec.height > 3.0 { return Verdict::deny(\"tall\") }";
    for body in [
        "Verdict::allow()",
        "if review.user.username.is_some() { Verdict::deny(\"you\") } else { Verdict::allow() }",
        "if review.dry_run { Verdict::deny(\"\") } else { Verdict::allow() }",
        "if review.object.metadata.labels.is_none() { Verdict::deny(\"\") } else { Verdict::allow() }",
        &format!("{tall} Verdict::allow().warn(\"soon\")"),
        &format!("{tall} match review.shared().height {{ 0 => Verdict::deny(\"\"), _ => Verdict::allow() }}"),
        &format!("{tall} others(review).await"),
        &format!("{tall} judge(&review.object)"),
        &format!("{tall} println!(\"here\"); Verdict::allow()"),
        &format!("{tall} for _ in 0..3 {{}} Verdict::allow()"),
        &format!("{tall} let mut seen = 0; seen += 1; Verdict::allow()"),
        &format!("{tall} if PARK.lock().is_empty() {{ Verdict::deny(\"\") }} else {{ Verdict::allow() }}"),
        &format!("{tall} let review = review; review.judge()"),
        &format!("{tall} let Review {{ user, .. }} = review; Verdict::allow()"),
    ] {
        assert!(
            of_webhook(WEBHOOK, body).is_empty(),
            "{body}: {:?}",
            of_webhook(WEBHOOK, body)
        );
    }
    let deletions = "webhooks: {validate: {operations: [delete], failurePolicy: Ignore}}";
    assert!(of_webhook(deletions, &format!("{tall} Verdict::allow()")).is_empty());
    let allowed = "webhooks: {validate: {}}\nallow: {rule-instead-of-webhook: the message needs a table}";
    assert!(of_webhook(allowed, &format!("{tall} Verdict::allow()")).is_empty());
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
