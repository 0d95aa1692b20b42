//! Tests of the lineage of states and kinds.

use super::*;
use crate::model::lower;
use crate::spec;

/// A description of one kind `Thing` for each list of states; a state is `Name`, or `Name: {...}`.
fn described(kinds: &[(&str, &[&str])]) -> Description {
    let documents = kinds.iter().map(|(kind, states)| {
        let initial = states[0].split(':').next().unwrap_or_default();
        let states: String = states
            .iter()
            .map(|state| match state.contains(": ") {
                true => format!("  {state}\n"),
                false => format!("  {state}: {{next: [{initial}]}}\n"),
            })
            .collect();
        format!(
            "krator: 1\nresource: {{group: example.com, version: v1, kind: {kind}}}\nmachine: {{initial: {initial}}}\nstates:\n{states}"
        )
    });
    let text = documents.collect::<Vec<_>>().join("---\n");
    let (source, _) = spec::source_of("krator.yaml", text.as_bytes());
    let (documents, _) = spec::parse(&source);
    let (description, _) = lower(&source, &documents, &spec::Files::default());
    description.expect("a description that can be read")
}

/// The result for each former state: `A-B` if it became `B`, `A>B` if it was merged into `B`, `A!` if it was removed;
/// and `A-B?C` if its stored objects continue in the wrong state `C`.
fn became(old: &[&str], new: &[&str]) -> String {
    let (old, new) = (described(&[("Thing", old)]), described(&[("Thing", new)]));
    let lineage = Lineage::between(&old, &new);
    let lineage = &lineage.kinds()[0];
    let name = |id: StateId| new.kinds[0].state(id).name.to_string();
    let all = old.kinds[0].state_ids().map(|(id, state)| {
        let then = state.name.as_str();
        let now = match (lineage.became(id), lineage.successor(id)) {
            (Some(now), _) => format!("{then}-{}", name(now)),
            (None, Some(now)) => format!("{then}>{}", name(now)),
            (None, None) => format!("{then}!"),
        };
        match lineage
            .resumes(id)
            .filter(|at| lineage.successor(id) != Some(*at))
        {
            Some(wrong) => format!("{now}?{}", name(wrong)),
            None => now,
        }
    });
    all.collect::<Vec<_>>().join(" ")
}

#[test]
fn names_change_one_by_one_in_chains_and_in_circles() {
    assert_eq!(became(&["A", "B"], &["A", "D: {renamedFrom: B}"]), "A-A B-D");
    assert_eq!(
        became(
            &["A", "B", "C"],
            &["B: {renamedFrom: A}", "D: {renamedFrom: B}", "C"]
        ),
        "A-B B-D?B C-C"
    );
    assert_eq!(
        became(&["A", "B"], &["A: {renamedFrom: B}", "B: {renamedFrom: A}"]),
        "A-B?A B-A?B"
    );
    assert_eq!(
        became(
            &["A", "B", "C"],
            &[
                "A: {renamedFrom: C}",
                "B: {renamedFrom: A}",
                "C: {renamedFrom: B}"
            ]
        ),
        "A-B?A B-C?B C-A?C"
    );
}

#[test]
fn a_name_that_is_still_there_cannot_be_claimed() {
    assert_eq!(became(&["A", "B"], &["A", "B", "D: {renamedFrom: B}"]), "A-A B-B");
    // A chain whose first link is refuted.
    assert_eq!(
        became(&["A", "B"], &["A", "B: {renamedFrom: A}", "D: {renamedFrom: B}"]),
        "A-A B-B"
    );
    assert_eq!(became(&["A"], &["A: {renamedFrom: A}"]), "A-A");
}

#[test]
fn the_first_of_several_claims_holds() {
    assert_eq!(
        became(&["A", "B"], &["C: {renamedFrom: B}", "D: {renamedFrom: [B, A]}"]),
        "A-D B-C"
    );
    assert_eq!(became(&["A", "B"], &["C: {renamedFrom: [A, B]}"]), "A-C B>C");
}

#[test]
fn former_names_of_before_the_edit_are_history() {
    let then = ["A", "B: {renamedFrom: A}", "D: {renamedFrom: B}"];
    assert_eq!(became(&then, &then), "A-A B-B D-D");
    assert_eq!(
        became(&then, &["A", "C: {renamedFrom: B}", "D: {renamedFrom: B}"]),
        "A-A B-C D-D"
    );
    // The swap is only possible with the former claim of `B`.
    assert_eq!(
        became(
            &["A", "B: {renamedFrom: A}"],
            &["A: {renamedFrom: B}", "B: {renamedFrom: A}"]
        ),
        "A-B?A B-A?B"
    );
}

#[test]
fn a_name_that_went_is_given_to_the_state_that_agrees_with_its_definition() {
    let old = ["A: {next: [C], wait: {poll: 5s}}", "B: {next: [C]}", "C"];
    let renamed = ["B: {renamedFrom: A, next: [C], wait: {poll: 5s}}", "C"];
    assert_eq!(became(&old, &renamed), "A-B B!?B C-C");
    let merged = ["B: {renamedFrom: A, next: [C]}", "C"];
    assert_eq!(became(&old, &merged), "A>B B-B C-C");
    // No property distinguishes them, so the key is taken literally.
    assert_eq!(
        became(&["C", "A", "B"], &["C", "B: {renamedFrom: A}"]),
        "C-C A-B B!?B"
    );
}

#[test]
fn kinds_are_matched_by_name_and_those_that_are_left_by_what_they_have() {
    let pairs = |old: &[(&str, &[&str])], new: &[(&str, &[&str])]| -> Vec<(usize, usize)> {
        let lineage = Lineage::between(&described(old), &described(new));
        lineage
            .kinds()
            .iter()
            .map(|kind| (kind.former.0, kind.now.0))
            .collect()
    };
    let door = ("Door", &["Open", "Shut"][..]);
    let lamp = ("Lamp", &["On", "Off"][..]);
    let gate = ("Gate", &["Open", "Closed: {renamedFrom: Shut}"][..]);
    let light = ("Light", &["On", "Off"][..]);
    assert_eq!(pairs(&[door, lamp], &[gate, lamp]), [(0, 0), (1, 1)]);
    assert_eq!(pairs(&[door, lamp], &[light, gate]), [(1, 0), (0, 1)]);
    assert_eq!(pairs(&[door], &[light]), [(0, 0)], "the last one on each side");
    assert_eq!(pairs(&[door, lamp], &[gate]), [(0, 0)]);
    assert_eq!(pairs(&[door, lamp], &[("Wall", &["Up"]), ("Fence", &["Up"])]), []);
}

#[test]
fn a_rename_goes_on_from_the_first_name_or_is_taken_back() {
    let once = ["A", "C: {renamedFrom: B}"];
    assert_eq!(became(&once, &["A", "D: {renamedFrom: B}"]), "A-A C-D");
    assert_eq!(became(&once, &["A", "D: {renamedFrom: [B, C]}"]), "A-A C-D");
    assert_eq!(became(&once, &["A", "B"]), "A-A C-B");
    // The state of the later name still exists.
    assert_eq!(became(&once, &["A", "C", "D: {renamedFrom: B}"]), "A-A C-C");
    assert_eq!(became(&once, &["A", "B", "C: {renamedFrom: B}"]), "A-A C-C");
    let circle = ["A: {renamedFrom: B}", "B: {renamedFrom: A}"];
    assert_eq!(became(&circle, &["A", "B"]), "A-A B-B");
    assert_eq!(became(&circle, &["B", "C: {renamedFrom: A}"]), "A-C B-B");
}
