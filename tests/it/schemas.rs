//! Kinds whose CustomResourceDefinitions are in files of `schemas`: their Rust types, and the files that are read.

use crate::case_file::is_update;
use crate::website::{CRD, CRD_PATH, SPEC, project};
use krator::finding::{Style, to_text};
use krator::render::{self, Runtime};
use krator::spec::Files;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

fn files() -> Files {
    let mut files = Files::default();
    files.add(CRD_PATH, Ok(CRD.to_owned()));
    files
}

/// The messages of the findings about a description with these files.
fn messages(spec: &str, files: &Files) -> Vec<String> {
    let findings = krator::check_with("spec.yaml", spec.as_bytes(), files).findings;
    let of_rules = ["schema-file", "unknown-kind"];
    let of_rules = findings
        .into_iter()
        .filter(|finding| of_rules.contains(&finding.rule.name));
    of_rules.map(|finding| finding.message).collect()
}

#[test]
fn the_types_are_as_reviewed() {
    let checked = krator::check_with("krator.yaml", SPEC.as_bytes(), &files());
    let found = checked.findings.iter();
    let found: String = found
        .map(|finding| to_text(&checked.source, finding, Style::Plain))
        .collect();
    let description = checked.sound().unwrap_or_else(|| panic!("{found}"));
    let plan = render::plan(description, &checked.source, &Runtime::Vendored);
    assert_eq!(plan.get(CRD_PATH).map(|file| file.contents.as_str()), Some(CRD));
    let kinds = &plan
        .get("src/website/generated/kinds.rs")
        .expect("generated")
        .contents;
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/schemas/kinds.rs");
    if is_update(&expected) {
        fs::write(&expected, kinds).expect("a folder of our own");
    }
    assert_eq!(*kinds, fs::read_to_string(&expected).expect("the reviewed file"));
}

#[test]
fn a_file_that_does_not_define_the_kind_is_refused() {
    let with = |text: &str| {
        let mut files = Files::default();
        files.add(CRD_PATH, Ok(text.to_owned()));
        messages(SPEC, &files)
    };
    assert!(with(CRD).is_empty());
    let no_kind = "`crds/certificate.yaml` does not define `certs.example.com/v1.Certificate`";
    for text in [
        "",
        "kind: List\n",
        &CRD.replace("name: v1\n", "name: v2\n"),
        &CRD.replace("group: certs.", "group: other."),
        &CRD.replace("kind: Certificate,", "kind: Other,"),
    ] {
        assert_eq!(with(text), [no_kind]);
    }
    assert!(
        with("a: [")
            .join("")
            .starts_with("cannot read `crds/certificate.yaml`: ")
    );
    assert!(
        with("a: 1\na: 2\n")
            .join("")
            .starts_with("cannot read `crds/certificate.yaml`: ")
    );
    let several = format!("kind: Other\n---\n{CRD}");
    assert!(
        with(&several).is_empty(),
        "other objects in the file do not matter"
    );
    let alone = messages(SPEC, &Files::default()).join("");
    assert!(alone.contains("has no folder"), "{alone}");
}

#[test]
fn a_schema_that_has_no_use_is_refused() {
    let other = SPEC.replace(
        "owns: [certs.example.com/v1.Certificate]",
        "owns: [core/v1.ConfigMap]",
    );
    assert_eq!(messages(&other, &files()), ["no handler can use `Certificate`"]);
    let known = SPEC.replace(
        "schemas: {",
        "schemas: {apps/v1.Deployment: crds/certificate.yaml, ",
    );
    assert_eq!(
        messages(&known, &files()),
        ["krator already has the types of `apps/v1.Deployment`"]
    );
}

fn krator(args: &[&str], dir: &Path) -> (Option<i32>, String) {
    let mut krator = std::process::Command::new(krator_tests::program());
    let output = krator
        .args(args)
        .current_dir(dir)
        .env_clear()
        .output()
        .expect("krator runs");
    let wrote = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&wrote).into_owned())
}

#[test]
fn new_copies_the_file_and_gen_follows_it() {
    let (_home, made) = project();
    let at = |path: &str| made.join(path);
    assert_eq!(fs::read_to_string(at(CRD_PATH)).expect("copied"), CRD);
    assert_eq!(
        krator(&["gen", "--check"], &made).0,
        Some(0),
        "nothing has changed"
    );
    fs::write(at(CRD_PATH), CRD.replace("revision: {", "serial: {")).expect("our own");
    assert_eq!(krator(&["gen", "--check"], &made).0, Some(1));
    let (code, said) = krator(&["gen"], &made);
    assert_eq!(code, Some(0), "{said}");
    let kinds = fs::read_to_string(at("src/website/generated/kinds.rs")).expect("generated");
    assert!(kinds.contains("pub serial: Option<i64>"), "{kinds}");
    assert_eq!(krator(&["gen", "--check"], &made).0, Some(0));

    // The former description is checked with the former file.
    let spec = at("krator.yaml");
    let text = fs::read_to_string(&spec).expect("generated");
    fs::write(
        &spec,
        text.replace("{kind: ready,", "{kind: ready, renamedFrom: Done,"),
    )
    .expect("our own");
    let (code, said) = krator(&["gen"], &made);
    assert_eq!(code, Some(0), "{said}");

    // The file belongs to the user, and stays when the description stops naming it.
    let text = fs::read_to_string(&spec).expect("generated");
    let without = text.lines().filter(|line| !line.starts_with("schemas:"));
    fs::write(&spec, without.map(|line| format!("{line}\n")).collect::<String>()).expect("our own");
    let (code, said) = krator(&["gen"], &made);
    assert_eq!(code, Some(0), "{said}");
    assert!(at(CRD_PATH).exists());
}

#[test]
fn nothing_outside_of_the_folder_is_read() {
    let (home, _) = project();
    let at = |path: &str| home.path().join(path);
    fs::rename(at("crds"), at("elsewhere")).expect("our own");
    let check = || krator(&["check", "spec.yaml"], home.path());
    let refused = |why: &str| {
        let (code, said) = check();
        assert!(code == Some(1) && said.contains(why), "{said}");
    };
    refused("it is not there");
    symlink("elsewhere", at("crds")).expect("our own");
    refused("`crds` is a symbolic link");
    fs::remove_file(at("crds")).expect("our own");
    fs::create_dir(at("crds")).expect("our own");
    symlink("../elsewhere/certificate.yaml", at(CRD_PATH)).expect("our own");
    refused("`certificate.yaml` is a symbolic link");
    fs::remove_file(at(CRD_PATH)).expect("our own");
    fs::create_dir(at(CRD_PATH)).expect("our own");
    refused("it is not a regular file");
    fs::remove_dir(at(CRD_PATH)).expect("our own");
    fs::write(at(CRD_PATH), vec![b'#'; krator::spec::LARGEST_SCHEMA + 1]).expect("our own");
    refused("it is larger than 4 MiB");
    fs::write(at(CRD_PATH), [0xff]).expect("our own");
    refused("it is not UTF-8");
    fs::write(at(CRD_PATH), CRD).expect("our own");
    assert_eq!(check().0, Some(0), "{}", check().1);
}
