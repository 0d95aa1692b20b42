//! Texts with a special meaning in every free text of a description.

use crate::hostile_texts::{REFUSED, VECTORS, generated, text_of, with_all_vectors, with_text};
use crate::operator::{files, krator};
use crate::yaml::documents;
use krator::render::diagram;
use krator::text::is_unprintable;
use proc_macro2::{TokenStream, TokenTree};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A text without a special meaning in any format, for comparison.
const WORD: &str = "Word";

/// The actions that Helm executes in a template, without escaped braces.
fn actions(template: &str) -> Vec<String> {
    let template = template.replace("{{ \"{{\" }}", "");
    let actions = template.split("{{").skip(1);
    actions
        .map(|action| action.split("}}").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn no_text_has_a_special_meaning_in_any_file() {
    let (plain_model, plain) = generated(&with_text(WORD));
    for vector in VECTORS {
        let (model, plan) = generated(&with_text(vector));
        let paths =
            |plan: &krator::plan::Plan| plan.files().map(|(path, _)| path.to_owned()).collect::<Vec<_>>();
        assert_eq!(paths(&plan), paths(&plain), "{vector:?}");
        for (path, file) in plan.files() {
            // Left out: the description itself, the record of generated files, and the runtime.
            if path.ends_with("krator.yaml") || path.starts_with(".krator/") || path.starts_with("vendor/") {
                continue;
            }
            let plain = &plain.get(path).expect("the same paths").contents;
            let contents = &file.contents;
            let what = format!("{vector:?} in {path}");
            assert!(
                !contents.chars().any(|c| c != '\n' && is_unprintable(c)),
                "{what}:\n{contents}"
            );
            if path.starts_with("deploy/chart/templates/") {
                assert_eq!(actions(contents), actions(plain), "{what}:\n{contents}");
                continue;
            }
            match path.rsplit(['.', '/']).next().unwrap_or_default() {
                "rs" => assert_eq!(tokens(contents), tokens(plain), "{what}:\n{contents}"),
                "yaml" => assert_same_but_texts(
                    &documents(plain.as_bytes()),
                    &documents(contents.as_bytes()),
                    vector,
                    &what,
                ),
                "toml" => assert_same_manifest(plain, contents, &what),
                "md" => assert_holes(plain, contents, &what),
                _ => assert_eq!(contents, plain, "{what}"),
            }
        }
        let what = format!("{vector:?} in the DOT graph");
        assert_eq!(
            outside_quotes(&diagram::dot(&model)),
            outside_quotes(&diagram::dot(&plain_model)),
            "{what}"
        );
        assert_holes(
            &fenced(diagram::mermaid(&plain_model)),
            &fenced(diagram::mermaid(&model)),
            &format!("{vector:?} in Mermaid"),
        );
        let ascii = diagram::ascii(&model);
        assert!(
            !ascii.chars().any(|c| c != '\n' && is_unprintable(c)),
            "{vector:?}:\n{ascii}"
        );
    }
}

#[test]
fn texts_with_unprintable_characters_are_refused() {
    for vector in REFUSED {
        let text = text_of(&with_text(vector));
        let checked = krator::check("krator.yaml", text.as_bytes());
        assert!(krator::finding::has_errors(&checked.findings), "{vector:?}");
    }
}

/// The tokens of a Rust file, with the same token for all literals. Comments are not tokens.
fn tokens(rust: &str) -> Vec<String> {
    fn collect(tokens: TokenStream, out: &mut Vec<String>) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    out.push(format!("{:?}", group.delimiter()));
                    collect(group.stream(), out);
                    // The trailing comma of a list depends on whether it fits into a line.
                    out.pop_if(|last| last == ",");
                    out.push("end".to_owned());
                }
                TokenTree::Literal(_) => out.push("literal".to_owned()),
                other => out.push(other.to_string()),
            }
        }
    }
    let mut out = Vec::new();
    collect(rust.parse().expect("generated Rust has tokens"), &mut out);
    out
}

