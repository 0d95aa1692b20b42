//! A reader who follows a page from an empty folder, block by block.
//!
//! - `sh`: commands, which must succeed; `sh fails`: the last of them must fail. A `krator dev` of `sh background`
//!   keeps running; a `text dev` shows when it is ready.
//! - `text dev`: the next output of `krator dev`, line by line, with other lines in between, up to a `…`.
//! - any block with the word `stopped`: `krator dev` is ended before the block.
//! - `KIND file=PATH`: the new contents of a file, relative to the present folder.
//! - `diff file=PATH`: lines that occur once in a file, including those with `-`, which are replaced by those with `+`.
//! - `/tmp/` in commands is a folder of the session.
//! - `text output`: the output of the previous block. A line `…` matches any lines, and `…` in a line matches any text.

use crate::block::{Block, blocks};
use crate::case_file::is_update;
use crate::cluster::{assets, say};
use crate::documents::read;
use crate::live;
use crate::operator::Crate;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

struct Session {
    _folder: TempDir,
    /// The present folder.
    at: PathBuf,
    variables: BTreeMap<String, String>,
    /// The folder with `krator` and `kubectl` of this build.
    tools: PathBuf,
    has_kubectl: bool,
    /// The running `krator dev`.
    dev: Option<live::Session>,
    /// The output of the last commands. None if they were not run.
    printed: Option<String>,
}

/// Follows a page. With `KRATOR_UPDATE=1`, each `text output` is replaced by the actual output; otherwise a difference
/// panics.
pub fn follow(path: &str) {
    let mut page = read(path);
    let mut session = Session::new();
    for block in blocks(path, &page.clone()) {
        if let Some(reason) = &block.not_run {
            say(&format!("{}: not run: {reason}", block.place));
            continue;
        }
        session.step(&block);
        let printed = session.printed.as_ref().filter(|_| block.has("output"));
        let Some(printed) = printed.filter(|printed| !matches(&block.text, printed)) else {
            continue;
        };
        assert!(
            is_update(Path::new(path)),
            "{}: the page shows\n{}\nbut this was printed:\n{printed}",
            block.place,
            block.text
        );
        let with = |text: &str| format!("```{}\n{text}```\n", block.info);
        page = page.replacen(&with(&block.text), &with(printed), 1);
        fs::write(krator_tests::root().join(path), &page).expect("the repository can be written");
    }
}

impl Session {
    fn new() -> Session {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let tools = folder.path().join("tools");
        let at = folder.path().join("reader");
        for folder in [&tools, &at] {
            fs::create_dir(folder).expect("a folder of our own");
        }
        let link = |target: &Path, name| {
            std::os::unix::fs::symlink(target, tools.join(name)).expect("a folder of our own");
        };
        link(krator_tests::program(), "krator");
        let assets = assets();
        if let Some(assets) = &assets {
            link(&assets.join("kubectl"), "kubectl");
        }
        Session {
            _folder: folder,
            at,
            variables: BTreeMap::new(),
            tools,
            has_kubectl: assets.is_some(),
            dev: None,
            printed: None,
        }
    }

    fn step(&mut self, block: &Block) {
        let path = block.file().map(|path| self.at.join(path));
        if block.has("stopped") {
            self.end_dev();
        }
        match (block.language(), path) {
            ("sh", _) => self.commands(block),
            ("diff", Some(path)) => {
                let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", block.place));
                fs::write(&path, changed(&text, block)).expect("a folder of our own");
            }
            (_, Some(path)) => {
                let folder = path.parent().expect("a file is in a folder");
                assert!(
                    folder.exists(),
                    "{}: {} does not exist",
                    block.place,
                    folder.display()
                );
                fs::write(&path, &block.text).expect("a folder of our own");
            }
            ("text", None) if block.has("dev") => {
                let dev = self.dev.as_mut().expect("`krator dev` runs");
                for line in block.text.lines() {
                    dev.wait_for(line.split('…').next().unwrap_or_default());
                }
            }
            ("text", None) => (),
            (language, None) => panic!("{}: what is done with {language:?}?", block.place),
        }
    }

