//! `krator lsp`, driven over stdio by a scripted client.
//!
//! `testdata/editor/<case>.txt` is a case. The section `spec.yaml` is a description in which `<1>`, `<2>` and so on
//! mark places; `other.yaml` is a second open one. Each line of `ask` is a request: `complete 1`, `hover 1`,
//! `definition 1`, `rename 1 NAME`, `fixes 1`, `fix all`, `symbols`, `findings`, or `type 1 TEXT`, which inserts text
//! at a place and leaves the file unsaved. Places refer to the text at its opening. A case with the section `crate` is
//! in a crate that krator generated from that section. `expected` has the answers; `KRATOR_UPDATE=1` rewrites it.

mod client;

use crate::case_file::{CaseFile, case_files};
use crate::operator::{files, krator};
use client::{Client, applied, uri_of};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The text without its marks, and the offset of each mark.
fn unmarked(text: &str) -> (String, BTreeMap<String, usize>) {
    let mut out = String::new();
    let mut marks = BTreeMap::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let mark = rest[at + 1..].split('>').next().unwrap_or_default();
        let is_mark = !mark.is_empty() && mark.chars().all(|c| c.is_ascii_digit());
        if is_mark {
            out += &rest[..at];
            marks.insert(mark.to_owned(), out.len());
            rest = &rest[at + mark.len() + 2..];
        } else {
            out += &rest[..=at];
            rest = &rest[at + 1..];
        }
    }
    (out + rest, marks)
}

/// A position in the units of the protocol: lines from 0, columns in UTF-16.
fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .encode_utf16()
        .count();
    json!({"line": line, "character": column})
}

struct Session {
    client: Client,
    folder: TempDir,
    path: PathBuf,
    uri: String,
    text: String,
    marks: BTreeMap<String, usize>,
}

impl Session {
    fn begin(case: &CaseFile) -> Session {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = folder.path().join("moose");
        match case.optional("crate") {
            Some(description) => generate(description, &at),
            None => fs::create_dir(&at).expect("our own"),
        }
        let (text, marks) = unmarked(case.section("spec.yaml"));
        let path = at.join("krator.yaml");
        let uri = uri_of(&path);
        let mut client = Client::start();
        if let Some(other) = case.optional("other.yaml") {
            client.open(&uri_of(&at.join("other file.yaml")), other);
        }
        client.open(&uri, &text);
        Session {
            client,
            folder,
            path,
            uri,
            text,
            marks,
        }
    }

    fn ask(&mut self, question: &str) -> String {
        let (verb, rest) = question.split_once(' ').unwrap_or((question, ""));
        let (mark, argument) = rest.split_once(' ').unwrap_or((rest, ""));
        let offset = self.marks.get(mark).copied();
        let place = |session: &Session| {
            let offset = offset.unwrap_or_else(|| panic!("{question}: there is no mark {mark}"));
            json!({"textDocument": {"uri": session.uri}, "position": position(&session.text, offset)})
        };
        match verb {
            "findings" => self.findings(),
            "symbols" => {
                let params = json!({"textDocument": {"uri": self.uri}});
                let symbols = self.client.ask("textDocument/documentSymbol", params);
                symbols_of(&symbols["result"], 0)
            }
            "complete" => {
                let answer = self.client.ask("textDocument/completion", place(self));
                self.completions(&answer["result"])
            }
            "hover" => {
                let answer = self.client.ask("textDocument/hover", place(self));
                match answer["result"]["contents"]["value"].as_str() {
                    Some(text) => text
                        .lines()
                        .map(|line| format!("  {line}").trim_end().to_owned() + "\n")
                        .collect(),
                    None => "  nothing\n".to_owned(),
                }
            }
            "definition" => {
                let answer = self.client.ask("textDocument/definition", place(self));
                self.locations(&answer["result"])
            }
            "rename" => {
                let mut params = place(self);
                let prepared = self.client.ask("textDocument/prepareRename", params.clone());
                params["newName"] = argument.into();
                let answer = self.client.ask("textDocument/rename", params);
                let placeholder = prepared["result"]["placeholder"].as_str().unwrap_or("nothing");
                format!("  of {placeholder}\n{}", self.edits(&answer))
            }
            "fix" | "fixes" => self.fixes(offset),
            "type" => {
                let offset = offset.expect("a mark");
                self.text.insert_str(offset, &argument.replace("\\n", "\n"));
                let text = self.text.clone();
                self.client.change(&self.uri, &text);
                String::new()
            }
            _ => panic!("no question: {question}"),
        }
    }