/// Asserts that documents differ only in their strings: where one has the plain word, the other has `text`.
fn assert_same_but_texts(plain: &[Value], other: &[Value], text: &str, what: &str) {
    fn replaced(value: &Value, text: &str) -> Value {
        match value {
            Value::String(word) => word.replace(WORD, text).into(),
            Value::Array(items) => items.iter().map(|item| replaced(item, text)).collect(),
            Value::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(key, value)| (key.clone(), replaced(value, text)));
                Value::Object(fields.collect())
            }
            other => other.clone(),
        }
    }
    fn trimmed(value: &Value) -> Value {
        match value {
            Value::String(word) => word.split_whitespace().collect::<Vec<_>>().join(" ").into(),
            Value::Array(items) => items.iter().map(trimmed).collect(),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(key, value)| (key.clone(), trimmed(value)));
                Value::Object(fields.collect())
            }
            other => other.clone(),
        }
    }
    for (plain, other) in plain.iter().zip(other) {
        assert_eq!(trimmed(&replaced(plain, text)), trimmed(other), "{what}");
    }
    assert_eq!(plain.len(), other.len(), "{what}");
}

fn assert_same_manifest(plain: &str, other: &str, what: &str) {
    let parse = |text: &str| text.parse::<toml_edit::DocumentMut>().expect("generated TOML");
    let (mut plain, mut other) = (parse(plain), parse(other));
    for manifest in [&mut plain, &mut other] {
        assert!(manifest["package"]["description"].is_str(), "{what}");
        manifest["package"]["description"] = toml_edit::value("");
    }
    assert_eq!(plain.to_string(), other.to_string(), "{what}");
}

/// A DOT graph without the contents of its quotes.
fn outside_quotes(dot: &str) -> String {
    let (mut out, mut quoted, mut escaped) = (String::new(), false, false);
    for c in dot.chars() {
        if quoted && c == '\\' && !escaped {
            escaped = true;
            continue;
        }
        if c == '"' && !escaped {
            quoted = !quoted;
            out.push('"');
        } else if !quoted {
            out.push(c);
        }
        escaped = false;
    }
    assert!(!quoted, "a quote without an end:\n{dot}");
    out
}

fn fenced(mermaid: String) -> String {
    format!("```mermaid\n{mermaid}```\n")
}

/// Asserts that Markdown differs only at the plain word, and that the replacing text has no special meaning.
fn assert_holes(plain: &str, other: &str, what: &str) {
    let mut fixed = plain.split(WORD);
    let first = fixed.next().unwrap_or_default();
    let mut rest = other
        .strip_prefix(first)
        .unwrap_or_else(|| panic!("{what}: another beginning:\n{other}"));
    let mut is_diagram = is_fence_open(first, false);
    for piece in fixed {
        let end = if piece.is_empty() {
            Some(rest.len())
        } else {
            rest.find(piece)
        };
        let end = end.unwrap_or_else(|| panic!("{what}: {piece:?} is gone:\n{other}"));
        let hole = &rest[..end];
        if is_diagram {
            let ends = |c: char| "\"`<>[]{}()|\\\n".contains(c);
            let label = hole.replace("<br/>", "");
            assert!(!label.contains(ends), "{what}: {hole:?} in a diagram");
        } else {
            assert!(is_inert_markdown(hole), "{what}: {hole:?} in a paragraph");
        }
        is_diagram = is_fence_open(piece, is_diagram);
        rest = &rest[end + piece.len()..];
    }
    assert_eq!(rest, "", "{what}: there is more");
}

fn is_fence_open(text: &str, before: bool) -> bool {
    before ^ (text.lines().filter(|line| line.starts_with("```")).count() % 2 == 1)
}

/// Whether a part of a paragraph has no code, links, HTML, emphasis, cells or line breaks.
fn is_inert_markdown(text: &str) -> bool {
    let (mut escaped, mut before) = (false, ' ');
    for c in text.chars() {
        if !escaped && ("`*[]<>|\n".contains(c) || c == '/' && before == ':') {
            return false;
        }
        // An escaped character has no special meaning.
        before = if escaped { ' ' } else { c };
        escaped = !escaped && c == '\\';
    }
    !escaped
}

#[test]
fn nothing_is_written_outside_the_folder_that_was_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inner = folder.path().join("a/b");
    fs::create_dir_all(&inner).expect("a folder of our own");
    let spec = folder.path().join("spec.yaml");
    fs::write(&spec, text_of(&with_all_vectors())).expect("a folder of our own");
    let output = krator(&[Path::new("new"), &spec, Path::new("--out"), &inner.join("out")]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let printed =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(
        !printed.chars().any(|c| c != '\n' && is_unprintable(c)),
        "{printed}"
    );
    let outside: Vec<_> = files(folder.path())
        .into_keys()
        .filter(|path| !path.starts_with("a/b/out"))
        .collect();
    assert_eq!(outside, [Path::new("spec.yaml")]);
}
