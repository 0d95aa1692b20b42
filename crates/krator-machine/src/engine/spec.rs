//! Finds the fields of the spec that have changed since the machine last reacted to a change.
use super::{Engine, Policy};
use crate::{
    graph::OnSpecChange,
    spec_digest::{SpecDigest, WHOLE},
    status::MachineStatus,
};
use std::collections::BTreeMap;

type Stored = BTreeMap<String, String>;

/// The digests of the fields whose changes a description tells apart.
#[derive(Clone, Debug)]
pub(super) struct SpecMemory {
    /// The digests of the latest observed generation.
    now: Vec<SpecDigest>,
    /// The digests of the latest generation to which the machine has reacted.
    judged: Stored,
    /// The digests of the generation that the status records as judged: the later one of `observedGeneration`
    /// and the generation at the entry.
    reported: Stored,
    /// The digest of the whole spec, if the kind has conversions.
    whole: Option<u64>,
    /// Whether a conversion changed the spec since it was judged, which creates no new generation.
    is_converted: bool,
}

impl SpecMemory {
    /// Whether the field at a path differs from what it was when these digests were stored.
    fn differs(&self, path: &str, stored: &Stored) -> bool {
        let stored = stored.get(path).map(String::as_str);
        let mut now = self.now.iter().filter(|digest| digest.path() == path);
        now.any(|digest| digest.differs_from(stored))
    }

    fn stored_now(&self) -> Stored {
        let each = self.now.iter();
        each.map(|digest| (digest.path().to_owned(), digest.stored()))
            .collect()
    }
}

