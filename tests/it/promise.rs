//! Whether an edit breaks something is judged against the last description that `krator gen` accepted; `krator dev`
//! follows edits without accepting them.

use crate::operator::files;
use crate::regenerate::{ELSEWHERE, follow_as_dev, generate, new, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A crate whose description was edited while `krator dev` ran.
struct Edited {
    home: tempfile::TempDir,
}

impl Edited {
    /// The crate of one description of `testdata/promise/`, after each of the others was saved.
    fn new(first: &str, then: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        let edited = Edited { home };
        new(&described(first), &edited.dir(), ELSEWHERE);
        then.iter().for_each(|name| edited.save(&read(name)));
        edited
    }

    fn dir(&self) -> PathBuf {
        self.home.path().join("crate")
    }

    /// Saves another description while `krator dev` runs.
    fn save(&self, text: &str) {
        self.write(text);
        assert!(follow_as_dev(&self.dir()), "{text}");
    }

    fn write(&self, text: &str) {
        fs::write(self.dir().join("krator.yaml"), text).expect("a folder of our own");
    }

    fn krator(&self, args: &[&str]) -> Output {
        krator_in(&self.dir(), args)
    }

    fn has_promise(&self) -> bool {
        self.dir().join(".krator/promised").exists()
    }
}

fn described(name: &str) -> PathBuf {
    krator_tests::root().join(format!("testdata/promise/{name}.yaml"))
}

fn read(name: &str) -> String {
    fs::read_to_string(described(name)).expect("a description")
}

fn krator_in(dir: &Path, args: &[&str]) -> Output {
    Command::new(krator_tests::program())
        .args(args)
        .current_dir(dir)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("krator runs")
}

/// The description with a renamed state, and its former name in `renamedFrom`.
fn renamed(text: &str, from: &str, to: &str, former: &str) -> String {
    let renamed = text.replace(from, to);
    renamed.replace(
        &format!("\n  {to}:\n"),
        &format!("\n  {to}:\n    renamedFrom: {former}\n"),
    )
}

#[test]
fn what_dev_takes_is_judged_by_what_was_promised() {
    let edited = Edited::new("state-removed.before", &["state-removed.after"]);
    let before = files(&edited.dir());
    for args in [&["check"][..], &["gen", "--check"], &["gen"], &["gen"]] {
        let output = edited.krator(args);
        let said = [output.stdout, output.stderr].map(text).concat();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(
            said.contains("error[state-removed]: state `Scaling` was removed"),
            "{args:?}: {said}"
        );
    }
    let mut after = files(&edited.dir());
    after.remove(Path::new(".krator/lock"));
    let mut before = before;
    before.remove(Path::new(".krator/lock"));
    assert_eq!(after, before, "a refused run accepts nothing");

    let allowed = edited.krator(&["gen", "--allow-breaking"]);
    assert!(allowed.status.success(), "{}", text(allowed.stderr));
    assert!(!edited.has_promise(), "there is one description again");
    for args in [&["check"][..], &["gen", "--check"]] {
        let output = edited.krator(args);
        assert!(output.status.success(), "{}", text(output.stderr));
    }
}

#[test]
fn what_is_taken_back_was_never_broken() {
    let edited = Edited::new(
        "state-removed.before",
        &["state-removed.after", "state-removed.before"],
    );
    assert!(!edited.has_promise());
    let output = edited.krator(&["gen", "--check"]);
    assert!(output.status.success(), "{}", text(output.stderr));
}

#[test]
fn a_former_version_is_written_down_after_dev_took_the_edit() {
    let edited = Edited::new("version-added.before", &["version-added.after"]);
    let fixed = edited.krator(&["check", "--fix"]);
    assert!(
        fixed.status.success(),
        "{}{}",
        text(fixed.stdout),
        text(fixed.stderr)
    );
    let now = fs::read_to_string(edited.dir().join("krator.yaml")).expect("a description");
    assert!(now.contains("versions:") && now.contains("v1alpha1:"), "{now}");
    assert!(follow_as_dev(&edited.dir()));
    let output = generate(&edited.dir(), &[]);
    assert!(output.status.success(), "{}", text(output.stderr));
    assert!(!edited.has_promise());
}

#[test]
fn a_state_that_was_renamed_twice_says_its_promised_name() {
    let first = read("state-removed.before");
    let once = renamed(&first, "Scaling", "Resizing", "Scaling");
    let edited = Edited::new("state-removed.before", &[]);
    let handler = edited.dir().join("src/cache_cluster/states/scaling.rs");
    let written = fs::read_to_string(&handler).expect("a handler") + "// by hand\n";
    fs::write(&handler, written).expect("a folder of our own");
    edited.save(&once);

    // If `renamedFrom` names only the former name of the session, stored objects are left behind.
    let said = |args: &[&str]| {
        let output = edited.krator(args);
        (
            output.status.success(),
            [output.stdout, output.stderr].map(text).concat(),
        )
    };
    let (_, check) = said(&["check"]);
    assert!(!check.contains("state-removed"), "{check}");
    edited.save(&renamed(&first, "Scaling", "Growing", "Resizing"));
    let (is_fine, check) = said(&["check"]);
    let help = "if it is now called `Growing`, add `renamedFrom: Scaling` there";
    assert!(!is_fine && check.contains(help), "{check}");

    // The promised name is sufficient, also for the handler: the edit follows the first rename.
    edited.save(&once);
    edited.save(&renamed(&first, "Scaling", "Growing", "Scaling"));
    let handler = edited.dir().join("src/cache_cluster/states/growing.rs");
    let handler = fs::read_to_string(handler).expect("it followed");
    assert!(handler.contains("// by hand"), "{handler}");
    let (is_fine, said) = said(&["gen"]);
    assert!(is_fine, "{said}");
    assert!(!edited.has_promise());
}

#[test]
fn a_rename_that_forgets_the_promised_name_is_an_error() {
    let first = read("state-removed.before");
    let once = renamed(&first, "Scaling", "Resizing", "Scaling");
    let edited = Edited::new("state-removed.before", &["state-removed.before"]);
    edited.save(&once);
    let accepted = edited.krator(&["gen"]);
    assert!(accepted.status.success(), "{}", text(accepted.stderr));
    edited.write(&renamed(&first, "Scaling", "Growing", "Scaling"));
    let refused = edited.krator(&["gen"]);
    let said = text(refused.stderr);
    assert!(!refused.status.success());
    assert!(said.contains("add `Resizing` to its `renamedFrom`"), "{said}");
    edited.write(&renamed(&first, "Scaling", "Growing", "[Scaling, Resizing]"));
    let accepted = edited.krator(&["gen"]);
    assert!(accepted.status.success(), "{}", text(accepted.stderr));
}

#[test]
fn diff_without_arguments_compares_with_what_was_promised() {
    let edited = Edited::new("state-removed.before", &[]);
    let same = edited.krator(&["diff"]);
    assert!(same.status.success());
    assert!(text(same.stderr).contains("nothing changes"));
    edited.save(&read("state-removed.after"));
    let gone = edited.krator(&["diff"]);
    assert_eq!(gone.status.code(), Some(1));
    let said = text(gone.stdout);
    assert!(said.contains("state `Scaling` was removed"), "{said}");
    let one = edited.krator(&["diff", "krator.yaml"]);
    assert_eq!(one.status.code(), Some(2), "{}", text(one.stderr));
}

#[test]
fn what_only_breaks_clients_can_be_allowed_alone() {
    let edited = Edited::new("version-added.before", &[]);
    let first = read("version-added.before");
    edited.write(&format!("{first}webhooks: {{validate: {{}}}}\n"));
    let refused = edited.krator(&["gen"]);
    let said = text(refused.stderr);
    assert!(
        said.contains("nothing was written: 0 break stored objects, 1 breaks clients; to accept the effect on clients, run `krator gen --allow-breaking=clients`"),
        "{said}"
    );
    let both = first.replace("Scaling", "Growing") + "webhooks: {validate: {}}\n";
    edited.write(&both);
    let refused = edited.krator(&["gen", "--allow-breaking=clients"]);
    let said = text(refused.stderr);
    assert!(!refused.status.success());
    assert!(
        said.contains("error[state-removed]") && !said.contains("error[breaking-schema]"),
        "{said}"
    );
    assert!(
        said.contains("1 breaks stored objects, 1 breaks clients"),
        "{said}"
    );
    edited.write(&format!("{first}webhooks: {{validate: {{}}}}\n"));
    let allowed = edited.krator(&["gen", "--allow-breaking=clients"]);
    let said = text(allowed.stderr);
    assert!(allowed.status.success(), "{said}");
    assert!(
        said.contains("allowed: 0 break stored objects, 1 breaks clients"),
        "{said}"
    );
}
