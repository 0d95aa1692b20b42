//! A regeneration, ended at each of its operations.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::changes::Changes;
use crate::disk::operations::faults::{Fault, under};
use crate::disk::{Error, Folder, create};
use crate::drift::{self, Version};
use crate::plan::{Ownership, Plan};
use crate::record::GenerationRecord;
use crate::record::STATE_DIR;
use crate::render::{self, Runtime};

/// A crate of a former krator, whose runtime was another one, and what brings it in step with another description.
struct Regeneration {
    former: Plan,
    changes: Changes,
}

impl Regeneration {
    /// `vendored`: with the runtime, for a number of files as in life.
    fn of_the_moose(vendored: bool) -> Self {
        let text = include_str!("../../../testdata/ok/moose/spec.yaml");
        let runtime = if vendored {
            Runtime::Vendored
        } else {
            Runtime::Path("..".to_owned())
        };
        let read = |text: &str| {
            let checked = crate::check("krator.yaml", text.as_bytes());
            (checked.description.expect("a good description"), checked.source)
        };
        let (description, source) = read(text);
        let plan = render::plan(&description, &source, &runtime);
        let mut former = Plan::default();
        for (path, file) in plan.files() {
            let contents = match path.starts_with("vendor/") {
                true => format!("// As it was.\n{}", file.contents),
                false => file.contents.clone(),
            };
            former.add(path, file.ownership, contents);
        }
        // Gone in this krator, with its folder.
        former.add(
            "vendor/krator-runtime/src/old/gone.rs",
            Ownership::Generated,
            "gone\n",
        );
        let edited = text
            .replace("kind: Moose", "kind: Elk")
            .replace("[Roam, Sleep]", "[Sleep, Roam]");
        let (description, source_now) = read(&edited);
        let plan = render::plan(&description, &source_now, &runtime);
        let now = Version {
            description: &description,
            source: &source_now,
            plan: &plan,
        };
        let home = GenerationRecord::of(&former);
        let former = render::with_record(former, &source);
        let there = former
            .files()
            .map(|(path, file)| (path.to_owned(), file.contents.clone().into_bytes()));
        let options = drift::Options {
            prune: true,
            ..Default::default()
        };
        let drift = drift::compare(now, None, &home, &there.collect(), options);
        assert!(!drift.is_refused, "{:?}", drift.found);
        Regeneration {
            former,
            changes: drift.changes,
        }
    }

    /// A folder with the former crate.
    fn crate_in(&self, home: &Path) -> Folder {
        let dir = home.join("crate");
        create(&dir, &self.former).expect("a vacant place");
        Folder::open(&dir).expect("a crate")
    }

    fn run(&self, folder: &Folder) -> Result<(), Error> {
        let hold = folder.hold(|| panic!("nobody else is here"))?;
        hold.apply(&self.changes)
    }
}