impl Engine<'_> {
    /// Reports the digests of the fields when the object is found with its stored status. If its generation
    /// was judged before, they count as judged even if other digests are stored: the description may have got
    /// a new field or another default.
    /// A different digest of the whole spec means that a conversion changed it meanwhile.
    pub fn found_spec(&mut self, stored: Option<&MachineStatus>, whole: Option<u64>, now: Vec<SpecDigest>) {
        if now.is_empty() {
            return;
        }
        let (judged, reported) = (Stored::new(), Stored::new());
        let mut spec = Box::new(SpecMemory {
            now,
            judged,
            reported,
            whole,
            is_converted: false,
        });
        let stored = stored.and_then(|stored| stored.spec_digests.as_deref());
        spec.is_converted = stored.is_some_and(|stored| spec.differs(WHOLE, stored));
        spec.reported = if self.judged == self.generation && !spec.is_converted {
            spec.stored_now()
        } else {
            stored.cloned().unwrap_or_default()
        };
        spec.judged.clone_from(&spec.reported);
        self.spec = Some(spec);
    }

    /// Reports a generation with its digests, and with the digest of the whole spec if the kind has
    /// conversions. It takes effect when no handler is running. Returns whether the spec has changed.
    pub fn saw_spec(
        &mut self,
        generation: i64,
        whole: Option<u64>,
        digests: impl FnOnce() -> Vec<SpecDigest>,
    ) -> bool {
        let is_new = generation != self.generation;
        let mut has_changed = is_new;
        if let Some(spec) = &mut self.spec {
            let is_converted = whole != spec.whole;
            has_changed |= is_converted;
            if has_changed {
                spec.is_converted |= is_converted;
                spec.whole = whole;
                spec.now = digests();
            }
        }
        self.generation = generation;
        has_changed
    }

    /// A number that identifies the spec: its generation or, since conversions change the spec without a new
    /// generation, the digest of the whole spec.
    pub(super) fn spec_mark(&self) -> u64 {
        let whole = self.spec.as_ref().and_then(|spec| spec.whole);
        whole.unwrap_or(self.generation.unsigned_abs())
    }

    /// Whether the machine has reacted to the latest spec.
    pub(super) fn is_judged(&self) -> bool {
        self.judged == self.generation && !self.spec.as_ref().is_some_and(|spec| spec.is_converted)
    }

    /// The reaction of the state to the change since the spec was last judged: that of the first rule with a
    /// changed field, or the default reaction.
    pub(super) fn on_this_change(&self, policy: &Policy<'_>) -> OnSpecChange {
        let Some(spec) = &self.spec else {
            return policy.on_spec_change;
        };
        let differs = |path: &&str| spec.differs(path, &spec.judged);
        let mut changes = policy.on_spec_change_of.iter();
        let first = changes.find(|change| change.of.iter().any(differs));
        first.map_or(policy.on_spec_change, |change| change.does)
    }

    /// Marks the latest generation as judged.
    pub(super) fn judge(&mut self) {
        self.judged = self.generation;
        if let Some(spec) = &mut self.spec {
            spec.judged = spec.stored_now();
            spec.is_converted = false;
        }
    }

    /// Puts the digests of the judged generation into the next status, unless another operator has stored
    /// that it has judged a later generation.
    pub(super) fn report_digests(&mut self) {
        if let Some(spec) = self.spec.as_mut().filter(|_| self.judged >= self.observed) {
            spec.reported.clone_from(&spec.judged);
        }
    }

    /// Takes over the digests that another operator has stored for a generation that it has judged.
    pub(super) fn take_digests(&mut self, stored: &MachineStatus) {
        if let Some(spec) = &mut self.spec {
            spec.reported = stored.spec_digests.as_deref().cloned().unwrap_or_default();
        }
    }

    /// Treats the reported digests as the judged ones.
    pub(super) fn judge_as_reported(&mut self) {
        if let Some(spec) = &mut self.spec {
            spec.judged.clone_from(&spec.reported);
        }
    }

    /// The digests for the status; `None` if no state reacts to single fields.
    pub(super) fn reported_digests(&self) -> Option<Box<Stored>> {
        let spec = self.spec.as_ref()?;
        (!spec.reported.is_empty()).then(|| Box::new(spec.reported.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        class::Class,
        engine::{Decision, Now, Outcome},
        graph::{Exit, Graph, Policy, SpecChange, StateId, StateKind},
    };
    use std::time::Duration;

    const REST: StateId = StateId(0);
    const GROW: StateId = StateId(1);
    const ONCE: StateId = StateId(2);
    const SIZE: &str = ".spec.size";
    const LEVEL: &str = ".spec.logLevel";
    static STATES: [Policy; 3] = [
        Policy::new("Rest")
            .kind(StateKind::Ready)
            .next(&[ONCE])
            .on_spec_change_of(&[
                SpecChange {
                    of: &[SIZE],
                    does: OnSpecChange::To(GROW),
                },
                SpecChange {
                    of: &[LEVEL],
                    does: OnSpecChange::Ignore,
                },
            ]),
        Policy::new("Grow").next(&[REST]),
        Policy::new("Once").once().resume(REST).next(&[REST]),
    ];
    static GRAPH: Graph = Graph::new(&STATES, REST, None, "example.com/things");

    fn now() -> Now {
        Now {
            elapsed: Duration::from_secs(1),
            time: jiff::Timestamp::UNIX_EPOCH,
            random: 1,
            leader: 0,
        }
    }

    /// The digests of a spec with these values.
    fn spec(size: u32, level: u32) -> Vec<SpecDigest> {
        [(SIZE, size), (LEVEL, level)]
            .map(|(path, value)| SpecDigest::new(path, Some(&value.to_string())))
            .into()
    }

    fn found(stored: Option<&MachineStatus>, generation: i64, spec: Vec<SpecDigest>) -> Engine<'static> {
        let mut engine = Engine::new(&GRAPH, stored, generation, Vec::new(), now());
        engine.found_spec(stored, None, spec);
        engine
    }

    fn runs(engine: &mut Engine<'_>, outcome: Outcome) {
        assert_eq!(engine.decide(now()), Decision::Run);
        engine.begin();
        engine.ended(outcome, now());
    }

    fn stays(engine: &mut Engine<'_>) {
        runs(engine, Outcome::Exit(Exit::Stay));
    }

    /// The status that the next write stores.
    fn written(engine: &Engine<'_>) -> MachineStatus {
        engine
            .render(&MachineStatus::default(), now())
            .expect("the state is known")
    }

    /// The stored status of an object at rest with this spec in generation 1.
    fn rests(size: u32, level: u32) -> MachineStatus {
        let mut engine = found(None, 1, spec(size, level));
        stays(&mut engine);
        written(&engine)
    }

    /// The reaction of an operator that finds the object in generation 2.
    fn then(stored: &MachineStatus, spec: Vec<SpecDigest>) -> (&'static str, Decision, Option<i64>) {
        let mut engine = found(Some(stored), 2, spec);
        let does = engine.decide(now());
        let name = engine.policy().map_or("", |policy| policy.name);
        (name, does, written(&engine).observed_generation)
    }

    #[test]
    fn the_first_entry_with_a_changed_field_decides() {
        let stored = rests(1, 1);
        assert_eq!(then(&stored, spec(2, 1)), ("Grow", Decision::Entered, Some(1)));
        assert_eq!(then(&stored, spec(2, 2)), ("Grow", Decision::Entered, Some(1)));
        // The handler runs in any case after the operator has found the object.
        assert_eq!(then(&stored, spec(1, 2)), ("Rest", Decision::Run, Some(2)));
        assert_eq!(then(&stored, spec(1, 1)), ("Rest", Decision::Run, Some(1)));
    }

    #[test]
    fn a_change_is_the_difference_to_what_was_judged_last() {
        let mut engine = found(None, 1, spec(1, 1));
        stays(&mut engine);
        // A field that was changed and changed back between two observations is unchanged.
        engine.saw_spec(2, None, || spec(2, 1));
        engine.saw_spec(3, None, || spec(1, 1));
        stays(&mut engine);
        assert_eq!(written(&engine).observed_generation, Some(3));
        // With an observation in between, these are two changes.
        engine.saw_spec(4, None, || spec(2, 1));
        assert_eq!(engine.decide(now()), Decision::Entered);
        runs(&mut engine, Outcome::Exit(Exit::To(REST)));
        engine.saw_spec(5, None, || spec(1, 1));
        assert_eq!(engine.decide(now()), Decision::Entered);
        assert_eq!(engine.at(), Some(GROW));
    }

    #[test]
    fn a_missing_digest_leaves_the_decision_to_the_rest() {
        let mut stored = rests(1, 1);
        let digests = stored.spec_digests.as_deref_mut().expect("digests");
        digests.remove(SIZE);
        assert_eq!(
            then(&stored, spec(2, 1)),
            ("Rest", Decision::Run, Some(1)),
            "woken"
        );
        assert_eq!(
            then(&stored, spec(2, 2)),
            ("Rest", Decision::Run, Some(2)),
            "ignored"
        );
        stored.spec_digests = None;
        assert_eq!(
            then(&stored, spec(2, 2)),
            ("Rest", Decision::Run, Some(1)),
            "woken"
        );
    }

    #[test]
    fn an_operator_that_finds_a_judged_generation_knows_its_spec() {
        let mut stored = rests(1, 1);
        stored.spec_digests = None;
        let mut engine = found(Some(&stored), 1, spec(1, 1));
        stays(&mut engine);
        assert!(
            written(&engine).is_in(&stored, |_| true),
            "nothing is to be written for that"
        );
        engine.saw_spec(2, None, || spec(2, 1));
        assert_eq!(engine.decide(now()), Decision::Entered);
    }

    #[test]
    fn the_digests_are_those_of_the_generation_that_is_stored_as_judged() {
        let digest = |status: &MachineStatus| status.spec_digests.clone();
        let (one, two) = (digest(&rests(1, 1)), digest(&rests(2, 1)));
        assert_ne!(one, two);
        let mut engine = found(None, 1, spec(1, 1));
        stays(&mut engine);
        engine.decide(now());
        // A change that arrives during a run is judged after the run.
        engine.saw_request(Some("again"));
        assert_eq!(engine.decide(now()), Decision::Run);
        engine.begin();
        engine.saw_spec(2, None, || spec(2, 1));
        assert_eq!(digest(&written(&engine)), one);
        engine.ended(Outcome::Exit(Exit::To(ONCE)), now());
        assert_eq!(digest(&written(&engine)), one, "entered for generation 1");
        // A handler with `effects: once` reconciles the latest generation, but does not judge the change.
        assert_eq!(engine.decide(now()), Decision::Run);
        engine.begin();
        engine.ended(Outcome::Exit(Exit::To(REST)), now());
        assert_eq!(digest(&written(&engine)), two);
        assert_eq!(written(&engine).observed_generation, Some(2));
    }

    #[test]
    fn a_change_is_not_judged_again_after_a_failure_that_was_stored() {
        let mut engine = found(None, 1, spec(1, 1));
        stays(&mut engine);
        engine.saw_spec(2, None, || spec(2, 1));
        assert_eq!(engine.decide(now()), Decision::Entered);
        runs(&mut engine, Outcome::Exit(Exit::To(REST)));
        // The handler fails with generation 3, whose change got the default reaction.
        engine.saw_spec(3, None, || spec(2, 1));
        runs(
            &mut engine,
            Outcome::Failed(Class::Transient, "no luck".to_owned()),
        );
        let stored = written(&engine);
        let mut next = found(Some(&stored), 4, spec(2, 1));
        assert_eq!(next.decide(now()), Decision::Run);
        let mut next = found(Some(&stored), 4, spec(3, 1));
        assert_eq!(next.decide(now()), Decision::Entered);
    }

    #[test]
    fn what_another_operator_has_judged_stays_judged() {
        let mut engine = found(None, 1, spec(1, 1));
        stays(&mut engine);
        engine.saw_request(Some("again"));
        assert_eq!(engine.decide(now()), Decision::Run);
        engine.begin();
        let theirs = MachineStatus {
            observed_generation: Some(2),
            ..rests(1, 2)
        };
        engine.saw_others_status(&theirs, now());
        engine.ended(Outcome::Exit(Exit::Stay), now());
        let stored = written(&engine);
        assert_eq!(stored.observed_generation, Some(2));
        assert_eq!(stored.spec_digests, theirs.spec_digests);
    }

    #[test]
    fn kinds_without_such_fields_store_nothing_of_it() {
        let mut engine = found(Some(&rests(1, 1)), 1, Vec::new());
        stays(&mut engine);
        assert_eq!(written(&engine).spec_digests, None);
    }

    #[test]
    fn a_conversion_changes_the_spec_without_a_new_generation() {
        let with_whole = |size: u32, whole: u32| {
            let mut digests = spec(size, 1);
            digests.push(SpecDigest::new(WHOLE, Some(&whole.to_string())));
            digests
        };
        let mut engine = Engine::new(&GRAPH, None, 1, Vec::new(), now());
        engine.found_spec(None, Some(1), with_whole(1, 1));
        stays(&mut engine);
        let stored = written(&engine);
        assert!(!engine.saw_spec(1, Some(1), Vec::new), "nothing has changed");
        assert!(engine.saw_spec(1, Some(2), || with_whole(2, 2)));
        assert_eq!(engine.decide(now()), Decision::Entered);
        assert_eq!(engine.at(), Some(GROW));
        // The same change while no operator was running.
        let later = |whole: u32, size: u32| {
            let mut engine = Engine::new(&GRAPH, Some(&stored), 1, Vec::new(), now());
            engine.found_spec(Some(&stored), Some(whole.into()), with_whole(size, whole));
            (
                engine.decide(now()),
                engine.policy().map_or("", |policy| policy.name),
            )
        };
        assert_eq!(later(1, 1), (Decision::Run, "Rest"));
        assert_eq!(later(2, 2), (Decision::Entered, "Grow"));
    }
}