    fn findings(&mut self) -> String {
        let found = self.client.findings(&self.uri);
        let lines = found.iter().map(|finding| {
            let message = finding["message"].as_str().expect("a message");
            let severity = ["", "error", "warning", "info", "hint"]
                [finding["severity"].as_u64().expect("a number") as usize];
            let code = finding["code"].as_str().expect("a rule");
            let first = message.lines().next().unwrap_or_default();
            (
                severity,
                format!("  {} {severity}[{code}] {first}\n", range_of(&finding["range"])),
            )
        });
        // Left out, because the descriptions of the cases cause many hints.
        let lines: String = lines
            .filter(|(severity, _)| *severity != "hint")
            .map(|(_, line)| line)
            .collect();
        if lines.is_empty() {
            "  none\n".to_owned()
        } else {
            lines
        }
    }

    fn completions(&self, result: &Value) -> String {
        const SHOWN: usize = 8;
        let items = result.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut out = String::new();
        for item in items.iter().take(SHOWN) {
            let edit = &item["textEdit"];
            let detail = item["detail"].as_str().unwrap_or_default();
            let _ = writeln!(
                out,
                "  {:?} at {} {detail}",
                edit["newText"].as_str().expect("a text"),
                range_of(&edit["range"])
            );
        }
        if items.len() > SHOWN {
            let _ = writeln!(out, "  and {} more", items.len() - SHOWN);
        }
        if out.is_empty() {
            "  none\n".to_owned()
        } else {
            out.replace(" \n", "\n")
        }
    }

    fn name_of(&self, uri: &str) -> String {
        let folder = uri_of(&self.folder.path().join("moose")) + "/";
        uri.strip_prefix(&folder)
            .expect("a file of the folder")
            .to_owned()
    }

    fn locations(&self, result: &Value) -> String {
        let locations = result.as_array().map(Vec::as_slice).unwrap_or_default();
        let lines = locations.iter().map(|location| {
            let uri = location["uri"].as_str().expect("a URI");
            format!("  {} {}\n", self.name_of(uri), range_of(&location["range"]))
        });
        let lines: String = lines.collect();
        if lines.is_empty() {
            "  nothing\n".to_owned()
        } else {
            lines
        }
    }

    /// The changed lines of a workspace edit, and the moves of files.
    fn edits(&self, answer: &Value) -> String {
        if let Some(error) = answer["error"]["message"].as_str() {
            return format!("  refused: {error}\n");
        }
        let mut out = String::new();
        let result = &answer["result"];
        for (uri, edits) in result["changes"].as_object().into_iter().flatten() {
            out += &self.changed(uri, edits);
        }
        for change in result["documentChanges"].as_array().into_iter().flatten() {
            if change["kind"] == "rename" {
                let name = |key: &str| self.name_of(change[key].as_str().expect("a URI"));
                let _ = writeln!(out, "  {} becomes {}", name("oldUri"), name("newUri"));
            } else {
                out += &self.changed(
                    change["textDocument"]["uri"].as_str().expect("a URI"),
                    &change["edits"],
                );
            }
        }
        out
    }

    fn changed(&self, uri: &str, edits: &Value) -> String {
        let name = self.name_of(uri);
        let before = if uri == self.uri {
            self.text.clone()
        } else {
            fs::read_to_string(self.path.with_file_name(&name)).expect("a file")
        };
        let after = applied(&before, edits);
        let patch = diffy::DiffOptions::new()
            .set_context_len(0)
            .create_patch(&before, &after)
            .to_string();
        let lines = patch.lines().skip(2).filter(|line| line.starts_with(['+', '-']));
        let lines: String = lines.map(|line| format!("    {line}\n")).collect();
        format!("  {name}\n{lines}")
    }

