//! Whether a CRD is accepted: `krator check` compared with the API server.

use super::api::{Cause, Judge, Verdict};
use super::{count, dice};
use crate::cluster::{self, say};
use crate::dice::Dice;
use crate::random_description::{Documents, Size, mutate};
use krator::catalog::Severity;
use krator::finding::Finding;
use kube::api::ApiResource;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The number of descriptions, each with its mutants, per batch.
const BATCH: u64 = 100;

/// The rules that predict refusals of a schema.
const SCHEMA_RULES: [&str; 2] = ["invalid-schema", "invalid-rule"];

/// A description whose CRDs can be generated, and the findings of `krator check`.
struct Try {
    text: String,
    definitions: Vec<Value>,
    findings: Vec<Finding>,
}

impl Try {
    /// None if the mistakes of the description prevent a CRD.
    fn of(text: String) -> Option<Try> {
        let checked = krator::check("krator.yaml", text.as_bytes());
        let is_comparable = |finding: &Finding| {
            finding.rule.severity != Severity::Error || SCHEMA_RULES.contains(&finding.rule.name)
        };
        let description = checked.description.as_ref()?;
        if !checked.is_complete || !checked.findings.iter().all(is_comparable) {
            return None;
        }
        Some(Try {
            definitions: krator::render::crd::crd(description),
            findings: checked.findings,
            text,
        })
    }

    fn has(&self, rule: &str) -> bool {
        self.findings.iter().any(|finding| finding.rule.name == rule)
    }
}

/// A random description and mutants of it, each with one more change, as far as their CRDs can be generated.
fn draw(dice: &mut Dice) -> Vec<Try> {
    let mut documents = Documents::random(dice, Size::SMALL);
    let Some(base) = Try::of(documents.text()) else {
        return Vec::new();
    };
    let mut drawn = vec![base];
    for _ in 0..dice.below(12) {
        let mut changed = documents.clone();
        if mutate(&mut changed, dice).is_some()
            && let Some(mutant) = Try::of(changed.text())
        {
            documents = changed;
            drawn.push(mutant);
        }
    }
    drawn
}

/// Why the API server refuses a CRD, by descending priority in this test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// A reason other than a CEL rule.
    Schema,
    /// A CEL rule that does not compile.
    Rule,
    /// A CEL rule that may cost too much.
    Cost,
}

impl Reason {
    fn of(cause: &Cause) -> Reason {
        let is_about = |words: &[&str]| words.iter().any(|words| cause.message.contains(words));
        let is_cost = is_about(&["estimated rule cost", "estimated messageExpression cost"]);
        let is_rule = cause.field.contains("x-kubernetes-validations")
            || is_about(&["failed rule", "rule compile", "evaluating rule", "for rule:"])
            // A default that violates a rule is refused with the message of the rule, which is one of the random
            // messages.
            || is_about(&["Invalid value: fine", ": fine", "it breaks "]);
        if !is_rule && !is_cost {
            Reason::Schema
        } else if is_cost {
            Reason::Cost
        } else {
            Reason::Rule
        }
    }
}

#[derive(Default)]
struct Tally {
    counts: BTreeMap<&'static str, u64>,
    disagreements: Vec<String>,
    /// The server's errors about rules that krator refuses too, without duplicates: mutants of a description share
    /// their rules.
    found: BTreeSet<String>,
    /// The server's errors about rules that krator accepts.
    missed: BTreeSet<String>,
}

/// The server's errors about rules.
fn rules(verdicts: &[Verdict]) -> impl Iterator<Item = String> {
    let causes = verdicts
        .iter()
        .filter_map(|verdict| verdict.as_ref().err())
        .flatten();
    causes
        .filter(|cause| Reason::of(cause) == Reason::Rule)
        .map(|cause| cause.message.clone())
}

