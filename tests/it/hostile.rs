//! Malicious and random descriptions: they cause a clear finding, and no panic. With algorithms of quadratic time or
//! worse, the tests would not end in time.

use krator::Checked;
use krator::catalog::Severity;
use krator::finding::{Style, reports, to_text};
use proptest::prelude::*;

const MOOSE: &str = include_str!("../../testdata/ok/moose/spec.yaml");

fn check(bytes: &[u8]) -> Checked {
    krator::check("hostile.yaml", bytes)
}

/// The only error of a description. It is rendered, so its span must be in the text.
fn one_finding(bytes: &[u8]) -> String {
    let checked = check(bytes);
    let findings: Vec<_> = checked
        .findings
        .iter()
        .filter(|finding| finding.rule.severity == Severity::Error)
        .collect();
    assert_eq!(
        findings.len(),
        1,
        "{:?}",
        findings
            .iter()
            .map(|finding| &finding.message)
            .collect::<Vec<_>>()
    );
    to_text(&checked.source, findings[0], Style::Plain);
    format!("{}: {}", findings[0].rule.name, findings[0].message)
}

#[test]
fn files_that_are_not_descriptions_are_refused() {
    assert!(one_finding(b"krator: 1\n\xff\xfe").contains("not UTF-8"));
    assert!(one_finding(b"").contains("empty"));
    assert!(one_finding(b"# nothing\n").contains("empty"));
    assert!(one_finding(b"---\n").contains("empty"));
    assert!(one_finding(b"- a\n- b\n").contains("expected a description as a mapping"));
    assert!(one_finding(b"moose").contains("expected a description as a mapping"));
    assert!(one_finding(&vec![b' '; krator::spec::LARGEST_FILE + 1]).contains("bytes"));
}

#[test]
fn yaml_that_the_language_does_not_allow_is_refused() {
    let with = |line: &str| MOOSE.replacen("  antlers: boolean", line, 1);
    assert!(one_finding(with("  antlers: boolean\n  antlers: boolean").as_bytes()).contains("twice"));
    assert!(one_finding(with("  antlers: boolean\n  <<: {a: string}").as_bytes()).contains("merge keys"));
    assert!(one_finding(with("  antlers: !bool boolean").as_bytes()).contains("tag"));
    assert!(one_finding(with("  ? [a]\n  : boolean").as_bytes()).contains("a key has to be a string"));
    assert!(one_finding(with("  antlers: *nothing").as_bytes()).starts_with("syntax"));
    assert!(one_finding(with("  antlers: &a [*a]").as_bytes()).starts_with("syntax"));
}

#[test]
fn deeply_nested_descriptions_are_refused() {
    for open in ["[", "{a: ", "- ", "? "] {
        let text = format!("spec: \n {}", open.repeat(20_000));
        assert!(one_finding(text.as_bytes()).starts_with("syntax"), "{open}");
    }
    let indented: String = (0..5_000)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    assert!(one_finding(indented.as_bytes()).contains("nested deeper"));
    for collection in ["list of ", "map of ", "list of map of "] {
        let field = format!("spec:\n  deep: {}string\n", collection.repeat(2_000));
        let text = MOOSE.replacen("spec:\n", &field, 1);
        assert!(
            one_finding(text.as_bytes()).contains("nested lists and maps"),
            "{collection}"
        );
    }
    // Each type is flat, but all of them together are not.
    let mut types = String::from("types:\n  T0: {properties: {a: string}}\n");
    for level in 1..30 {
        let phrase = "list of ".repeat(16);
        types += &format!("  T{level}: {{properties: {{a: {phrase}T{}}}}}\n", level - 1);
    }
    let text = MOOSE.replacen("spec:\n", &format!("{types}\nspec:\n  deep: T29\n"), 1);
    let found = check(text.as_bytes()).findings;
    let errors: Vec<&str> = found
        .iter()
        .filter(|finding| finding.rule.severity == Severity::Error)
        .map(|finding| finding.message.as_str())
        .collect();
    assert!(!errors.is_empty());
    for message in errors {
        assert!(message.contains("levels with all types expanded"), "{message}");
    }
}