    fn fixes(&mut self, offset: Option<usize>) -> String {
        let range = match offset {
            Some(offset) => {
                let at = position(&self.text, offset);
                json!({"start": at, "end": at})
            }
            None => json!({"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}}),
        };
        let params =
            json!({"textDocument": {"uri": self.uri}, "range": range, "context": {"diagnostics": []}});
        let answer = self.client.ask("textDocument/codeAction", params);
        let mut out = String::new();
        let is_asked = |action: &&Value| offset.is_some() || action["kind"] == "source.fixAll";
        for action in answer["result"].as_array().into_iter().flatten().filter(is_asked) {
            let _ = writeln!(
                out,
                "  {} ({})",
                action["title"].as_str().expect("a title"),
                action["kind"].as_str().expect("a kind")
            );
            out += &self.edits(&json!({"result": action["edit"]}));
        }
        if out.is_empty() {
            "  none\n".to_owned()
        } else {
            out
        }
    }
}

fn symbols_of(symbols: &Value, depth: usize) -> String {
    let mut out = String::new();
    for symbol in symbols.as_array().into_iter().flatten() {
        let name = symbol["name"].as_str().expect("a name");
        let _ = writeln!(
            out,
            "  {}{name} {}",
            "  ".repeat(depth),
            range_of(&symbol["selectionRange"])
        );
        out += &symbols_of(&symbol["children"], depth + 1);
    }
    out
}

/// A range in 1-based units.
fn range_of(range: &Value) -> String {
    let number = |of: &Value| of.as_u64().expect("a number") + 1;
    let (start, end) = (&range["start"], &range["end"]);
    let end_line = match start["line"] == end["line"] {
        true => String::new(),
        false => format!("{}:", number(&end["line"])),
    };
    format!(
        "{}:{}-{end_line}{}",
        number(&start["line"]),
        number(&start["character"]),
        number(&end["character"])
    )
}

/// Generates the crate of a description.
fn generate(description: &str, to: &Path) {
    let spec = to.with_extension("yaml");
    fs::write(&spec, description).expect("our own");
    let output = krator(&["new".as_ref(), &spec, "--out".as_ref(), to]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn each_question_gets_its_answer() {
    let mut differ = Vec::new();
    for case in case_files("editor", &["crate", "spec.yaml", "other.yaml", "ask", "expected"]) {
        let mut session = Session::begin(&case);
        let answers = case.section("ask").lines().map(|question| {
            let answer = session.ask(question);
            format!("> {question}\n{answer}")
        });
        let answers: String = answers.collect();
        case.expect("expected", &answers, &mut differ);
        session.client.end();
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// A rename in an editor, with `krator gen` after it, results in the same crate as the same edit of the description
/// with `krator gen` alone.
#[test]
fn a_rename_moves_code_as_gen_does() {
    let work = tempfile::tempdir().expect("a temporary folder");
    let description = include_str!("../../testdata/ok/moose/spec.yaml");
    let [edited, alone] = ["edited", "alone"].map(|name| {
        let folder = work.path().join(name).join("moose");
        fs::create_dir_all(folder.parent().expect("a parent")).expect("our own");
        generate(description, &folder);
        folder
    });
    let path = edited.join("krator.yaml");
    let text = fs::read_to_string(&path).expect("a description");
    let mut client = Client::start();
    client.open(&uri_of(&path), &text);
    let at = position(&text, text.find("[Roam]").expect("an edge") + 1);
    let params = json!({"textDocument": {"uri": uri_of(&path)}, "position": at, "newName": "Wander"});
    let answer = client.ask("textDocument/rename", params);
    client.end();
    let mut moves = 0;
    for change in answer["result"]["documentChanges"]
        .as_array()
        .expect("changes of documents")
    {
        let file = |uri: &Value| {
            let uri = uri.as_str().expect("a URI");
            edited.join(
                uri.strip_prefix(&(uri_of(&edited) + "/"))
                    .expect("a file of the crate"),
            )
        };
        if change["kind"] == "rename" {
            moves += 1;
            fs::rename(file(&change["oldUri"]), file(&change["newUri"])).expect("a file");
        } else {
            let path = file(&change["textDocument"]["uri"]);
            let before = fs::read_to_string(&path).expect("a file");
            fs::write(&path, applied(&before, &change["edits"])).expect("a file");
        }
    }
    assert_eq!(moves, 1, "the handler moves: {answer}");
    fs::copy(&path, alone.join("krator.yaml")).expect("a file");
    for folder in [&edited, &alone] {
        let output = std::process::Command::new(krator_tests::program())
            .arg("gen")
            .current_dir(folder)
            .output()
            .expect("krator runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let [edited, alone] = [files(&edited), files(&alone)];
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&edited), names(&alone));
    for (path, text) in &alone {
        assert!(edited[path] == *text, "{} differs", path.display());
    }
}

/// Invalid requests get an error, and the server continues.
#[test]
fn malformed_requests_get_an_error() {
    let mut client = Client::start();
    let uri = "file:///tmp/krator.yaml";
    client.open(uri, "states: [\u{1f98c}");
    let answer = client.ask("textDocument/frob", json!({}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let answer = client.ask("textDocument/hover", json!({"position": 7}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    for (uri, line, character) in [
        (uri, 0, 10),
        (uri, 0, 4_000_000_000_u32),
        (uri, 4_000_000_000_u32, 0),
        ("untitled:1", 0, 0),
    ] {
        for method in ["hover", "completion", "definition", "prepareRename", "rename"] {
            let params = json!({
                "textDocument": {"uri": uri}, "position": {"line": line, "character": character}, "newName": "X",
            });
            let answer = client.ask(&format!("textDocument/{method}"), params);
            let is_answer = answer.get("result").is_some() || answer["error"]["code"] == -32803;
            assert!(is_answer, "{method} at {line}:{character}: {answer}");
        }
    }
    client.end();
}
