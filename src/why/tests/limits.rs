//! The texts about limits.

use super::*;

#[test]
fn who_waits_for_a_limit_is_told_who_has_the_places() {
    let description = crate::check(
        "krator.yaml",
        b"{krator: 1, resource: {group: zoo.example.com, version: v1, kind: Elk}, spec: {park: string}, machine: {initial: Rest}, \
          limits: [{name: doctors, states: [Treated], atMost: 9}, {name: stable, states: [Treated], atMost: 1, per: .spec.park}], \
          states: {Rest: {kind: ready, next: [Treated]}, Treated: {next: [Rest], wait: {}, timeout: {after: 1h, to: Rest}}}}",
    );
    let description = description.sound().expect("a good description");
    let elk = |name: &str, state: &str, park: &str| json!({"metadata": {"name": name, "namespace": "zoo"}, "spec": {"park": park}, "status": {"state": state}});
    let mut facts = facts("Rest");
    facts.object["spec"] = json!({"park": "north"});
    facts.object["status"]["ask"] = json!({"to": "Treated", "since": ENTERED, "leader": "1"});
    let mut all: Vec<Json> = (0..7)
        .map(|number| elk(&format!("elk-{number}"), "Treated", "south"))
        .collect();
    all.extend([elk("a", "Treated", "north"), elk("b", "Rest", "north")]);
    facts.counted = There(all.into());
    let why = explain(description, &description.kinds[0], &facts);
    let gate = why
        .waits
        .iter()
        .find(|waiting| waiting.reason == "gate")
        .expect("it waits");
    assert_eq!(
        gate.text,
        "it has waited for the gate of Treated for 5m: the limit doctors allows 9 (now zoo/elk-0, zoo/elk-1, zoo/elk-2, zoo/elk-3, \
         zoo/elk-4, and 3 more), and the limit stable allows 1 (now zoo/a); the objects that have been in their state longest go first"
    );
}