    fn commands(&mut self, block: &Block) {
        let text = block.text.replace("/tmp/", &format!("{}/", self.tools.display()));
        let mut printed = String::new();
        let mut is_left_out = false;
        let mut succeeded = true;
        for command in commands_of(&text) {
            let command = command.as_str();
            println!("{}: {command}", block.place);
            assert!(
                succeeded,
                "{}: a command before `{command}` failed:\n{printed}",
                block.place
            );
            if command == "krator dev" {
                assert!(
                    block.has("background"),
                    "{}: it does not end by itself",
                    block.place
                );
                self.end_dev();
                self.dev = Some(live::Session::start(&self.at, &["dev"]));
            } else if let Some(folder) = command.strip_prefix("cd ") {
                self.at = self.at.join(folder);
                assert!(self.at.is_dir(), "{}: {command}", block.place);
            } else if let Some((name, value)) =
                command.strip_prefix("export ").and_then(|it| it.split_once('='))
            {
                let here = self.at.to_str().expect("temporary folders have plain names");
                let value = value.trim_matches('"').replace("$PWD", here);
                self.variables.insert(name.to_owned(), value);
            } else if let Some(args) = command.strip_prefix("cargo ") {
                self.cargo(args);
            } else if command.contains("kubectl") && !self.has_kubectl {
                is_left_out = true;
            } else {
                // On a busy machine, an operator may need more time than the default timeout of kubectl.
                let patient = command.replace("kubectl wait ", "kubectl wait --timeout=180s ");
                let output = self.bash(&patient);
                succeeded = output.0;
                printed += &output.1;
            }
        }
        assert_eq!(
            succeeded || is_left_out,
            !block.has("fails") || is_left_out,
            "{}: {printed}",
            block.place
        );
        self.printed = (!is_left_out).then_some(printed);
    }

    /// Runs a command, and returns whether it succeeded, and its output.
    fn bash(&self, command: &str) -> (bool, String) {
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("bash")
            .args(["-c", &format!("{{ {command}\n}} 2>&1")])
            .current_dir(&self.at)
            .env("PATH", format!("{}:{path}", self.tools.display()))
            .envs(&self.variables)
            .stdin(Stdio::null())
            .output()
            .expect("bash runs");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), printed)
    }

    /// Ends `krator dev`, which keeps its objects for the next one.
    fn end_dev(&mut self) {
        if let Some(dev) = self.dev.take() {
            assert!(dev.end().success());
        }
    }

    /// Runs cargo in the folder in which all tests build generated crates.
    fn cargo(&self, args: &str) {
        let args: Vec<&str> = args.split_whitespace().collect();
        let with_lock = [&args[..1], &["--locked", "--quiet"], &args[1..]].concat();
        Crate::in_folder(&self.at).cargo(&[&with_lock]);
    }
}

/// The commands of a text. A command continues on the next line after a backslash, and within single quotes, where a
/// backslash is literal.
fn commands_of(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        match commands.last_mut().filter(|_| is_open) {
            Some(command) => *command = format!("{command}\n{line}"),
            None => commands.push(line.to_owned()),
        }
        let quotes = commands.last().map_or(0, |command| command.matches('\'').count());
        is_open = quotes % 2 == 1 || line.ends_with('\\');
    }
    commands
}

#[test]
fn commands_are_read_as_a_shell_does() {
    let text = "a \\\n  b\nc '{\\\n}'\nd\n";
    assert_eq!(commands_of(text), ["a \\\n  b", "c '{\\\n}'", "d"]);
}

/// A text after the change of a block of the language `diff`.
pub fn changed(text: &str, block: &Block) -> String {
    let side = |left_out: char| -> String {
        let lines = block.text.lines().filter(|line| !line.starts_with(left_out));
        lines
            .map(|line| format!("{}\n", line.get(1..).unwrap_or_default()))
            .collect()
    };
    let (before, after) = (side('+'), side('-'));
    assert_eq!(
        text.matches(&before).count(),
        1,
        "{}: these lines are once in the file:\n{before}\nthe file:\n{text}",
        block.place
    );
    text.replacen(&before, &after, 1)
}

/// Whether an expected output, in which `…` matches anything, matches the actual output.
fn matches(expected: &str, printed: &str) -> bool {
    fn lines(expected: &[&str], printed: &[&str]) -> bool {
        match expected.split_first() {
            None => printed.is_empty(),
            Some((&"…", rest)) => (0..=printed.len()).any(|skipped| lines(rest, &printed[skipped..])),
            Some((first, rest)) => printed
                .split_first()
                .is_some_and(|(line, others)| is_like(first, line) && lines(rest, others)),
        }
    }
    fn is_like(expected: &str, line: &str) -> bool {
        match expected.split_once('…') {
            None => expected == line.trim_end(),
            Some((start, rest)) => line.strip_prefix(start).is_some_and(|line| {
                let mut ends = (0..=line.len()).filter(|at| line.is_char_boundary(*at));
                ends.any(|at| is_like(rest, &line[at..]))
            }),
        }
    }
    lines(
        &expected.lines().collect::<Vec<_>>(),
        &printed.lines().collect::<Vec<_>>(),
    )
}

#[test]
fn an_ellipsis_stands_for_anything_and_nothing_else_differs() {
    assert!(matches("a…c\n…\nz\n", "abc\nx\ny\nz\n"));
    assert!(matches("…\nz\n", "z\n"));
    assert!(!matches("a…c\n", "abd\n"));
    assert!(!matches("a\n", "a\nb\n"));
}
