//! Files with changes since krator wrote them.

use crate::descriptions::MOOSE as DESCRIPTION;
use crate::operator::krator;
use crate::regenerate::{ELSEWHERE, generate, new, text};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn moose() -> (TempDir, PathBuf) {
    let work = tempfile::tempdir().expect("a temporary folder");
    let description = work.path().join("moose.yaml");
    fs::write(&description, DESCRIPTION).expect("writable");
    let dir = work.path().join("crate");
    new(&description, &dir, ELSEWHERE);
    (work, dir)
}

fn check(dir: &Path) -> (bool, String) {
    let output = krator(&[Path::new("check"), &dir.join("krator.yaml")]);
    (output.status.success(), text(output.stdout))
}

fn describe(dir: &Path, text: &str) {
    fs::write(dir.join("krator.yaml"), text).expect("a folder of our own");
}

fn with_another_field() -> String {
    DESCRIPTION.replace("\nspec:\n", "\nspec:\n  shoes: {type: string, example: four}\n")
}

#[test]
fn check_reports_a_generated_file_that_was_edited() {
    let (_work, dir) = moose();
    assert!(check(&dir).0);
    let path = dir.join("src/moose/states/mod.rs");
    let edited = fs::read_to_string(&path).expect("generated") + "// by hand\n";
    fs::write(&path, edited).expect("a folder of our own");
    let (is_fine, said) = check(&dir);
    assert!(
        !is_fine && said.contains("error[edited-file]: `src/moose/states/mod.rs` was edited by hand"),
        "{said}"
    );
}

#[test]
fn check_speaks_of_no_manifest_that_is_not_there_yet() {
    let (_work, dir) = moose();
    describe(
        &dir,
        &(DESCRIPTION.to_owned() + "admission: {status: operator}\n"),
    );
    let (_, said) = check(&dir);
    assert!(!said.contains("unlisted-manifest"), "{said}");
    let told = text(generate(&dir, &["--allow-breaking"]).stderr);
    assert!(told.contains("unlisted-manifest"), "{told}");
    let (_, said) = check(&dir);
    assert!(said.contains("unlisted-manifest"), "{said}");
}

#[test]
fn a_file_that_its_owner_has_replaced_is_offered_no_changes() {
    let (_work, dir) = moose();
    let path = dir.join("tests/moose.rs");
    let written = fs::read_to_string(&path).expect("generated");
    let offers = |file: &str| {
        fs::write(&path, file).expect("a folder of our own");
        describe(&dir, &with_another_field());
        let told = text(generate(&dir, &["--diff", "--allow-breaking"]).stderr);
        told.contains("tests/moose.rs")
    };
    assert!(
        offers(&format!("// A line of mine.\n{written}")),
        "most of it is krator's"
    );
    let replaced = "//! My own tests.\n\nuse krator_runtime::Local;\n\n#[test]\nfn all_is_well() {\n    assert!(true);\n}\n";
    assert!(!offers(replaced));
}