#[test]
fn descriptions_that_expand_exponentially_are_refused() {
    let mut aliases = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let below = format!("*a{}", level - 1);
        aliases.push_str(&format!("a{level}: &a{level} [{}]\n", vec![below; 9].join(", ")));
    }
    assert!(one_finding(aliases.as_bytes()).contains("aliases expand to more than"));

    // The same with named types, which the CRD would expand.
    let mut types = String::from("types:\n  T0: {properties: {a: string}}\n");
    for level in 1..20 {
        let fields: Vec<String> = (0..9).map(|at| format!("f{at}: T{}", level - 1)).collect();
        types.push_str(&format!(
            "  T{level}: {{properties: {{{}}}}}\n",
            fields.join(", ")
        ));
    }
    let text = MOOSE.replacen("spec:\n", &format!("{types}\nspec:\n  bomb: T19\n"), 1);
    assert!(one_finding(text.as_bytes()).contains("with all types expanded"));
    let chain: String = (1..10_000)
        .map(|at| format!("  T{at}: {{properties: {{a: T{}}}}}\n", at + 1))
        .collect();
    let text = MOOSE.replacen("spec:\n", &format!("types:\n{chain}\nspec:\n"), 1);
    assert!(!check(text.as_bytes()).findings.is_empty());
}

#[test]
fn thousands_of_mistakes_are_found_in_time() {
    let states: String = (0..5_000)
        .map(|at| format!("  S{at}: {{next: [Nowhere{at}, Else{at}], wait: {{}}}}\n"))
        .collect();
    let text = format!(
        "krator: 1\nresource: {{group: a.b, version: v1, kind: Big}}\nspec: {{}}\nmachine: {{initial: S0}}\nstates:\n{states}"
    );
    let checked = check(text.as_bytes());
    assert!(checked.findings.len() >= 10_000);
}

/// Rules are evaluated for defaults and the sample, and a rule may contain nested loops.
#[test]
fn rules_that_never_end_are_not_evaluated_to_an_end() {
    let numbers = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
    let loops = |expression: String, variable: char| format!("{numbers}.all({variable}, {expression})");
    let rule = ('a'..='p').fold("true".to_owned(), loops);
    // The API server refuses a default whose rule costs too much.
    for (default, named, finding) in [("", "a", "costly-rule"), (", default: x", "b", "invalid-schema")] {
        let text = MOOSE.replacen(
            "  antlers: boolean",
            &format!(
                "  {named}: {{type: string{default}, validations: [{{rule: '{rule}'}}]}}\n  antlers: boolean"
            ),
            1,
        );
        assert_ne!(text, MOOSE);
        let rules: Vec<_> = check(text.as_bytes())
            .findings
            .iter()
            .map(|finding| finding.rule.name)
            .collect();
        assert!(rules.contains(&finding), "{rules:?}");
    }
}

/// Messages quote descriptions and are printed on terminals, so they must have no characters that move the cursor or
/// reverse text.
#[test]
fn messages_show_no_control_characters() {
    for hostile in ["\\e[31m", "\\u202e", "\\0", "\\r", "\\x07", "\\u2028"] {
        for (from, to) in [
            ("  Eat:", format!("  \"E{hostile}at\":")),
            ("to: Eat", format!("to: \"E{hostile}at\"")),
            ("kind: ready", format!("kind: \"re{hostile}ady\"")),
            ("  antlers: boolean", format!("  \"ant{hostile}lers\": boolean")),
            ("  antlers: boolean", format!("  antlers: \"bool{hostile}ean\"")),
            ("operator: moose-tracker", format!("operator: \"moose{hostile}\"")),
            ("path: .spec.weight", format!("path: \".spec.we{hostile}ight\"")),
            ("phase: Hungry", format!("phase: \"Hung{hostile}ry\"")),
            ("doc: Eats", format!("\"do{hostile}c\": Eats")),
        ] {
            let text = MOOSE.replacen(from, &to, 1);
            assert_ne!(text, MOOSE);
            let checked = check(text.as_bytes());
            assert!(!checked.findings.is_empty() || hostile == "\\u2028", "{to}");
            for finding in &checked.findings {
                let parts = finding
                    .help
                    .iter()
                    .chain(&finding.label)
                    .chain([&finding.message]);
                for part in parts {
                    assert!(!part.chars().any(krator::text::is_unprintable), "{part:?}");
                }
            }
        }
    }
}

