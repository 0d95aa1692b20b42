//! Commands that are used the wrong way: one clear message each, an exit code that says so, and nothing is lost.

use crate::operator::{files, krator};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const MOOSE: &str = include_str!("../../testdata/ok/moose/spec.yaml");

/// A folder with descriptions, and with much that is none.
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
    let mut child = Command::new(env!("CARGO_BIN_EXE_krator"))
        .args(args)
        .current_dir(dir)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("krator runs");
    // krator may end without having read it.
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

/// Arguments after which krator ends with exit code 2 and says this, in one line or with usage.
const WRONG: &[(&str, &str)] = &[
    ("frob", "unrecognized subcommand 'frob'"),
    ("check --frob", "unexpected argument '--frob'"),
    ("check missing", "cannot read `missing`: No such file"),
    ("check moose.yaml missing", "cannot read `missing`: No such file"),
    ("check dir", "cannot read `dir`: Is a directory"),
    ("check dangling", "cannot read `dangling`: No such file"),
    ("check loop", "cannot read `loop`: Too many levels"),
    (
        "check moose.yaml/x",
        "cannot read `moose.yaml/x`: Not a directory",
    ),
    ("check", "there is no krator.yaml"),
    (
        "check bad/krator.yaml",
        "cannot read `bad/krator.yaml`: Is a directory",
    ),
    ("check --format=frob moose.yaml", "invalid value 'frob'"),
    ("gen", "there is no krator.yaml"),
    ("gen frob", "unrecognized subcommand 'frob'"),
    ("gen crd missing", "cannot read `missing`"),
    ("gen sample dir", "cannot read `dir`"),
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
    ("diff dir moose.yaml", "cannot read `dir`"),
    ("diff - -", "only one of the descriptions can come from stdin"),
    ("explain frob", "there is no rule or key `frob`"),
    ("new", "required arguments were not provided"),
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
    ("new moose.yaml --out dir", "`dir` is not empty"),
    ("new moose.yaml --out made", "holds a crate that krator made"),
    ("new moose.yaml --out .", "`.` is not empty"),
    ("new moose.yaml --runtime frob", "invalid value 'frob'"),
    ("new moose.yaml --runtime path=", "invalid value 'path='"),
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

/// A file that is not a description has findings, at their place.
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

/// `-` stands for stdin wherever a description is read, and gives the same as a file.
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

/// What is named twice is checked once.
#[test]
fn a_file_that_is_named_twice_is_checked_once() {
    let work = folder();
    fs::write(work.path().join("bad.yaml"), "krator: 2\n").expect("our own");
    let once = run(work.path(), &["check", "bad.yaml"], "");
    let twice = run(work.path(), &["check", "bad.yaml", "bad.yaml"], "");
    assert_eq!((once.stdout, once.stderr), (twice.stdout, twice.stderr));
}

/// An empty folder is taken, but not from under the feet of who works in it.
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

/// Nobody reads what krator says, as after `krator gen 2>&1 | head -1`.
#[test]
fn a_closed_pipe_is_no_panic() {
    let work = folder();
    for args in [
        &["check", "moose.yaml"][..],
        &["check", "empty"],
        &["graph", "moose.yaml"],
        &["check", "missing"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_krator"))
            .args(args)
            .current_dir(work.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("krator runs");
        drop((child.stdout.take(), child.stderr.take()));
        let code = child.wait().expect("krator ends").code();
        assert!(code.is_some_and(|code| code <= 2), "{args:?}: {code:?}");
    }
}
