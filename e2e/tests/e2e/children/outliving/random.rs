//! Random sequences of operations on vaults, their children and their operator. The oracle derives the expected
//! children from the description and the operations alone.

use super::vault::{Cascade, Form, KINDS, Vaults, installed, metadata};
use super::{super::herd::is_ready, text};
use crate::cluster::{say, until};
use crate::dice::Dice;
use crate::operator::OperatorProcess;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The number of a kind in [`KINDS`], and the name of an object of it.
type Child = (usize, String);

/// The expected objects.
#[derive(Default)]
struct Oracle {
    /// The vaults that live, with the names of their children.
    living: BTreeMap<String, Vec<String>>,
    /// The vaults on their deletion path: the names of their children, their uid and how they were deleted.
    dying: BTreeMap<String, (Vec<String>, String, Cascade)>,
    /// The children that are kept, with the names and uids of their owners.
    kept: BTreeMap<Child, String>,
    /// The children that the collector has released, because their owner was deleted with the policy Orphan.
    orphaned: BTreeSet<Child>,
}

impl Oracle {
    /// The differences between the expected and the actual children, at rest.
    fn violations(&self, vaults: &Vaults) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut expected: BTreeMap<Child, String> = BTreeMap::new();
        let stored = vaults.list("vaults");
        let names: BTreeSet<&str> = stored.iter().map(|vault| text(vault, "/metadata/name")).collect();
        let living: BTreeSet<&str> = self.living.keys().map(String::as_str).collect();
        if names != living {
            return vec![format!("there are {names:?} instead of {living:?}")];
        }
        for vault in &stored {
            let (name, uid) = (text(vault, "/metadata/name"), text(vault, "/metadata/uid"));
            if !is_ready(vault) {
                wrong.push(format!("{name} is not ready: {}", vault["status"]));
            }
            for item in &self.living[name] {
                for kind in 0..KINDS.len() {
                    let form = vaults.form(kind);
                    let says = if form == Form::Owner { "reference" } else { "label" };
                    expected.insert((kind, item.clone()), format!("{says} {uid}"));
                }
            }
        }
        expected.extend(
            self.kept
                .iter()
                .map(|(child, from)| (child.clone(), format!("kept {from}"))),
        );
        expected.extend(
            self.orphaned
                .iter()
                .map(|child| (child.clone(), "nobody".to_owned())),
        );
        for (kind, (_, plural)) in KINDS.iter().enumerate() {
            for child in vaults.list(plural) {
                let name = text(&child, "/metadata/name").to_owned();
                if ["kube-root-ca.crt", "default"].contains(&name.as_str()) {
                    continue;
                }
                let is = says(&child);
                match expected.remove(&(kind, name.clone())) {
                    Some(wanted) if wanted == is => {}
                    Some(wanted) => wrong.push(format!("{plural}/{name} is of {is} instead of {wanted}")),
                    None => wrong.push(format!("{plural}/{name} of {is} is left")),
                }
            }
        }
        wrong.extend(
            expected
                .iter()
                .map(|((kind, name), of)| format!("{}/{name} of {of} is gone", KINDS[*kind].1)),
        );
        wrong
    }

    /// Records the end of a vault under the present forms.
    fn ended(&mut self, name: &str, vaults: &Vaults) {
        let (items, uid, cascade) = self.dying.remove(name).expect("it was dying");
        for item in items {
            for kind in 0..KINDS.len() {
                match vaults.form(kind) {
                    Form::Keep => drop(self.kept.insert((kind, item.clone()), format!("{name} {uid}"))),
                    Form::Owner if cascade == Cascade::Orphan => {
                        self.orphaned.insert((kind, item.clone()));
                    }
                    Form::Owner | Form::Last => {}
                }
            }
        }
    }
}

