//! The tree of a text, which exists even for invalid YAML, compared with the tree of the parser.

use krator_language::finding::{Source, Span};
use krator_language::spec::{self, Node, NodeKind};
use krator_language::tolerant_tree::{Place, Step, TolerantTree};
use std::collections::BTreeSet;

/// Keys and scalars with their paths and places, according to the parser.
fn parsed(node: &Node, text: &str, path: &str, out: &mut BTreeSet<(String, usize)>) {
    // The nodes of an alias have the places of its anchor.
    if text[node.span.start..].starts_with('*') {
        return;
    }
    match &node.kind {
        NodeKind::Scalar(_) => {}
        NodeKind::Sequence(items) => {
            for item in items {
                parsed(item, text, &format!("{path}/-"), out);
            }
        }
        NodeKind::Mapping(mapping) => {
            for entry in &mapping.entries {
                let path = format!("{path}/{}", entry.key);
                let quote = usize::from(text[entry.key_span.start..].starts_with(['"', '\'']));
                out.insert((path.clone(), entry.key_span.start + quote));
                parsed(&entry.value, text, &path, out);
            }
        }
    }
}

fn keys_of(tree: &TolerantTree) -> BTreeSet<(String, usize)> {
    let keys = tree.all().filter(|at| tree.key(*at).is_some());
    keys.map(|at| {
        let steps = tree.path(at).into_iter();
        let path = steps.map(|step| match step {
            Step::Key(key) => format!("/{key}"),
            Step::Item => "/-".to_owned(),
            Step::Word | Step::Document => "/?".to_owned(),
        });
        (path.collect(), tree.parts[at].name.start)
    })
    .collect()
}

fn descriptions() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/ok");
    let folders = std::fs::read_dir(root).expect("a folder of the repository");
    let texts = folders.map(|folder| {
        let path = folder
            .expect("a folder of the repository")
            .path()
            .join("spec.yaml");
        std::fs::read_to_string(path).expect("a description")
    });
    texts.collect()
}

#[test]
fn the_outline_of_a_correct_text_is_what_the_parser_sees() {
    for text in descriptions() {
        let (documents, findings) = spec::parse(&Source::new("spec.yaml", text.as_str()));
        assert!(findings.is_empty());
        let mut expected = BTreeSet::new();
        for document in &documents {
            parsed(document, &text, "", &mut expected);
        }
        let tree = keys_of(&TolerantTree::of(&text));
        let differ: Vec<_> = expected.symmetric_difference(&tree).collect();
        assert!(differ.is_empty(), "{differ:?}\n{text}");
    }
}

#[test]
fn every_place_of_every_half_of_a_text_can_be_asked_for() {
    for text in descriptions() {
        for (offset, _) in text.char_indices().step_by(61) {
            let half = &text[..offset];
            let tree = TolerantTree::of(half);
            for part in &tree.parts {
                assert!(half.get(part.name.start..part.name.end).is_some(), "{half}");
                assert!(part.end <= half.len(), "{half}");
            }
            drop(Place::at(half, offset));
            drop(Place::at(&text, offset));
        }
    }
}

#[test]
fn a_broken_line_does_not_spoil_what_is_further_left() {
    let broken = [
        "  Roam:\n    next: [{to: Eat, when: \n",
        "  Roam:\n    next: [\"Eat\n",
        "  Roam: {next: [Eat\n",
        "  Roam:\n    message: 'it is\n",
        "  Roam\n",
        "  Roam:\n  - - x:\n",
    ];
    for broken in broken {
        let text = format!("states:\n{broken}  Eat:\n    next: [Roam]\nowns: []\n");
        let tree = TolerantTree::of(&text);
        let states = tree.entry(0, "states").expect("states");
        let eat = tree.entry(states, "Eat").expect(&text);
        assert!(tree.entry(eat, "next").is_some(), "{text}");
        assert!(tree.entry(0, "owns").is_some(), "{text}");
    }
}

/// The place of `|` in a text: its path, whether it is a key or a value, the token, and the token before the cursor.
fn place(text: &str) -> String {
    let offset = text.find('|').expect("a cursor");
    let text = text.replacen('|', "", 1);
    let Some(place) = Place::at(&text, offset) else {
        return "nothing".to_owned();
    };
    let steps = place.path.iter().map(|step| match step {
        Step::Key(key) => key.clone(),
        step => format!("{step:?}"),
    });
    let steps: Vec<String> = steps.collect();
    let Span { start, end } = place.token;
    let is = match (place.is_key, place.is_value) {
        (true, true) => "key or value",
        (true, false) => "key",
        _ => "value",
    };
    format!(
        "{}: {is} {:?} after {:?}",
        steps.join("."),
        &text[start..end],
        place.before
    )
}

#[test]
fn a_place_is_known_by_what_is_around_it() {
    for (text, expected) in [
        ("stat|", ": key or value \"stat\" after \"stat\""),
        (
            "states:\n  Roam:\n    ki|nd: x\n",
            "states.Roam: key \"kind\" after \"ki\"",
        ),
        (
            "states:\n  Roam:\n    kind: re|\n",
            "states.Roam.kind: value \"re\" after \"re\"",
        ),
        (
            "states:\n  Roam:\n    kind: |\n  Eat:\n",
            "states.Roam.kind: value \"\" after \"\"",
        ),
        (
            "states:\n  Roam:\n    |\n  Eat:\n",
            "states.Roam: key or value \"\" after \"\"",
        ),
        (
            "states:\n  Roam:\n    next: [Eat, |]\n",
            "states.Roam.next.Item: value \"\" after \"\"",
        ),
        (
            "states:\n  Roam:\n    next:\n    - E|\n",
            "states.Roam.next.Item: key or value \"E\" after \"E\"",
        ),
        (
            "states:\n  Roam: {next: [{t|\n  Eat:\n",
            "states.Roam.next.Item: key or value \"t\" after \"t\"",
        ),
        (
            "states:\n  Roam: {next: [{to: E|}]}\n",
            "states.Roam.next.Item.to: value \"E\" after \"E\"",
        ),
        (
            "columns:\n- {path: \".spec.|\"}\n",
            "columns.Item.path: value \".spec.\" after \".spec.\"",
        ),
        ("doc: |\n", "doc: value \"\" after \"\""),
        ("doc: x # not h|ere\n", "nothing"),
    ] {
        assert_eq!(place(text), expected, "{text}");
    }
}
