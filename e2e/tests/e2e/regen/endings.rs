//! Crates with CRLF line endings, as git checks them out on Windows.

use crate::case_file::entries;
use crate::operator::files;
use crate::regenerate::{ELSEWHERE, args, edit, generate, new, text};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files apart from krator's own records, whose line endings do not matter.
fn visible(dir: &Path) -> BTreeMap<PathBuf, String> {
    let files = files(dir).into_iter();
    let visible =
        files.filter(|(path, _)| !path.starts_with(".krator") || path.starts_with(".krator/pruned"));
    visible.map(|(path, contents)| (path, text(contents))).collect()
}

fn crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// In each case of `testdata/regen/`, a run has the same effects in a crate with CRLF as in one with LF, and keeps the
/// line endings of each file. New files have LF.
#[test]
fn a_run_does_the_same_with_other_line_ends_and_keeps_them() {
    for case in entries("regen") {
        let work = tempfile::tempdir().expect("a temporary folder");
        let [unix, dos] = ["unix", "dos"].map(|name| {
            let dir = work.path().join(name);
            new(&case.join("before/krator.yaml"), &dir, ELSEWHERE);
            edit(&case, &dir);
            dir
        });
        for (path, contents) in files(&dos) {
            let path = dos.join(path);
            fs::write(path, crlf(&text(contents))).expect("our own");
        }
        let before = visible(&dos);
        let args = args(&case);
        let args: Vec<&str> = args.split_whitespace().collect();
        let [told, told_dos] = [&unix, &dos].map(|dir| {
            // A diff prints an empty line with or without a leading space.
            let told = text(generate(dir, &args).stderr);
            told.lines()
                .map(|line| line.trim_end().to_owned())
                .collect::<Vec<_>>()
        });
        let name = case.display();
        assert_eq!(told_dos, told, "{name}");

        let (unix, now) = (visible(&unix), visible(&dos));
        assert!(now.keys().eq(unix.keys()), "{name}: the same files");
        let pruned = Path::new(".krator/pruned");
        for (path, contents) in &now {
            let shown = path.display();
            assert_eq!(contents.replace("\r\n", "\n"), unix[path], "{name}: {shown}");
            // Moved files are missing at their former paths, so only mixed line endings are checked for them.
            let is_dos = *contents == crlf(contents);
            let is_unix = !contents.contains('\r');
            assert!(is_dos || is_unix, "{name}: {shown} has mixed line ends");
            let is_new = !before.contains_key(path) || now.contains_key(&pruned.join(path));
            assert!(is_dos || is_new, "{name}: {shown} lost its line ends");
            assert!(
                is_dos || !contents.contains("// Somebody has"),
                "{name}: {shown} was moved and lost its line ends"
            );
        }
        let output = generate(&dos, &["--check"]);
        let again = text(output.stderr);
        assert!(
            !again.contains("out of date") && !again.contains("would be "),
            "{name}: {again}"
        );
    }
}