/// The owner of a child, and how the child refers to it.
fn says(child: &Value) -> String {
    let (label, controller) = (
        metadata(child, "labels"),
        text(child, "/metadata/ownerReferences/0/uid"),
    );
    let kept = text(child, "/metadata/annotations/last.example.com~1released-from");
    match (label.is_empty(), controller.is_empty(), kept.is_empty()) {
        (false, true, true) => format!("label {label}"),
        (true, false, true) => format!("reference {controller}"),
        (true, true, false) => format!("kept {kept}"),
        (true, true, true) => "nobody".to_owned(),
        _ => format!("several: label {label}, reference {controller}, kept {kept}"),
    }
}

/// A sequence of operations, and the operator under test.
struct Sequence {
    vaults: Vaults,
    operator: Option<OperatorProcess>,
    oracle: Oracle,
    dice: Dice,
    items: usize,
    done: Vec<String>,
}

impl Sequence {
    fn new(vaults: Vaults, seed: u64) -> Sequence {
        Sequence {
            operator: Some(vaults.start()),
            vaults,
            oracle: Oracle::default(),
            dice: Dice::new(seed),
            items: 0,
            done: Vec::new(),
        }
    }

    /// The names of children are unique, because a kept child has no owner, so another object could not get it.
    fn names(&mut self) -> Vec<String> {
        let count = 1 + self.dice.below(2);
        let names = (0..count)
            .map(|number| format!("c{}", self.items + number))
            .collect();
        self.items += count;
        names
    }

    fn living(&mut self) -> Option<String> {
        let names: Vec<String> = self.oracle.living.keys().cloned().collect();
        self.dice.pick(&names).cloned()
    }

    fn step(&mut self) {
        match self.dice.below(9) {
            0 | 1 => self.create(),
            2 => self.edit(),
            3 | 4 => self.delete(),
            5 => self.spoil(),
            6 => self.kill(),
            7 => self.change(),
            _ => self.end(),
        }
    }

    fn note(&mut self, what: String) {
        self.done.push(what);
    }

    fn create(&mut self) {
        let free = ["v0", "v1", "v2"].map(str::to_owned);
        let is_free = |name: &&String| {
            !self.oracle.living.contains_key(*name) && !self.oracle.dying.contains_key(*name)
        };
        let Some(name) = free.iter().find(is_free).cloned() else {
            return;
        };
        let items = self.names();
        self.note(format!("create {name} {items:?}"));
        let refs: Vec<&str> = items.iter().map(String::as_str).collect();
        self.vaults.create(&name, &refs, true);
        self.oracle.living.insert(name, items);
    }

    fn edit(&mut self) {
        let Some(name) = self.living() else { return };
        let items = self.names();
        self.note(format!("edit {name} {items:?}"));
        // Waits for the former children first: otherwise a child that is kept could be applied after it was pruned.
        self.rest();
        self.vaults
            .patch(&format!("vault/{name}"), &json!({"spec": {"items": items}}));
        self.oracle.living.insert(name, items);
    }

    fn delete(&mut self) {
        let Some(name) = self.living() else { return };
        let cascade = *self.dice.pick(&Cascade::ALL).expect("three");
        self.note(format!("delete {name} {}", cascade.name()));
        self.rest();
        let uid = self.vaults.uid(&name);
        let items = self.oracle.living.remove(&name).expect("it lives");
        self.vaults.delete(&name, cascade);
        self.oracle.dying.insert(name, (items, uid, cascade));
    }

    /// Another client deletes a child, or replaces the reference to its owner.
    fn spoil(&mut self) {
        let Some(name) = self.living() else { return };
        let kind = self.dice.below(KINDS.len());
        let (form, item) = (self.vaults.form(kind), self.oracle.living[&name][0].clone());
        self.rest();
        let what = format!("{}/{item}", KINDS[kind].1);
        if self.dice.one_in(2) {
            self.note(format!("delete {what}"));
            self.vaults.delete_child(form, &item);
        } else if form != Form::Owner {
            self.note(format!("refer {what}"));
            let owner = json!([{
                "apiVersion": "last.example.com/v1", "kind": "Vault", "name": name,
                "uid": self.vaults.uid(&name), "controller": true, "blockOwnerDeletion": true,
            }]);
            let patch = json!({"metadata": {"ownerReferences": owner, "labels": null, "annotations": null}});
            self.vaults.patch(&what, &patch);
        }
    }

