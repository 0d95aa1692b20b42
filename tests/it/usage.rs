//! Wrong uses of commands: each gives one clear message and the right exit code, and loses no files.

use crate::operator::{files, krator};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const MOOSE: &str = include_str!("../../testdata/ok/moose/spec.yaml");

/// A folder with descriptions, and with many other files.
fn folder() -> TempDir {
    let work = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| work.path().join(name);
    let write = |name: &str, contents: &[u8]| fs::write(at(name), contents).expect("our own");
    write("moose.yaml", MOOSE.as_bytes());
    write("empty", b"");
    write("binary", &[b"\x7fELF\x00\xff".as_slice(), &[0xfe; 2000]].concat());
    write("huge", &vec![b'#'; krator::spec::LARGEST_FILE + 10]);
    fs::create_dir(at("dir")).expect("our own");
    write("dir/file", b"");
    fs::create_dir_all(at("bad/krator.yaml")).expect("our own");
    symlink("nowhere", at("dangling")).expect("our own");
    symlink("loop", at("loop")).expect("our own");
    let (moose, made) = (at("moose.yaml"), at("made"));
    let args = [Path::new("new"), &moose, Path::new("--out"), &made];
    assert!(krator(&args).status.success());
    work
}

/// Runs krator in a folder, with a text on stdin.
fn run(dir: &Path, args: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(krator_tests::program())
        .args(args)
        .current_dir(dir)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("krator runs");
    // krator may end without reading its input.
    let _ = child.stdin.take().expect("piped").write_all(stdin.as_bytes());
    child.wait_with_output().expect("krator ends")
}

