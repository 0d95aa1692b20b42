//! Texts with a special meaning in some format, and descriptions that have them in every free text.

use krator::model::{Description, Extra};
use krator::plan::Plan;
use krator::render::{self, Runtime};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Texts with a special meaning in some of these formats.
pub const VECTORS: &[&str] = &[
    "../x",
    "/x",
    "it's \"quoted\" ''' \"\"\" \"# \"## \"",
    "line\nend: true\n- list\n# Heading\n===\n---\n...",
    "/* */ end */ // #} %} #[x] #![x] { } }",
    "    fn indented() { panic!(\"a doctest\") }",
    "\n\n    fn indented() { panic!(\"a doctest\") }\n",
    "```\nfn fenced() { panic!(\"a doctest\") }\n```",
    "~~~rust\nfenced\n~~~",
    "line\u{2028}line\u{2029}line",
    "not \u{200b}seen, \u{feff}nor \u{200f}this",
    "soft\u{ad}hyphen no\u{a0}break zero\u{200d}joiner",
    "{{x}} {{{x}}} {{#if x}} {{> x}} \\{{x}}",
    "${{ secrets.X }} $(X) $((1+1)) `X` ${X} %X% !x",
    "backslash \\",
    "\\",
    "\\N \\L \\\" \\n \\u0000 \\x41",
    "</script><script>x()</script><img src=x onerror=x()>",
    "\"]; click A call x() %%{init: {}}%% --> end",
    "[a](javascript:x) ![a](x) [a]: x <javascript:x> &lt;b&gt; @org/team #1 https://evil.example/x",
    "a ` backtick",
    "`a` ``b``",
    "| a | b |\n|---|---|",
    "1. one",
    "- item",
    "* item",
    "> quote",
    "<!-- comment -->",
    "*bold* _under_ __init__ ~~gone~~",
    "key: value # comment",
    "&anchor *alias !tag %directive @at",
    "on",
    "yes",
    "null",
    "~",
    "true",
    "1e3",
    "0o7",
    "0x1F",
    "12:30",
    "1_000",
    "2001-12-14",
    ".inf",
    "-",
    "=",
    "<<",
    "krator-text-0.",
    "Ünïcode ﬁ 字",
];

/// Texts that no description may contain.
pub const REFUSED: &[&str] = &[
    "nul \0",
    "\u{1b}[31mred\u{1b}[0m",
    "\u{1b}]8;;x\u{7}link",
    "back\u{8}space",
    "carriage\rreturn",
    "turned \u{202e}around",
    "isolated \u{2066}",
    "line\u{85}line",
];

/// A description as text. It is JSON, which is YAML, and non-ASCII characters are escaped.
pub fn text_of(description: &Value) -> String {
    let mut text = String::new();
    for c in description.to_string().chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text
}

/// A small description with this text in every free text.
pub fn with_text(text: &str) -> Value {
    json!({
        "krator": 1,
        "operator": "hostile",
        "doc": text,
        "resource": {"group": "hostile.example.com", "version": "v1", "kind": "Vessel"},
        "types": {"Named": {"description": text, "properties": {"a": {"type": "string", "optional": true, "description": text}}}},
        "spec": {
            "word": {"type": "string", "maxLength": 1000, "description": text, "default": text},
            "named": {"type": "optional Named", "description": text},
            "listed": {"type": "array", "optional": true, "description": text, "items": {"type": "string", "description": text}},
            "ruled": {
                "type": "string", "optional": true, "maxLength": 9,
                "validations": [{"rule": "self != 'x'", "message": text.split_whitespace().collect::<Vec<_>>().join(" ")}],
            },
        },
        "status": {"seen": {"type": "string", "description": text}},
        "columns": [{"name": "Seen", "path": ".spec.word", "description": text}],
        "conditions": {"Odd": text},
        "machine": {"initial": "Begin", "deletion": "End"},
        "states": {
            "Begin": {
                "doc": text, "phase": text, "message": text, "group": text, "allow": {"no-timeout": text},
                "next": [{"to": "Polled", "when": text}],
            },
            "Polled": {"doc": text, "wait": {"poll": "1s"}, "next": [{"to": "Rest", "when": text}]},
            "Rest": {"kind": "ready", "doc": text, "group": text, "next": [{"to": "Begin", "when": text}]},
            "End": {"kind": "final", "doc": text},
        },
    })
}

/// The model and the crate of a description, which must have no errors.
pub fn generated(description: &Value) -> (Description, Plan) {
    let text = text_of(description);
    let checked = krator::check("krator.yaml", text.as_bytes());
    let errors: Vec<_> = checked
        .findings
        .iter()
        .filter(|finding| krator::finding::has_errors(std::slice::from_ref(*finding)))
        .map(|finding| (finding.rule.name, &finding.message))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
    let mut description = checked.description.expect("without errors there is a model");
    description.deploy.extras = Extra::ALL.into();
    let plan = render::plan(&description, &checked.source, &Runtime::Vendored);
    (description, plan)
}

/// A description with every vector in its texts and as a value of an enum.
pub fn with_all_vectors() -> Value {
    let all = VECTORS.join("\n\n");
    let mut description = with_text(&all);
    let mut states = serde_json::Map::new();
    for (at, vector) in VECTORS.iter().enumerate() {
        let next = format!("S{}", at + 1);
        let when = if at % 2 == 0 {
            json!({"poll": "1s"})
        } else {
            json!({"watch": "self"})
        };
        states.insert(
            format!("S{at}"),
            json!({
                "doc": vector, "phase": vector, "message": vector, "group": vector, "wait": when,
                "next": [{"to": next, "when": vector}], "allow": {"no-timeout": vector},
            }),
        );
        description["spec"][format!("field{at}")] = json!({
            "type": "string", "description": vector, "default": vector, "maxLength": 1000,
            "validations": [{"rule": "self != 'x'", "message": one_line(vector)}],
        });
        description["spec"][format!("choice{at}")] =
            json!({"enum": ["other", vector], "default": vector, "description": vector});
        description["status"][format!("seen{at}")] = json!({"type": "string", "description": vector});
        description["conditions"][format!("Odd{at}")] = (*vector).into();
        let column =
            json!({"name": format!("C{at}"), "path": format!(".spec.field{at}"), "description": vector});
        description["columns"]
            .as_array_mut()
            .expect("a list")
            .push(column);
    }
    let last = format!("S{}", VECTORS.len());
    states.insert(last, json!({"kind": "ready", "doc": all}));
    states.insert("End".to_owned(), json!({"kind": "final", "doc": all}));
    description["states"] = states.into();
    description["machine"]["initial"] = "S0".into();
    let values: Vec<&str> = VECTORS.iter().copied().chain([""]).collect();
    description["spec"]["any"] = json!({"enum": values, "default": ""});
    description["spec"]["empty"] = json!({"type": "string", "default": ""});
    description["spec"]["many"] = json!({"type": "list of string", "default": VECTORS});
    description
}

/// The text on one line, as messages of validation rules have to be.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
