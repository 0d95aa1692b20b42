//! Statements in documents, templates, messages and comments about missing features. Such a sentence becomes false when
//! the feature is added, in another file, where it is easily overlooked. The true ones are listed in
//! `testdata/claims.txt`.

use crate::documents::{documents, read};
use proc_macro2::{TokenStream, TokenTree};
use std::fs;

/// Words of sentences about missing features, in texts for users.
const WORDS: [&str; 12] = [
    "yet",
    "not there",
    "one version",
    "one thread",
    "so far",
    "for now",
    "not possible",
    "not supported",
    "not implemented",
    "until they are implemented",
    "never calls",
    "evaluates no",
];
/// The same for comments, which often state that an event has not happened at some moment.
const WORDS_OF_COMMENTS: [&str; 6] = [
    "are not there yet",
    "has one version",
    "one thread",
    "not implemented",
    "never calls",
    "evaluates no",
];

/// A sentence with one of the words.
struct Claim {
    place: String,
    sentence: String,
}

#[test]
fn what_is_said_to_be_missing_is_missing() {
    let list = read("testdata/claims.txt");
    let known: Vec<&str> = list
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .collect();
    let claims = claims();
    assert!(claims.len() > 20, "only {} sentences are read", claims.len());
    let unknown: Vec<String> = claims
        .iter()
        .filter(|claim| !known.iter().any(|known| claim.sentence.contains(known)))
        .map(|claim| format!("{}: {}", claim.place, claim.sentence))
        .collect();
    assert!(
        unknown.is_empty(),
        "these sentences say what is missing; mend them, or add a part of each that is true to testdata/claims.txt: {unknown:#?}"
    );
    let gone: Vec<&&str> = known
        .iter()
        .filter(|known| !claims.iter().any(|claim| claim.sentence.contains(**known)))
        .collect();
    assert!(gone.is_empty(), "nothing says this any more: {gone:#?}");
}

#[test]
fn a_sentence_that_names_what_is_missing_is_found_in_each_kind_of_text() {
    let source = r#"
//! The cats
//! are not there yet. The dogs are.
/// They are not there.
const SAID: &str = "cats are \
    not there yet";
// Dogs are not there.
// Cats are not there yet, though.
#[cfg(test)]
mod tests { const SAID: &str = "a test is not there yet"; }
"#;
    let mut found = Vec::new();
    of_source("a.rs", source, &mut found);
    let sentences: Vec<&str> = found.iter().map(|claim| claim.sentence.as_str()).collect();
    assert_eq!(
        sentences,
        [
            "cats are not there yet",
            "The cats are not there yet",
            "Cats are not there yet, though"
        ]
    );
    of_text(
        "a.md",
        "A bird\nis not there. | - **Yet** it\n\nsings",
        &WORDS,
        &mut found,
    );
    let sentences: Vec<&str> = found[3..].iter().map(|claim| claim.sentence.as_str()).collect();
    assert_eq!(sentences, ["A bird is not there", "| - **Yet** it"]);
}

fn claims() -> Vec<Claim> {
    let mut found = Vec::new();
    // A log of measurements describes the past.
    for page in documents().iter().filter(|page| !page.ends_with("/LOG.md")) {
        of_text(page, &read(page), &WORDS, &mut found);
    }
    for path in files("templates") {
        if !path.ends_with(".lock") {
            of_text(&path, &read(&path), &WORDS, &mut found);
        }
    }
    for folder in ["src", "crates", "tests", "e2e/tests", "examples"] {
        for path in files(folder) {
            if path.ends_with(".rs") && !path.ends_with(file!()) {
                of_source(&path, &read(&path), &mut found);
            }
        }
    }
    found
}

/// The claims of a text whose paragraphs end at empty lines.
fn of_text(place: &str, text: &str, words: &[&str], found: &mut Vec<Claim>) {
    for paragraph in text.split("\n\n") {
        let joined = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in joined.split(". ").flat_map(|part| part.split(" | ")) {
            let sentence = sentence.trim_end_matches('.');
            if words.iter().any(|word| has(sentence, word)) {
                found.push(Claim {
                    place: place.to_owned(),
                    sentence: sentence.to_owned(),
                });
            }
        }
    }
}

/// The claims in Rust files: in strings, which become messages and generated files, and in comments. Strings of tests
/// are not for users, and the strings of three crates are messages of Kubernetes.
fn of_source(place: &str, source: &str, found: &mut Vec<Claim>) {
    let are_others = [
        "/tests/",
        "/tests.rs",
        "krator-apiserver/",
        "krator-cel/",
        "krator-schema/",
    ];
    let are_ours = !place.starts_with("tests/") && !are_others.iter().any(|part| place.contains(part));
    let code = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or(source);
    if are_ours && let Ok(tokens) = code.parse::<TokenStream>() {
        of_strings(place, tokens, found);
    }
    let mut comments = String::new();
    for line in source.lines().map(str::trim_start) {
        match line.strip_prefix("//") {
            Some(comment) => comments += comment.trim_start_matches(['/', '!']),
            None => comments.push('\n'),
        }
        comments.push('\n');
    }
    of_text(place, &comments, &WORDS_OF_COMMENTS, found);
}

fn of_strings(place: &str, tokens: TokenStream, found: &mut Vec<Claim>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            // Doc comments are attributes here.
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next_if(|token| token.to_string() == "!");
                tokens.next_if(|token| {
                    matches!(token, TokenTree::Group(group) if group.stream().to_string().starts_with("doc ="))
                });
            }
            TokenTree::Punct(_) | TokenTree::Ident(_) => {}
            TokenTree::Group(group) => of_strings(place, group.stream(), found),
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                    of_text(place, &text.value(), &WORDS, found);
                }
            }
        }
    }
}

/// Whether a sentence contains the words, and not only as parts of longer words.
fn has(sentence: &str, words: &str) -> bool {
    let lower = sentence.to_lowercase();
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    lower.match_indices(words).any(|(at, _)| {
        let before = lower[..at].chars().next_back();
        let after = lower[at + words.len()..].chars().next();
        !is_part(before) && !is_part(after)
    })
}

/// The files below a folder of the repository, relative to the repository.
fn files(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(krator_tests::root().join(&next)).expect("a folder of the repository");
        for entry in entries {
            let entry = entry.expect("a folder of the repository");
            let name = entry.file_name().into_string().expect("a plain name");
            let path = format!("{next}/{name}");
            if !entry.path().is_dir() {
                found.push(path);
            } else if name != "target" && name != "vendor" {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}
