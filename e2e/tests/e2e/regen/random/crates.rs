//! The crates whose descriptions are edited, in one workspace.

mod branches;
mod files;

use super::edits::StateOf;
use super::{Dice, edits};
use crate::operator::{build_folder, cargo, files, krator};
use crate::regenerate::generate;
use crate::yaml::documents;
use krator::names::FieldName;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A line of a file: its path in the workspace, and its number.
type Line = (PathBuf, usize);

/// The folder of all members.
pub struct Workspace {
    dir: PathBuf,
}

/// A line of a user in the handler of a state.
#[derive(Clone)]
struct Mark {
    /// The state, under its present name; none after it was removed.
    of: Option<StateOf>,
    /// The state that the line names; none if it names no state, or a removed one.
    names: Option<StateOf>,
    /// Whether the line was deleted on purpose.
    is_deleted: bool,
}

/// One crate.
#[derive(Clone)]
pub struct Member {
    dir: PathBuf,
    name: &'static str,
    documents: Vec<Json>,
    /// The last edit.
    edit: String,
    /// Lines of handlers that the compiler named as errors after the last `krator gen`.
    named: BTreeSet<Line>,
    /// The lines of the user; each ends with its index.
    marks: Vec<Mark>,
}

impl Workspace {
    /// Creates an empty workspace, always in the same place: cargo identifies crates by their paths.
    pub fn new(name: &str) -> Self {
        Self::at(build_folder().join(name))
    }

    /// Creates an empty workspace in a folder.
    pub fn at(dir: PathBuf) -> Self {
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("the target folder is ours");
        let members = super::CASES.map(|case| format!("\"{case}\"")).join(", ");
        let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n");
        fs::write(dir.join("Cargo.toml"), manifest).expect("the target folder is ours");
        Workspace { dir }
    }

    /// A new crate, with lines of a user.
    pub fn member(&self, name: &'static str, case: &Path, dice: &mut Dice) -> Member {
        let dir = self.dir.join(name);
        let spec = case.join("spec.yaml");
        // Six vendored runtimes in one workspace would be six crates of the same name.
        let runtime = format!("path={}/crates/krator-runtime", krator_tests::root().display());
        let new = [
            Path::new("new"),
            &spec,
            Path::new("--out"),
            &dir,
            Path::new("--runtime"),
            Path::new(&runtime),
        ];
        let output = krator(&new);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let manifest = fs::read_to_string(dir.join("Cargo.toml")).expect("generated");
        // Profiles and the workspace belong to the root, and this crate is a member.
        let (package, _) = manifest.split_once("[profile.release]").expect("generated");
        fs::write(dir.join("Cargo.toml"), package).expect("writable");
        fs::copy(dir.join("Cargo.lock"), self.dir.join("Cargo.lock")).expect("writable");
        let mut member = Member {
            documents: documents(&fs::read(spec).expect("a description")),
            dir,
            name,
            edit: String::new(),
            named: BTreeSet::new(),
            marks: Vec::new(),
        };
        member.mark(dice);
        member
    }

    /// The lines with errors of rustc, by the members' names.
    pub fn check(&self) -> BTreeMap<String, Vec<(Line, String)>> {
        let check = [
            "check",
            "--workspace",
            "--keep-going",
            "--message-format=json",
            "--offline",
            "--quiet",
        ];
        let output = cargo()
            .args(check)
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .output()
            .expect("cargo runs");
        let mut errors: BTreeMap<String, Vec<(Line, String)>> = BTreeMap::new();
        let messages = String::from_utf8(output.stdout).expect("JSON");
        for message in messages
            .lines()
            .filter_map(|line| serde_json::from_str::<Json>(line).ok())
        {
            let inner = &message["message"];
            if inner["level"] != "error" {
                continue;
            }
            let manifest = PathBuf::from(message["manifest_path"].as_str().expect("a path"));
            let dir = manifest.parent().and_then(Path::file_name).expect("a member");
            let spans = inner["spans"].as_array().into_iter().flatten();
            for span in spans.filter(|span| span["is_primary"] == true) {
                let file = span["file_name"].as_str().expect("a path");
                let line = span["line_start"].as_u64().expect("a number") as usize;
                let text = inner["message"].as_str().unwrap_or_default().to_owned();
                errors
                    .entry(dir.to_string_lossy().into_owned())
                    .or_default()
                    .push(((file.into(), line), text));
            }
        }
        let is_ok = output.status.success();
        assert_eq!(
            is_ok,
            errors.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        errors
    }

    /// The message that tells where the crates can be inspected.
    pub fn keep(&self) -> String {
        format!("the crates are in {}", self.dir.display())
    }
}

impl Member {
    /// The name of the member and of its last edit.
    pub fn last(&self) -> String {
        format!("{}: {}", self.name, self.edit)
    }