/// A name with special characters is an error, in every place.
#[test]
fn hostile_names_are_refused() {
    let long = "A".repeat(300);
    let names = [
        "../x",
        "/x",
        long.as_str(),
        "a'b",
        "a\\nb",
        "*/",
        "#}",
        "```x",
        "{{x}}",
        "${{ secrets.X }}",
        "$(X)",
        "x\\\\",
        "</script>",
        "click A call x()",
        "[a](javascript:x)",
        "`",
    ];
    for name in names {
        for (from, to) in [
            ("  Eat:", format!("  \"{name}\":")),
            ("kind: Moose", format!("kind: \"{name}\"")),
            ("plural: moose", format!("plural: \"{name}\"")),
            ("group: animals.com", format!("group: \"{name}\"")),
            ("version: v1", format!("version: \"{name}\"")),
            ("operator: moose-tracker", format!("operator: \"{name}\"")),
            ("shortNames: [mo]", format!("shortNames: [\"{name}\"]")),
            ("categories: [animals]", format!("categories: [\"{name}\"]")),
            ("  antlers: boolean", format!("  \"{name}\": boolean")),
        ] {
            let text = MOOSE.replacen(from, &to, 1);
            let checked = check(text.as_bytes());
            assert!(krator::finding::has_errors(&checked.findings), "{to}");
        }
    }
    for name in ["Self", "Mod", "Con", "State", "Ok", "Moose", "Super", "Crate"] {
        let text = MOOSE.replace("Eat", name);
        assert!(
            krator::finding::has_errors(&check(text.as_bytes()).findings),
            "{name}"
        );
    }
    for name in ["std", "match", "deps", "kube", "build", "tokio"] {
        let text = MOOSE.replacen("moose-tracker", name, 1);
        assert!(
            krator::finding::has_errors(&check(text.as_bytes()).findings),
            "{name}"
        );
    }
    for name in ["Error", "Type", "DeleteVM", "Node"] {
        let text = MOOSE.replace("Eat", name);
        assert!(
            !krator::finding::has_errors(&check(text.as_bytes()).findings),
            "{name}"
        );
    }
}

/// Asserts that every finding has its span in the text and can be rendered, and that a description without errors can
/// be drawn as a graph.
fn assert_sound(bytes: &[u8]) {
    let checked = check(bytes);
    let length = checked.source.text().len();
    for finding in &checked.findings {
        assert!(
            finding.span.start <= finding.span.end && finding.span.end <= length,
            "{finding:?}"
        );
        to_text(&checked.source, finding, Style::Plain);
    }
    reports(checked.findings.iter().map(|finding| (&checked.source, finding)));
    if let Some(description) = checked
        .description
        .as_ref()
        .filter(|_| !krator::finding::has_errors(&checked.findings))
    {
        krator::render::diagram::dot(description);
        krator::render::diagram::mermaid(description);
        krator::render::diagram::ascii(description);
    }
}

/// Keywords of the language, so that random YAML passes the first checks.
const WORDS: &[&str] = &[
    "krator",
    "1",
    "resource",
    "group",
    "a.b",
    "version",
    "v1",
    "kind",
    "Moose",
    "spec",
    "status",
    "machine",
    "initial",
    "states",
    "Roam",
    "Eat",
    "next",
    "wait",
    "poll",
    "1s",
    "timeout",
    "after",
    "to",
    "ready",
    "failed",
    "final",
    "once",
    "effects",
    "resume",
    "retry",
    "limit",
    "times",
    "then",
    "types",
    "list of string",
    "core/v1.Taint",
    "meta/v1.LabelSelector",
    "watch",
    "self",
    "owned",
    "owns",
    "watches",
    "by",
    ".spec.a",
    "{}",
    "[]",
    "\"*\"",
    "~",
    "true",
    "-1",
    "é",
    "conditions",
    "allow",
    "deletion",
];

fn yaml() -> impl Strategy<Value = String> {
    let word = prop::sample::select(WORDS).prop_map(str::to_owned);
    let leaf = word.clone();
    let tree = leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec((word.clone(), inner), 0..6).prop_map(|entries| {
                let entries: Vec<String> = entries
                    .into_iter()
                    .map(|(key, value)| format!("{key}: {value}"))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }),
        ]
    });
    prop::collection::vec((prop::sample::select(WORDS), tree), 0..8).prop_map(|entries| {
        entries
            .into_iter()
            .map(|(key, value)| format!("{key}: {value}\n"))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        assert_sound(&bytes);
    }

    #[test]
    fn random_text(text in "\\PC{0,200}") {
        assert_sound(text.as_bytes());
    }

    #[test]
    fn random_yaml(text in yaml()) {
        assert_sound(text.as_bytes());
        assert_sound(format!("krator: 1\n{text}").as_bytes());
    }

    #[test]
    fn random_edits(
        case in prop::sample::select(&["moose", "karpenter", "helmrelease", "postgresql", "baremetalhost"][..]),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..30, prop::sample::select(WORDS)), 1..4),
    ) {
        let path = format!("{}/testdata/ok/{case}/spec.yaml", env!("CARGO_MANIFEST_DIR"));
        let mut text = std::fs::read(path).unwrap();
        for (at, length, word) in cuts {
            let at = at.index(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, word.bytes());
        }
        assert_sound(&text);
    }
}