    fn kill(&mut self) {
        self.note("kill".to_owned());
        if let Some(operator) = self.operator.take() {
            operator.kill();
        }
        // The object may be created while no operator runs.
        if self.dice.one_in(2) {
            self.create();
        }
        self.operator = Some(self.vaults.start());
    }

    /// Starts another build of the operator, in which the kinds have other forms.
    fn change(&mut self) {
        // It is unspecified how an orphaning deletion affects a child whose form changes meanwhile.
        if self
            .oracle
            .dying
            .values()
            .any(|(_, _, cascade)| *cascade == Cascade::Orphan)
        {
            return;
        }
        // It is also unspecified whether a child is kept if the collector was entitled to delete it when its owner was
        // deleted.
        self.end();
        self.rest();
        if let Some(operator) = self.operator.take() {
            operator.kill();
        }
        self.vaults.rotation = (self.vaults.rotation + 1 + self.dice.below(2)) % KINDS.len();
        self.note(format!("change to {}", self.vaults.rotation));
        self.operator = Some(self.vaults.start());
    }

    /// Lets all deletion paths end, with a kill meanwhile, or by removing the finalizer.
    fn end(&mut self) {
        let dying: Vec<String> = self.oracle.dying.keys().cloned().collect();
        for name in dying {
            let is_forced = self.dice.one_in(4);
            self.note(format!("end {name}{}", if is_forced { " by force" } else { "" }));
            if is_forced {
                self.vaults.saving(&name);
                self.vaults.patch(
                    &format!("vault/{name}"),
                    &json!({"metadata": {"finalizers": null}}),
                );
            } else {
                self.vaults.release(&name);
            }
            if self.dice.one_in(3) {
                self.kill();
            }
            self.vaults.gone(&name);
            self.oracle.ended(&name, &self.vaults);
        }
    }

    /// Waits until all vaults that are not being deleted are ready.
    fn rest(&mut self) {
        let operator = self.operator.as_mut().expect("it runs");
        let vaults = &self.vaults;
        let living: Vec<&String> = self.oracle.living.keys().collect();
        until(&format!("vaults are ready after {:?}", self.done), || {
            assert!(operator.is_running());
            living.iter().all(|name| vaults.is_ready(name)).then_some(())
        });
    }

    fn finish(mut self) {
        self.end();
        self.rest();
        let mut last = Vec::new();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while std::time::Instant::now() < deadline {
            last = self.oracle.violations(&self.vaults);
            if last.is_empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        assert!(last.is_empty(), "{last:#?} after {:#?}", self.done);
        assert!(self.operator.take().expect("it runs").terminate().success());
    }
}

/// `KRATOR_OUTLIVING` sets the number of sequences, and `KRATOR_SEED` the seed of the first one.
#[test]
fn random_sequences_leave_nothing_and_take_nothing() {
    let Some(installed) = &installed() else { return };
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let (count, first) = (number("KRATOR_OUTLIVING", 2), number("KRATOR_SEED", 1));
    let mut steps = 0;
    for seed in first..first + count {
        let rotation = usize::try_from(seed % 3).expect("small");
        let vaults = Vaults::new(installed, &format!("random-{seed}"), rotation);
        let mut sequence = Sequence::new(vaults, seed);
        for _ in 0..12 {
            sequence.step();
        }
        steps += sequence.done.len();
        sequence.finish();
    }
    say(&format!(
        "{count} random sequences from seed {first}: {steps} steps"
    ));
}