    /// Edits the description, and regenerates the crate. Returns the sort of the edit.
    pub fn edit(&mut self, dice: &mut Dice, is_wanted: impl Fn(&str) -> bool) -> &'static str {
        let sort = self.describe(dice, is_wanted);
        self.run(some_args(dice));
        sort
    }

    /// Edits the description. Returns the sort of the edit.
    fn describe(&mut self, dice: &mut Dice, is_wanted: impl Fn(&str) -> bool) -> &'static str {
        let edited = edits::random(&self.documents, dice, is_wanted);
        self.documents = edited.documents;
        self.edit = edited.what;
        for mark in &mut self.marks {
            for state in [&mut mark.of, &mut mark.names] {
                *state = state.take().and_then(|state| edited.became.get(&state)?.clone());
            }
        }
        fs::write(self.dir.join("krator.yaml"), edits::text(&self.documents)).expect("writable");
        edited.sort
    }

    /// Regenerates the crate. Returns the output of krator.
    fn run(&mut self, args: &[&str]) -> String {
        let output = generate(&self.dir, args);
        let told = String::from_utf8(output.stderr).expect("text");
        let is_run = matches!(output.status.code(), Some(0 | 1)) && !told.contains("nothing was written");
        assert!(is_run, "{}:\n{told}", self.last());
        told
    }

    /// The defects after an edit: only lines of handlers may have errors of the compiler.
    pub fn judge(&mut self, errors: &BTreeMap<String, Vec<(Line, String)>>) -> Vec<String> {
        let mut wrong = Vec::new();
        self.named.clear();
        for ((path, line), text) in errors.get(self.name).into_iter().flatten() {
            let is_handler = path.to_string_lossy().contains("/states/") && !path.ends_with("states/mod.rs");
            if is_handler {
                self.named.insert((path.clone(), *line));
            } else {
                wrong.push(format!("{}:{line} does not compile: {text}", path.display()));
            }
        }
        wrong.extend(self.lost());
        wrong.extend(self.misplaced());
        wrong
    }

    /// The lines of the user that are missing in all files.
    pub fn lost(&self) -> Vec<String> {
        let is_record = |path: &Path| path.starts_with(".krator") && !path.starts_with(".krator/pruned");
        let written: String = files(&self.dir)
            .into_iter()
            .filter(|(path, _)| !is_record(path))
            .map(|(_, contents)| String::from_utf8_lossy(&contents).into_owned())
            .collect();
        let there: BTreeSet<&str> = written
            .lines()
            .filter_map(|line| Some(line.rsplit_once(" mine ")?.1))
            .collect();
        let is_lost =
            |mark: &usize| !self.marks[*mark].is_deleted && !there.contains(mark.to_string().as_str());
        let lost = (0..self.marks.len()).filter(is_lost);
        lost.map(|mark| format!("the line `mine {mark}` is lost"))
            .collect()
    }

    /// The lines that are not in the handler of their state, or that name another state than before.
    pub fn misplaced(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut handlers: BTreeMap<&StateOf, String> = BTreeMap::new();
        for (number, mark) in self.marks.iter().enumerate().filter(|(_, mark)| !mark.is_deleted) {
            let Some(of) = &mark.of else { continue };
            let text = handlers.entry(of).or_insert_with(|| self.module(of));
            let end = format!("// mine {number}");
            let Some(line) = text.lines().find(|line| line.ends_with(&end)) else {
                wrong.push(format!("the line `{end}` is not in the handler of {of:?}"));
                continue;
            };
            let names = mark.names.as_ref().filter(|_| !line.contains("// Mended."));
            if names.is_some_and(|(_, state)| !line.contains(&format!("super::{state})"))) {
                wrong.push(format!("{names:?} is not what this names: {line}"));
            }
        }
        wrong
    }

    /// The handler of a state, in `STATE.rs` or in `STATE/mod.rs`.
    fn handler(&self, of: &StateOf) -> PathBuf {
        let path = self.dir.join(handler_path(of));
        let folder = path.with_extension("").join("mod.rs");
        if folder.exists() { folder } else { path }
    }

    /// The source of the handler of a state, with its modules.
    fn module(&self, of: &StateOf) -> String {
        let handler = self.handler(of);
        let mut text =
            fs::read_to_string(&handler).unwrap_or_else(|error| panic!("{}: {error}", handler.display()));
        let folder = self.dir.join(handler_path(of)).with_extension("");
        for contents in files(&folder).into_values() {
            text += &String::from_utf8(contents).expect("Rust");
        }
        text
    }

    /// Corrects the lines with errors of the compiler by hand. Returns their number.
    pub fn mend(&mut self) -> usize {
        let root = self.dir.parent().expect("the workspace").to_owned();
        for (path, number) in &self.named {
            let path = root.join(path);
            let text = fs::read_to_string(&path).expect("a handler");
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let is_import = lines[number - 1].starts_with("use super::");
            let imported =
                is_import.then(|| std::mem::replace(&mut lines[number - 1], "use super::*;".to_owned()));
            let Some(imported) = imported else {
                mend_line(&mut lines[number - 1]);
                fs::write(&path, lines.join("\n") + "\n").expect("writable");
                continue;
            };
            // If an import fails, rustc does not report its uses, so they are removed together.
            let is_gone = |name: &&str| {
                !self
                    .documents
                    .iter()
                    .any(|document| document["states"].get(*name).is_some())
            };
            let names = imported
                .split(|c: char| !c.is_ascii_alphanumeric())
                .filter(|name| !name.is_empty());
            for gone in names.filter(is_gone) {
                let uses = format!("to({gone})");
                lines
                    .iter_mut()
                    .filter(|line| line.contains(&uses))
                    .for_each(mend_line);
            }
            fs::write(&path, lines.join("\n") + "\n").expect("writable");
        }
        self.named.len()
    }

    /// Writes lines into each handler without such lines. They use edges and fields of the description.
    pub fn mark(&mut self, dice: &mut Dice) {
        for document in self.documents.clone() {
            let kind = document["resource"]["kind"].as_str().expect("a kind");
            let fields: Vec<String> = edits::fields(&document, "spec");
            for (state, how) in document["states"].as_object().expect("states") {
                let of = (kind.to_owned(), state.clone());
                let path = self.handler(&of);
                let text = fs::read_to_string(&path).expect("a handler");
                if text.contains("// mine ") {
                    continue;
                }
                let mut block = vec![
                    ("let mine = \"a text of mine\";".to_owned(), None),
                    ("let _ = (mine, cx.first_run());".to_owned(), None),
                ];
                if let Some(field) = dice.pick(&fields) {
                    let field = FieldName::parse(field)
                        .expect("a field")
                        .rust_field()
                        .expect("a name in Rust");
                    let module = krator::names::snake(kind);
                    let pattern = format!("crate::{module}::{kind}Spec {{ {field}: _, .. }}");
                    block.push((format!("let {pattern} = &cx.manifest().spec;"), None));
                }
                for to in edits::next(how) {
                    let line = format!("if mine.is_empty() {{ return Ok(Transition::to(super::{to})); }}");
                    block.push((line, Some((kind.to_owned(), to))));
                }
                let signature = "&mut Context<'_>) -> Result<Transition<Self>> {\n";
                let (head, body) = text.split_once(signature).expect("a handler");
                let head = head.replace("_cx:", "cx:");
                let mut marked = format!("{head}{signature}");
                for (line, names) in block {
                    marked.push_str(&format!("        {line} // mine {}\n", self.marks.len()));
                    self.marks.push(Mark {
                        of: Some(of.clone()),
                        names,
                        is_deleted: false,
                    });
                }
                fs::write(&path, marked + body).expect("writable");
            }
        }
    }
}

/// The arguments of a run.
fn some_args(dice: &mut Dice) -> &'static [&'static str] {
    match dice.below(3) {
        0 => &["--allow-breaking", "--prune"],
        _ => &["--allow-breaking"],
    }
}

/// The path of a state's generated handler in the crate.
fn handler_path((kind, state): &StateOf) -> String {
    let [kind, state] = [kind, state].map(|name| krator::names::snake(name));
    format!("src/{kind}/states/{state}.rs")
}

/// Replaces the line by code that compiles with every description.
fn mend_line(line: &mut String) {
    *line = match line.rsplit_once("// mine ") {
        Some((_, mark)) => format!("        // Mended. // mine {mark}"),
        None if line.trim_start().starts_with("return ") => {
            "            return std::future::pending().await;".to_owned()
        }
        None => "        std::future::pending().await".to_owned(),
    };
}