impl Tally {
    fn add(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn get(&self, what: &str) -> u64 {
        self.counts.get(what).copied().unwrap_or_default()
    }

    fn disagree(&mut self, why: &str, attempt: &Try, verdict: &[Verdict]) {
        let refusals: Vec<&Vec<Cause>> = verdict
            .iter()
            .filter_map(|verdict| verdict.as_ref().err())
            .collect();
        let ours: Vec<String> = attempt
            .findings
            .iter()
            .filter(|finding| SCHEMA_RULES.contains(&finding.rule.name))
            .map(|finding| format!("{}: {}", finding.rule.name, finding.message))
            .collect();
        self.disagreements.push(format!(
            "{why}\nserver: {refusals:#?}\nkrator: {ours:#?}\n{}",
            attempt.text
        ));
    }

    fn judge(&mut self, attempt: &Try, verdicts: &[Verdict]) {
        let causes = verdicts
            .iter()
            .filter_map(|verdict| verdict.as_ref().err())
            .flatten();
        let reason = causes.map(Reason::of).min();
        self.add("compared");
        let refuses_schema = attempt.has("invalid-schema");
        let refuses_rule = attempt.has("invalid-rule");
        match reason {
            None => self.add("accepted by the server"),
            Some(Reason::Schema) => self.add("refused for their schema"),
            Some(Reason::Rule) => self.add("refused for a rule"),
            Some(Reason::Cost) => self.add("refused for costs"),
        }
        match reason {
            None | Some(Reason::Cost) if refuses_schema => {
                self.disagree("only krator refuses this schema", attempt, verdicts)
            }
            None | Some(Reason::Cost) if refuses_rule => {
                self.disagree("only krator refuses this rule", attempt, verdicts)
            }
            None if attempt.has("costly-rule") => self.add("false alarms about costs"),
            Some(Reason::Cost) if attempt.has("costly-rule") => self.add("costs found"),
            Some(Reason::Schema) if !refuses_schema => {
                self.disagree("only the server refuses this schema", attempt, verdicts)
            }
            Some(Reason::Rule) if refuses_rule || refuses_schema => self.found.extend(rules(verdicts)),
            Some(Reason::Rule) => self.missed.extend(rules(verdicts)),
            _ => {}
        }
    }
}

#[test]
fn check_and_the_api_server_agree() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let judge = runtime.block_on(Judge::of(cluster));
    let resource = ApiResource {
        group: "apiextensions.k8s.io".to_owned(),
        version: "v1".to_owned(),
        api_version: "apiextensions.k8s.io/v1".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        plural: "customresourcedefinitions".to_owned(),
    };
    let mut tally = Tally::default();
    let (mut tried, mut next) = (0, 0);
    while tally.get("compared") < count() {
        let mut batch = Vec::new();
        for _ in 0..BATCH {
            tried += 1;
            next += 1;
            let mut dice = dice(next);
            batch.extend(draw(&mut dice));
        }
        let definitions: Vec<Value> = batch
            .iter()
            .flat_map(|attempt| attempt.definitions.clone())
            .collect();
        let mut verdicts = runtime
            .block_on(judge.verdicts(&resource, &definitions))
            .into_iter();
        for attempt in &batch {
            let of_attempt: Vec<Verdict> = verdicts.by_ref().take(attempt.definitions.len()).collect();
            tally.judge(attempt, &of_attempt);
        }
    }
    tally.counts.insert("tried", tried);
    say(&format!("{:#?}", tally.counts));
    let disagreements = tally.disagreements.len();
    tally.disagreements.truncate(5);
    assert_eq!(disagreements, 0, "{}", tally.disagreements.join("\n\n"));
    let refused = tally.get("compared") - tally.get("accepted by the server");
    let share = refused * 100 / tally.get("compared");
    assert!((30..=70).contains(&share), "{share} % of the mutants are refused");
    let (found, missed) = (tally.found.len(), tally.missed.len());
    say(&format!(
        "{found} rules that do not compile are found, {missed} are not"
    ));
    assert!(
        found * 100 >= (found + missed) * 95,
        "not found: {:#?}",
        tally.missed
    );
}