/// All files, and folders that hold none.
fn tree(root: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, Option<Vec<u8>>>) {
        let name = |path: &Path| path.strip_prefix(root).expect("below").display().to_string();
        let entries: Vec<_> = fs::read_dir(folder)
            .expect("a folder")
            .map(|e| e.expect("an entry").path())
            .collect();
        if entries.is_empty() {
            found.insert(name(folder), None);
        }
        for path in entries {
            if path.is_dir() {
                collect(root, &path, found);
            } else if name(&path) != format!("{STATE_DIR}/lock") {
                found.insert(name(&path), Some(fs::read(&path).expect("a file")));
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(root, root, &mut found);
    found
}

/// The tree before and after a regeneration, and how many operations that takes.
fn old_and_new(regeneration: &Regeneration) -> (Tree, Tree, usize) {
    let work = tempfile::tempdir().expect("a temporary folder");
    let folder = regeneration.crate_in(work.path());
    let old = tree(folder.root());
    let (done, operations) = under(None, || regeneration.run(&folder));
    done.expect("nothing is in the way");
    (old, tree(folder.root()), operations)
}

type Tree = BTreeMap<String, Option<Vec<u8>>>;

#[test]
fn a_run_that_is_killed_anywhere_is_undone_or_ended_by_the_next() {
    let regeneration = Regeneration::of_the_moose(true);
    let (old, new, operations) = old_and_new(&regeneration);
    assert!(operations >= 200, "{operations}");
    let mut outcomes = BTreeMap::new();
    for at in 0..operations {
        let work = tempfile::tempdir().expect("a temporary folder");
        let folder = regeneration.crate_in(work.path());
        let (killed, _) = under(Some(Fault::Killed(at)), || regeneration.run(&folder));
        killed.expect_err("it was killed");
        // The one that cleans up may be killed too.
        let (again, _) = under(Some(Fault::Killed(at % 7)), || folder.hold(|| ()).map(drop));
        let is_interrupted = folder.is_interrupted();
        drop(again);
        drop(
            folder
                .hold(|| panic!("the lock of a run that ended is free"))
                .expect("recovered"),
        );
        let now = tree(folder.root());
        assert!(now == old || now == new, "killed at operation {at}: a mixture");
        assert!(
            !is_interrupted || now == new,
            "killed at {at}: what was committed is ended"
        );
        *outcomes.entry(now == new).or_insert(0) += 1;
    }
    println!("killed at {operations} operations: {outcomes:?}");
    assert_eq!(outcomes.len(), 2, "some are undone, some are ended");
}

#[test]
fn a_full_disk_changes_nothing_or_is_waited_for() {
    let regeneration = Regeneration::of_the_moose(false);
    let (old, new, operations) = old_and_new(&regeneration);
    for at in 0..operations {
        let work = tempfile::tempdir().expect("a temporary folder");
        let folder = regeneration.crate_in(work.path());
        let (failed, _) = under(Some(Fault::Fails(at)), || regeneration.run(&folder));
        match failed {
            Err(Error::Unchanged(_)) => assert!(
                tree(folder.root()) == old,
                "failed at {at}: something was changed"
            ),
            Err(Error::Halfway(_)) => {
                drop(folder.hold(|| ()).expect("recovered"));
                assert!(tree(folder.root()) == new, "failed at {at}: not ended");
            }
            // A folder that is not empty, say, stays.
            Ok(()) => {}
            Err(error) => panic!("failed at {at}: {error}"),
        }
    }
}

#[test]
fn what_somebody_changed_since_stays() {
    let regeneration = Regeneration::of_the_moose(false);
    let work = tempfile::tempdir().expect("a temporary folder");
    let folder = regeneration.crate_in(work.path());
    let mut at = 0;
    while !folder.is_interrupted() {
        at += 1;
        let (killed, _) = under(Some(Fault::Killed(at)), || regeneration.run(&folder));
        killed.expect_err("it was killed");
    }
    let edited = folder.root().join("Cargo.toml");
    fs::write(&edited, "# mine\n").expect("writable");
    drop(folder.hold(|| ()).expect("recovered"));
    assert_eq!(fs::read_to_string(&edited).expect("readable"), "# mine\n");
}

#[test]
fn a_journal_leads_nowhere_else() {
    let regeneration = Regeneration::of_the_moose(false);
    let work = tempfile::tempdir().expect("a temporary folder");
    let folder = regeneration.crate_in(work.path());
    let journal = folder.root().join(STATE_DIR).join("journal");
    fs::create_dir(&journal).expect("writable");
    fs::write(journal.join("0"), "harm").expect("writable");
    for path in ["../harm", "/tmp/harm", "src/../../harm", ""] {
        let steps = serde_json::json!([{"path": path, "before": null, "after": "0"}]);
        fs::write(journal.join("operations.json"), steps.to_string()).expect("writable");
        assert!(matches!(folder.hold(|| ()), Err(Error::Halfway(_))), "{path}");
    }
    assert!(!work.path().join("harm").exists());
}
