//! An object for each way of waiting, and its explanation.

use super::*;
use crate::observed::Lookup::{Absent, There};
use krator_machine::engine::{Decision, Engine, Now, Outcome};
use krator_machine::graph::Exit;
use krator_machine::status::MachineStatus;
use serde_json::json;
use std::time::Duration;

const DESCRIPTION: &str = "
krator: 1
operator: zoo
resource: {group: zoo.example.com, version: v1, kind: Moose, plural: moose, shortNames: [mo]}
spec: {secret: string, closes: optional date-time}
owns: [apps/v1.Deployment]
watches: [{kind: core/v1.Secret, by: .spec.secret}]
machine: {initial: Eat, deletion: Leave}
states:
  Eat: {next: [Roam, Rest, Visit, Broken, Night], timeout: {after: 10m, to: Lost}, retry: {limit: 5, initial: 2s, factor: 2, then: Lost}}
  Roam: {next: [Eat], wait: {poll: 30s}, timeout: {after: .spec.closes, to: Rest}}
  Visit: {next: [Eat], wait: {watch: [watched]}}
  Grow: {next: [Rest], wait: {watch: [owned]}}
  Rest: {kind: ready, next: [Grow], wait: {watch: [owned]}}
  Night: {kind: ready, next: [Graze], timeout: {at: {schedule: 0 3 * * *}, to: Graze}}
  Graze: {next: [Night], gate: {during: {schedule: 0 22 * * *, duration: 6h}}}
  Lost: {kind: failed, onSpecChange: Eat}
  Broken: {kind: failed, next: [Eat], wait: {poll: 6m}}
  Leave: {next: [Gone]}
  Gone: {kind: final}
";
const NOW: &str = "2026-06-01T12:00:00Z";
const ENTERED: &str = "2026-06-01T11:55:00Z";

fn facts(state: &str) -> Facts {
    let object = json!({
        "apiVersion": "zoo.example.com/v1",
        "kind": "Moose",
        "metadata": {
            "name": "bullwinkle", "namespace": "default", "uid": "u1", "generation": 1,
            "finalizers": ["zoo.example.com/moose"], "annotations": {},
            "managedFields": [{"subresource": "status", "time": "2026-06-01T11:59:58Z"}],
        },
        "spec": {"secret": "hay"},
        "status": {"state": state, "stateEnteredTime": ENTERED, "observedGeneration": 1, "message": "", "conditions": []},
    });
    let secret = description().kinds[0].watches[0].kind.value.clone();
    let renewed = json!({"spec": {"holderIdentity": "zoo-1_1", "renewTime": NOW}});
    Facts {
        now: NOW.parse().expect("a time"),
        object,
        events: There(json!([])),
        owned: vec![There(json!([]))],
        watched: vec![(secret, "hay".to_owned(), There(json!({})))],
        counted: Absent,
        development: None,
        lease: There(renewed),
        lease_later: None,
    }
}

fn description() -> Description {
    let description = crate::check("krator.yaml", DESCRIPTION.as_bytes()).description;
    description.expect("it has no errors")
}

fn why(facts: &Facts) -> Why {
    let description = description();
    explain(&description, &description.kinds[0], facts)
}

fn deployment(ready: u64) -> Json {
    json!([{
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "barn", "generation": 1,
            "ownerReferences": [{"uid": "u1", "controller": true}],
        },
        "spec": {"replicas": 1},
        "status": {
            "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": ready, "availableReplicas": ready,
            "conditions": [{"type": "Available", "status": if ready > 0 { "True" } else { "False" }}],
        },
    }, {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "of-another", "ownerReferences": [{"uid": "u2", "controller": true}]},
    }])
}

fn stalled(facts: &mut Facts, reason: &str) {
    let message = format!("{reason} in words");
    facts.object["status"]["conditions"] =
        json!([{"type": "Stalled", "status": "True", "reason": reason, "message": message}]);
}