fn contents(dir: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("our own") {
            let path = entry.expect("our own").path();
            found.push((path.clone(), fs::read(&path).ok()));
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Arguments for which krator ends with exit code 2 and this message, in one line or with usage.
const WRONG: &[(&str, &str)] = &[
    ("frob", "unrecognized subcommand 'frob'"),
    ("check --frob", "unexpected argument '--frob'"),
    ("check missing", "cannot read `missing`: No such file"),
    ("check moose.yaml missing", "cannot read `missing`: No such file"),
    ("check dir", "the folder `dir` has no krator.yaml"),
    ("check dangling", "cannot read `dangling`: No such file"),
    ("check loop", "cannot read `loop`: Too many levels"),
    (
        "check moose.yaml/x",
        "cannot read `moose.yaml/x`: Not a directory",
    ),
    ("check", "there is no krator.yaml"),
    (
        "check bad/krator.yaml",
        "the folder `bad/krator.yaml` has no krator.yaml",
    ),
    ("check --format=frob moose.yaml", "invalid value 'frob'"),
    ("gen", "`krator gen` works in the folder of an operator"),
    ("dev", "`krator dev` works in the folder of an operator"),
    ("gen frob", "unrecognized subcommand 'frob'"),
    ("gen crd missing", "cannot read `missing`"),
    ("gen sample dir", "the folder `dir` has no krator.yaml"),
    ("gen rbac dangling", "cannot read `dangling`"),
    (
        "gen crd moose.yaml moose.yaml",
        "unexpected argument 'moose.yaml'",
    ),
    ("gen --merge=frob", "invalid value 'frob'"),
    ("graph missing", "cannot read `missing`"),
    ("graph", "there is no krator.yaml"),
    ("graph moose.yaml --dot --json", "cannot be used with"),
    (
        "graph moose.yaml --output dir",
        "cannot write `dir`: Is a directory",
    ),
    (
        "graph moose.yaml --output missing/x",
        "cannot write `missing/x`: No such file",
    ),
    (
        "graph moose.yaml --output dir/../moose.yaml",
        "is the description itself",
    ),
    ("diff moose.yaml", "required arguments were not provided"),
    ("diff moose.yaml missing", "cannot read `missing`"),
    ("diff dir moose.yaml", "the folder `dir` has no krator.yaml"),
    ("diff - -", "only one of the descriptions can come from stdin"),
    ("check --fix -", "`--fix` cannot change standard input (`-`)"),
    ("check --fix missing", "cannot read `missing`: No such file"),
    ("explain frob", "there is no rule or key `frob`"),
    ("schema frob", "invalid value 'frob'"),
    ("completions", "required arguments were not provided"),
    ("completions frob", "invalid value 'frob'"),
    ("man", "required arguments were not provided"),
    ("man moose.yaml", "cannot write man pages to `moose.yaml`"),
    ("lsp --frob", "unexpected argument '--frob'"),
    ("lsp", "the editor did not start a session"),
    ("new", "begin with an example: `krator new --list`"),
    ("new dir", "the folder `dir` has no krator.yaml"),
    ("new bad", "the folder `bad` has no krator.yaml"),
    (
        "new made",
        "already the description of a crate: update that with `krator gen`",
    ),
    (
        "new --example frob",
        "unknown example `frob`; the examples are memcached",
    ),
    ("new moose.yaml --example moose", "cannot be used with"),
    ("new --list --example moose", "cannot be used with"),
    ("init", "required arguments were not provided"),
    ("init --kind Website", "required arguments were not provided"),
    (
        "init --kind website --group web.example.com",
        "--kind: `website` is not a name; expected a letter A-Z",
    ),
    (
        "init --kind website --group web",
        "--group: `web` is not a name; expected a DNS name",
    ),
    (
        "init --kind Website --group web",
        "--group: `web` is not a name; expected a DNS name",
    ),
    (
        "init --kind Website --group web.example.com --states Live,live",
        "--states: `live` is not a name",
    ),
    (
        "init --kind Website --group web.example.com --states Live,Live",
        "--states: `Live` is repeated",
    ),
    (
        "init --kind Website --group web.example.com --output moose.yaml",
        "`moose.yaml` already exists",
    ),
    (
        "init --kind Website --group web.example.com --output dangling",
        "`dangling` already exists",
    ),
    (
        "init --kind Website --group web.example.com --output missing/x",
        "cannot write `missing/x`: No such file",
    ),
    ("import", "required arguments were not provided"),
    ("import missing", "cannot read `missing`: No such file"),
    ("import dir", "cannot read `dir`: Is a directory"),
    ("import binary", "`binary` is not text in UTF-8"),
    ("import huge", "`huge` is larger than 16 MiB"),
    (
        "import empty",
        "there is no CustomResourceDefinition in this file",
    ),
    (
        "import moose.yaml",
        "there is no CustomResourceDefinition in this file",
    ),
    (
        "import made/deploy/crd.yaml --kind Elk",
        "no CustomResourceDefinition in this file is of the kind `Elk`; there are Moose",
    ),
    ("new missing", "cannot read `missing`"),
    ("new moose.yaml --out moose.yaml", "`moose.yaml` is not a folder"),
    (
        "new moose.yaml --out moose.yaml/x",
        "`moose.yaml/x` is not a folder",
    ),
    (
        "new moose.yaml --out moose.yaml/x/y",
        "`moose.yaml/x/y` is not a folder",
    ),
    ("new moose.yaml --out dangling", "`dangling` is not a folder"),
    (
        "new moose.yaml --out dir",
        "`dir` is not empty: name a new folder",
    ),
    ("new moose.yaml --out made", "already has a crate of krator"),
    ("new moose.yaml --out .", "`.` is not empty"),
    ("new moose.yaml --runtime frob", "invalid value 'frob'"),
    ("new moose.yaml --runtime path=", "invalid value 'path='"),
    ("new moose.yaml --runtime version=one", "a version such as"),
    (
        "new moose.yaml --runtime version=0.1",
        "the version of the runtime that this krator generates for is not among these",
    ),
];

#[test]
fn wrong_commands_get_one_clear_message() {
    let work = folder();
    let before = contents(work.path());
    for (args, message) in WRONG {
        let args: Vec<&str> = args.split(' ').collect();
        let output = run(work.path(), &args, "");
        let told = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert_eq!(told.matches("error: ").count(), 1, "{args:?}: {told}");
        assert!(
            told.starts_with("error: ") && told.contains(message),
            "{args:?}: {told}"
        );
        // clap shows the usage below; krator's own messages are one line.
        let is_one_line = told.lines().count() == 1 || told.contains("For more information");
        assert!(is_one_line, "{args:?}: {told}");
        assert!(contents(work.path()) == before, "{args:?}: something was changed");
    }
}

/// A file that is not a description has findings with their places.
#[test]
fn files_that_are_no_descriptions_have_one_finding() {
    let work = folder();
    let before = contents(work.path());
    let verbs = [
        "check",
        "gen crd",
        "gen sample",
        "graph",
        "new",
        "diff moose.yaml",
    ];
    for verb in verbs {
        for (file, message) in [
            ("empty", "the description is empty"),
            ("binary", "the file is not UTF-8"),
            ("huge", "a description may have at most"),
            ("-", "the description is empty"),
        ] {
            let args: Vec<&str> = verb.split(' ').chain([file]).collect();
            let output = run(work.path(), &args, "");
            let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
            assert_eq!(told.matches("error[").count(), 1, "{args:?}: {told}");
            assert!(told.contains(message), "{args:?}: {told}");
            assert!(
                told.len() < 4000,
                "{args:?}: the message has {} bytes",
                told.len()
            );
            assert!(contents(work.path()) == before, "{args:?}: something was changed");
        }
    }
}

/// `-` is stdin wherever a description is read, with the same result as a file.
#[test]
fn descriptions_are_read_from_stdin() {
    let work = folder();
    for verb in [
        "check",
        "graph",
        "gen crd",
        "gen rbac",
        "gen deploy",
        "gen dockerfile",
        "gen sample",
        "diff moose.yaml",
    ] {
        let with = |file| verb.split(' ').chain([file]).collect::<Vec<&str>>();
        let piped = run(work.path(), &with("-"), MOOSE);
        let read = run(work.path(), &with("moose.yaml"), "");
        assert!(piped.status.success(), "{verb}");
        assert_eq!(piped.stdout, read.stdout, "{verb}");
    }
    assert!(
        run(work.path(), &["new", "-", "--out", "piped"], MOOSE)
            .status
            .success()
    );
    let [piped, read] = ["piped", "made"].map(|name| files(&work.path().join(name)));
    assert!(piped == read, "the same crate");
}

/// A folder is accepted in place of the description in it, and without an argument the description is searched for.
#[test]
fn a_folder_stands_for_its_description() {
    let work = folder();
    for verb in ["check", "graph", "gen crd", "diff moose.yaml"] {
        let with = |file| verb.split(' ').chain([file]).collect::<Vec<&str>>();
        let named = run(work.path(), &with("made/krator.yaml"), "");
        let folder = run(work.path(), &with("made"), "");
        assert!(folder.status.success(), "{verb}");
        assert_eq!(
            (folder.stdout, folder.stderr),
            (named.stdout, named.stderr),
            "{verb}"
        );
        let here = run(&work.path().join("made"), &with("."), "");
        assert!(here.status.success() || verb.starts_with("diff"), "{verb}");
    }
    let started = work.path().join("started");
    fs::create_dir(&started).expect("our own");
    let init = [
        "init",
        "--kind",
        "Website",
        "--group",
        "web.example.com",
        "-o",
        "krator.yaml",
    ];
    let told = run(&started, &init, "").stderr;
    let told = String::from_utf8(told).expect("text");
    assert!(told.contains("`krator check krator.yaml`"), "{told}");
    let output = run(&started, &["new"], "");
    let told = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success() && told.contains("krator dev"), "{told}");
    // The folder beside the crate has a description, too, but no operator to run.
    let output = run(&started, &["dev"], "");
    let told = String::from_utf8(output.stderr).expect("text");
    assert!(told.contains("`.` is not the folder of a krator crate"), "{told}");
}

/// After an edit, `krator check` reports that the crate is behind, and finds nothing in files that are not there yet.
#[test]
fn check_says_when_a_crate_is_behind_its_description() {
    let work = folder();
    let made = work.path().join("made");
    let path = made.join("krator.yaml");
    let told = || String::from_utf8(run(&made, &["check"], "").stderr).expect("text");
    assert!(!told().contains("krator gen"), "{}", told());
    // The handler that krator has written for `Eat` stays in its file.
    let elk = "krator: 1\nresource: {group: animals.com, version: v1, kind: Elk}\nspec: {}\nmachine: {initial: Roam}\n\
               states:\n  Roam: {next: [Eat]}\n  Eat: {kind: ready, next: [Roam]}\n";
    fs::write(&path, format!("{MOOSE}---\n{elk}")).expect("our own");
    let output = run(&made, &["check"], "");
    let found = String::from_utf8(output.stdout).expect("text");
    assert!(!found.contains("src/elk"), "{found}");
    assert!(
        told().contains("note: krator.yaml has changed since the last `krator gen`"),
        "{}",
        told()
    );
}

/// A file that is named twice is checked once.
#[test]
fn a_file_that_is_named_twice_is_checked_once() {
    let work = folder();
    fs::write(work.path().join("bad.yaml"), "krator: 2\n").expect("our own");
    let once = run(work.path(), &["check", "bad.yaml"], "");
    let twice = run(work.path(), &["check", "bad.yaml", "bad.yaml"], "");
    assert_eq!((once.stdout, once.stderr), (twice.stdout, twice.stderr));
}

/// An empty folder may be used, but the current folder of a process must not be replaced.
#[test]
fn the_current_folder_is_not_replaced() {
    let work = folder();
    let here = work.path().join("here");
    fs::create_dir(&here).expect("our own");
    let output = run(&here, &["new", "../moose.yaml", "--out", "."], "");
    let told = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("is the current folder"), "{told}");
    assert!(
        run(work.path(), &["new", "moose.yaml", "--out", "here"], "")
            .status
            .success()
    );
    assert!(here.join("krator.yaml").exists());
}

