//! Kinds whose CustomResourceDefinitions are in files of `schemas`: their Rust types, and which files are read.

use crate::case_file::is_update;
use crate::operator::{Crate, OWN_CHECKS, krator as run};
use krator::finding::{Style, to_text};
use krator::render::{self, Runtime};
use krator::spec::Files;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SPEC: &str = include_str!("../../testdata/schemas/spec.yaml");
const CRD: &str = include_str!("../../testdata/schemas/crds/certificate.yaml");
const CRD_PATH: &str = "crds/certificate.yaml";

/// A handler that uses the types.
const HANDLER: &str = r#"use super::{Issue, Ready};
use crate::website::prelude::*;

impl State for Issue {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let website = cx.manifest();
        let mut certificate = Certificate::default();
        certificate.metadata.name = website.metadata.name.clone();
        certificate.spec = Some(CertificateSpec {
            secret_name: "tls".to_owned(),
            dns_names: Some(vec![website.spec.host.clone()]),
            issuer_ref: CertificateSpecIssuerRef {
                kind: Some(CertificateSpecIssuerRefKind::ClusterIssuer),
                ..Default::default()
            },
            ..Default::default()
        });
        let certificate = cx.apply(&certificate).await?;
        let status = certificate.status.clone().unwrap_or_default();
        let mut conditions = status.conditions.iter().flatten();
        Ok(match conditions.any(|condition| condition.r#type == "Ready") {
            true => Transition::to(Ready),
            false => Transition::stay(),
        })
    }
}
"#;

/// Its test: the certificate is brought to life.
const TEST: &str = r#"//! The certificate of a website.

use std::sync::Arc;

use krator_runtime::Local;
use website_operator::website::{WebsiteMachine, WebsiteState, prelude::Certificate};

#[tokio::test(start_paused = true)]
async fn a_website_is_ready_with_its_certificate() {
    let manifest = serde_json::json!({
        "apiVersion": "animals.com/v1", "kind": "Website",
        "metadata": {"name": "moose", "namespace": "default", "uid": "1"}, "spec": {"host": "moose.example.com"},
    });
    let manifest = serde_json::from_value(manifest).expect("a website");
    let mut website = Local::<WebsiteMachine>::new(manifest, WebsiteState::default(), Arc::default());
    let world = website.handle();

    website.run_until_idle().await;
    assert_eq!(website.state(), Some(WebsiteMachine::Issue));
    let [applied] = &world.applied::<Certificate>()[..] else {
        panic!("one certificate was applied");
    };
    let applied = serde_json::to_value(&applied.spec).expect("JSON");
    let expected = serde_json::json!({
        "secretName": "tls", "dnsNames": ["moose.example.com"], "port": 0,
        "issuerRef": {"name": "", "kind": "ClusterIssuer"},
    });
    assert_eq!(applied, expected);

    world.make_ready::<Certificate>();
    website.run_until(|state| state == WebsiteMachine::Ready).await;
}
"#;

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
    if is_update() {
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
    assert!(alone.contains("without a folder"), "{alone}");
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
        ["krator has the types of `apps/v1.Deployment` already"]
    );
}

/// A folder with the description and its file, and the crate that `krator new` makes of them.
fn project() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let at = |path: &str| home.path().join(path);
    fs::create_dir(at("crds")).expect("our own");
    fs::write(at(CRD_PATH), CRD).expect("our own");
    fs::write(at("spec.yaml"), SPEC).expect("our own");
    let made = at("made");
    let output = run(&[Path::new("new"), &at("spec.yaml"), Path::new("--out"), &made]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (home, made)
}

fn krator(args: &[&str], dir: &Path) -> (Option<i32>, String) {
    let mut krator = std::process::Command::new(env!("CARGO_BIN_EXE_krator"));
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

    // The former description is judged with the file as it was.
    let spec = at("krator.yaml");
    let text = fs::read_to_string(&spec).expect("generated");
    fs::write(
        &spec,
        text.replace("{kind: ready,", "{kind: ready, renamedFrom: Done,"),
    )
    .expect("our own");
    let (code, said) = krator(&["gen"], &made);
    assert_eq!(code, Some(0), "{said}");

    // The file belongs to the user, and stays when nothing names it any more.
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

#[test]
fn handlers_use_the_types_of_a_foreign_kind() {
    let krate = Crate::of("website-operator", |dir| {
        let (_home, made) = project();
        fs::create_dir_all(dir.parent().expect("a temporary folder")).expect("our own");
        let copied = std::process::Command::new("cp")
            .arg("-a")
            .arg(&made)
            .arg(dir)
            .status();
        assert!(copied.expect("cp runs").success());
        fs::write(dir.join("src/website/states/issue.rs"), HANDLER).expect("generated");
        fs::write(dir.join("tests/website.rs"), TEST).expect("generated");
    });
    krate.cargo(&OWN_CHECKS[1..]);
}