type Change = fn(&mut Facts);
/// The reason, a part of the text, and the due time.
type Expected = (&'static str, &'static str, Option<&'static str>);

/// Each way of waiting: the state of the object, a change of the facts, and the reason, a part of the text and the due
/// time of everything that it waits for.
const WAYS: &[(&str, Change, &[Expected])] = &[
    ("", |_| {}, &[("operator", "no operator has seen it yet", None)]),
    (
        "Roam",
        |_| {},
        &[
            ("timer", "its handler runs again every 30s", None),
            ("watched", "a change of the Secret hay", None),
        ],
    ),
    (
        "Night",
        |_| {},
        &[
            (
                "timeout",
                "a schedule leads from Night to Graze",
                Some("2026-06-02T03:00:00Z"),
            ),
            ("watched", "a change of the Secret hay", None),
        ],
    ),
    (
        "Night",
        |facts| facts.object["status"]["ask"] = json!({"to": "Graze", "since": ENTERED}),
        &[
            (
                "timeout",
                "a schedule leads from Night to Graze",
                Some("2026-06-02T03:00:00Z"),
            ),
            (
                "gate",
                "it has waited for the gate of Graze for 5m",
                Some("2026-06-01T22:00:00Z"),
            ),
            ("watched", "a change of the Secret hay", None),
        ],
    ),
    (
        "Broken",
        |_| {},
        &[
            (
                "timer",
                "its handler runs again every 6m",
                Some("2026-06-01T12:01:00Z"),
            ),
            ("watched", "a change of the Secret hay", None),
            (
                "failed",
                "it stays in Broken until the handler of Broken leads to Eat",
                None,
            ),
        ],
    ),
    (
        "Eat",
        |_| {},
        &[
            (
                "timeout",
                "Eat may last 10m; then the object goes to Lost",
                Some("2026-06-01T12:05:00Z"),
            ),
            (
                "handler",
                "the handler of Eat, which is running or about to run",
                None,
            ),
        ],
    ),
    (
        "Eat",
        |facts| {
            facts.object["status"]["attempts"] = 3.into();
            facts.object["status"]["message"] = "no grass".into();
        },
        &[
            ("timeout", "Eat may last 10m", Some("2026-06-01T12:05:00Z")),
            (
                "retry",
                "has failed 3 times in a row and is retried 8s after the last failure, 3 more times at most, and goes to Lost then",
                Some("2026-06-01T12:00:06Z"),
            ),
        ],
    ),
    (
        "Grow",
        |facts| facts.owned = vec![There(deployment(0))],
        &[("child", "its Deployment barn is not ready", None)],
    ),
    (
        "Visit",
        |facts| facts.watched[0].2 = Absent,
        &[("watched", "the Secret hay, which does not exist", None)],
    ),
    (
        "Rest",
        |facts| facts.owned = vec![There(deployment(1))],
        &[(
            "nothing",
            "it is as its spec requests, and stays in Rest until its spec changes",
            None,
        )],
    ),
    (
        "Roam",
        |facts| facts.object["metadata"]["annotations"]["zoo.example.com/paused"] = "true".into(),
        &[(
            "pause",
            "kubectl annotate moose bullwinkle -n default zoo.example.com/paused-",
            None,
        )],
    ),
    (
        "Lost",
        |facts| {
            facts.events = There(json!([
                {"action": "Transition", "reason": "Eat", "message": "entered Eat", "eventTime": "2026-06-01T11:40:00.000000Z"},
                {
                    "action": "Transition", "reason": "RetriesExhausted", "message": "entered Lost from Eat: gave up after 6 failures",
                    "type": "Warning", "eventTime": "2026-06-01T11:55:00.000000Z",
                },
            ]));
        },
        &[(
            "exhausted",
            "it stays in Lost until its spec changes, when it goes to Eat",
            None,
        )],
    ),
    (
        "Eat",
        |facts| stalled(facts, "NotWritten"),
        &[
            ("timeout", "Eat may last 10m", Some("2026-06-01T12:05:00Z")),
            (
                "notWritten",
                "the handler of Eat is not written: src/moose/states/eat.rs",
                None,
            ),
        ],
    ),
    (
        "Leave",
        |facts| {
            let metadata = &mut facts.object["metadata"];
            metadata["deletionTimestamp"] = NOW.into();
            metadata["finalizers"] = json!(["zoo.example.com/moose", "vet.example.com/checked"]);
        },
        &[
            (
                "finalizers",
                "other finalizers hold it: vet.example.com/checked",
                None,
            ),
            ("deletionPath", "until the end of its deletion path", None),
            (
                "handler",
                "the handler of Leave, which is running or about to run",
                None,
            ),
        ],
    ),
    (
        "Gone",
        |facts| {
            let metadata = &mut facts.object["metadata"];
            metadata["deletionTimestamp"] = NOW.into();
            metadata["finalizers"] = json!(["foregroundDeletion"]);
            facts.owned = vec![There(deployment(1))];
        },
        &[
            (
                "childrenDeletion",
                "the garbage collector deletes its children first: Deployment barn",
                None,
            ),
            ("end", "the operator, which is about to end it", None),
        ],
    ),
    (
        "Swim",
        |facts| stalled(facts, "UnknownState"),
        &[("unknownState", "krator.yaml has no state Swim", None)],
    ),
    (
        "Roam",
        |facts| stalled(facts, "Undecodable"),
        &[("undecodable", "Undecodable in words", None)],
    ),
    (
        "Roam",
        |facts| facts.object["metadata"]["annotations"]["zoo.example.com/requestedAt"] = "now".into(),
        &[
            (
                "request",
                "because of the annotation zoo.example.com/requestedAt",
                None,
            ),
            ("timer", "every 30s", None),
            ("watched", "a change of the Secret hay", None),
        ],
    ),
    (
        "Rest",
        |facts| facts.object["metadata"]["generation"] = 2.into(),
        &[
            (
                "specChange",
                "has still to process generation 2 of the spec",
                None,
            ),
            ("nothing", "it is as its spec requests", None),
        ],
    ),
    (
        "Roam",
        |facts| facts.lease = There(json!({"spec": {"holderIdentity": "zoo-1_1", "renewTime": ENTERED}})),
        &[
            (
                "leader",
                "no pod of the operator zoo is active: zoo-1_1 renewed its Lease last, 5m ago",
                None,
            ),
            ("timer", "every 30s", None),
            ("watched", "a change of the Secret hay", None),
        ],
    ),
];

#[test]
fn each_way_of_waiting_is_told() {
    for (state, change, expected) in WAYS {
        let mut facts = facts(state);
        change(&mut facts);
        let why = why(&facts);
        let told = why.to_text();
        let reasons: Vec<&str> = why.waits.iter().map(|waiting| waiting.reason).collect();
        let wanted: Vec<&str> = expected.iter().map(|(reason, ..)| *reason).collect();
        assert_eq!(reasons, wanted, "{told}");
        for (waiting, (_, text, due)) in why.waits.iter().zip(*expected) {
            assert!(waiting.text.contains(text), "{text}:\n{told}");
            let shown = waiting.due.map(|due| due.to_string());
            assert_eq!(shown.as_deref(), *due, "{told}");
        }
    }
}

/// Each state, entered at some time, with a time in a field that is past or is not, and that has fired before or has
/// not.
#[test]
fn what_is_due_and_when_is_what_an_operator_decides() {
    let description = description();
    let kind = &description.kinds[0];
    let now: Timestamp = NOW.parse().expect("a time");
    let after = |seconds: i64| now + jiff::SignedDuration::from_secs(seconds);
    let mut due = 0;
    for state in ["Roam", "Eat", "Broken", "Lost", "Night", "Rest"] {
        for (entered, closes, has_fired) in (0..160).map(|n| (n % 20 * -47, n / 20 % 4, n / 80 == 1)) {
            let mut facts = facts(state);
            let (entered, closes) = (after(entered), after([-3600, -300, 0, 300][closes as usize]));
            facts.object["spec"]["closes"] = closes.to_string().into();
            let status = &mut facts.object["status"];
            status["stateEnteredTime"] = entered.to_string().into();
            if has_fired {
                status["firedTimeouts"] = json!([{"state": state, "at": closes.to_string()}]);
            }
            let why = explain(&description, kind, &facts);
            let told = why.to_text();
            let due_of = |reasons: &[&str]| {
                let waits = why.waits.iter().filter(|wait| reasons.contains(&wait.reason));
                waits.filter_map(|wait| wait.due).min()
            };
            let stored: MachineStatus =
                serde_json::from_value(facts.object["status"].clone()).expect("a status");
            let decision = crate::machine::with_graph(kind, |graph| {
                let at = |time: Timestamp| Now {
                    elapsed: Duration::try_from(time.duration_since(entered)).unwrap_or_default(),
                    time,
                    random: 0,
                    leader: 0,
                };
                let values = crate::machine::field_values(kind, &facts.object);
                let mut engine = Engine::new(graph, Some(&stored), 1, values, at(entered));
                // Its handler chose to stay when the object had entered the state.
                engine.begin();
                engine.ended(Outcome::Exit(Exit::Stay), at(entered));
                engine.decide(at(now))
            });
            let timeout = due_of(&["timeout"]);
            let is_over = timeout.is_some_and(|timeout| timeout <= now);
            assert_eq!(decision == Decision::Entered, is_over, "{told}");
            if let Decision::Wait(next) = decision {
                let next = next.map(|next| entered + jiff::SignedDuration::try_from(next).expect("short"));
                assert_eq!(next, due_of(&["timeout", "timer"]), "{told}");
            }
            due += usize::from(is_over);
        }
    }
    assert!(due > 50, "{due}");
}

#[test]
fn an_explanation_has_the_state_the_error_the_children_and_the_last_events() {
    let mut facts = facts("Eat");
    facts.object["status"]["attempts"] = 1.into();
    facts.object["status"]["message"] = "no grass".into();
    facts.owned = vec![There(deployment(0))];
    facts.events = There(json!([{
        "action": "Transition", "reason": "Eat", "message": "entered Eat from Roam", "type": "Normal",
        "eventTime": "2026-06-01T11:00:00.000000Z",
        "series": {"count": 3, "lastObservedTime": "2026-06-01T11:55:00.000000Z"},
    }]));
    assert_eq!(
        why(&facts).to_text(),
        "Moose default/bullwinkle is in Eat for 5m, since 2026-06-01T11:55:00Z\n  \
           no grass\n\
         \n\
         it waits for\n  \
           Eat may last 10m; then the object goes to Lost (due 2026-06-01T12:05:00Z, in 5m)\n  \
           its handler has failed once and is retried 2s after the last failure, 5 more times at most, and goes to Lost then \
           (due 2026-06-01T12:00:00Z, 0s ago)\n\
         \n\
         last error (attempt 1)\n  \
           no grass\n\
         \n\
         children\n  \
           Deployment barn: InProgress: Available: 0/1\n\
         \n\
         last events\n  \
           5m ago  Eat  entered Eat from Roam (3 times)\n"
    );
}

#[test]
fn a_kind_has_the_names_that_kubectl_takes() {
    let description = description();
    for name in ["Moose", "moose", "mo", "moose.zoo.example.com"] {
        assert!(kind_named(&description, name).is_some(), "{name}");
    }
    assert!(kind_named(&description, "elk").is_none());
}

mod limits;