/// The exit code is the same if the output is not read, as with `krator gen 2>&1 | head -1`.
#[test]
fn a_closed_pipe_changes_no_exit_code() {
    let work = folder();
    for (args, expected) in [
        (&["check", "moose.yaml"][..], 0),
        (&["check", "empty"], 1),
        (&["check", "empty", "--format=json"], 1),
        (&["diff", "moose.yaml", "moose.yaml"], 0),
        (&["diff", "moose.yaml", "empty"], 1),
        (&["graph", "moose.yaml"], 0),
        (&["check", "missing"], 2),
    ] {
        let mut child = Command::new(krator_tests::program())
            .args(args)
            .current_dir(work.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("krator runs");
        drop((child.stdout.take(), child.stderr.take()));
        let code = child.wait().expect("krator ends").code();
        assert_eq!(code, Some(expected), "{args:?}");
    }
}

/// Fixes are written to the file, unless krator cannot parse it, and a second run makes no changes.
#[test]
fn check_writes_fixes_once() {
    let work = folder();
    let path = work.path().join("misspelled.yaml");
    let misspelled = MOOSE.replace("initial: Tagged", "initial: Taged # first");
    fs::write(&path, misspelled).expect("our own");
    symlink("misspelled.yaml", work.path().join("link.yaml")).expect("our own");
    let told = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let output = run(work.path(), &["check", "--fix", "link.yaml"], "");
    assert!(output.status.success(), "{}", told(&output));
    assert!(told(&output).contains("link.yaml: 1 fix\n"), "{}", told(&output));
    let fixed = fs::read_to_string(&path).expect("our own");
    assert_eq!(fixed, MOOSE.replace("initial: Tagged", "initial: Tagged # first"));
    assert!(work.path().join("link.yaml").is_symlink());
    let before = contents(work.path());
    for file in ["link.yaml", "binary", "huge", "empty"] {
        let output = run(work.path(), &["check", "--fix", file], "");
        assert!(!told(&output).contains(" fix"), "{file}: {}", told(&output));
    }
    assert!(contents(work.path()) == before);
}

#[test]
fn each_shell_has_completions_and_each_verb_a_man_page() {
    let work = folder();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = run(work.path(), &["completions", shell], "");
        assert!(output.status.success(), "{shell}");
        let script = String::from_utf8(output.stdout).expect("text");
        assert!(script.contains("explain"), "{shell}: {script}");
    }
    let output = run(work.path(), &["man", "share/man1"], "");
    assert!(output.status.success());
    let page = |name: &str| fs::read_to_string(work.path().join("share/man1").join(name)).expect(name);
    for verb in [
        "check",
        "new",
        "gen",
        "graph",
        "diff",
        "explain",
        "schema",
        "completions",
        "man",
        "lsp",
    ] {
        assert!(page("krator.1").contains(verb), "{verb}");
        assert!(page(&format!("krator-{verb}.1")).contains(".TH"), "{verb}");
    }
}

#[test]
fn the_operator_that_migrates_gets_what_it_asks_for() {
    let work = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| work.path().join(name);
    let versions = "versions: {v1beta1: {changes: [{removed: .spec.former, type: optional string}]}}";
    fs::write(at("moose.yaml"), format!("{MOOSE}\n{versions}\n")).expect("our own");
    let made = at("made");
    assert!(
        krator(&[Path::new("new"), &at("moose.yaml"), Path::new("--out"), &made])
            .status
            .success()
    );
    // A script in place of cargo that prints its arguments.
    let cargo = at("cargo");
    fs::write(&cargo, "#!/bin/sh\necho \"$@\"\n").expect("our own");
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("our own");
    let output = Command::new(krator_tests::program())
        .args(["migrate", "--rate=7", "--", "--registry-url", "http://localhost"])
        .current_dir(&made)
        .env("PATH", format!("{}:/usr/bin:/bin", work.path().display()))
        .output()
        .expect("krator runs");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "run --quiet -- migrate --rate 7 --registry-url http://localhost\n",
        "{output:?}"
    );
}
