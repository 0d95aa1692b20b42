//! `krator schema`: it accepts the same descriptions as the parser, refuses mistakes of shape, and documents each key
//! like the table of keys.

use super::examples::{at, check, example, probes, takes};
use crate::case_file::case_files;
use crate::dice::Dice;
use crate::operator::krator;
use crate::random_description::{Size, describe};
use jsonschema::Validator;
use krator::catalog::keys::{Absent, Type, all};
use krator::language_schema::of_language;
use krator::names;
use serde::Deserialize as _;
use serde_json::{Value, json};

fn validator() -> Validator {
    jsonschema::draft7::new(&of_language()).expect("a JSON Schema")
}

/// The documents of a description as an editor reads them, or a syntax error of YAML.
fn documents(text: &str) -> Result<Vec<Value>, serde_yaml::Error> {
    serde_yaml::Deserializer::from_str(text)
        .map(Value::deserialize)
        .collect()
}

/// The errors of the schema in a description, as text.
fn refused(validator: &Validator, text: &str) -> Vec<String> {
    match documents(text) {
        Ok(documents) => documents
            .iter()
            .flat_map(|document| validator.iter_errors(document))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect(),
        Err(error) => vec![error.to_string()],
    }
}

#[test]
fn good_descriptions_fit_the_schema() {
    let validator = validator();
    let mut descriptions: Vec<(String, String)> = crate::descriptions::cases()
        .into_iter()
        .map(|(name, path)| {
            let text = std::fs::read_to_string(path.join("spec.yaml"));
            (name, text.expect("a case has a description"))
        })
        .collect();
    let examples = all().into_iter().map(|located| {
        let text = serde_yaml::to_string(&example(&located).0).expect("YAML");
        (located.paths[0].clone(), text)
    });
    descriptions.extend(examples);
    for seed in 0..50 {
        let text = describe(&mut Dice::new(seed), Size::LARGE);
        descriptions.push((format!("the random description {seed}"), text));
    }
    for (name, text) in descriptions {
        assert_eq!(
            refused(&validator, &text),
            Vec::<String>::new(),
            "{name}:\n{text}"
        );
    }
}

/// Rules about the shape of a description: the existing keys, and the type of each.
const OF_SHAPE: [&str; 6] = [
    "unknown-key",
    "missing-key",
    "wrong-type",
    "invalid-name",
    "invalid-duration",
    "wildcard-access",
];

/// Cases of such rules whose mistakes cannot be detected in a single value, with the reasons.
const NOT_OF_SHAPE: [(&str, &str); 11] = [
    (
        "missing-key.deletion",
        "the keys of the machine and of a state together",
    ),
    ("missing-key.then", "`then` is only needed beside a number"),
    ("missing-key.gate", "either of two keys is enough"),
    ("invalid-name.crd", "two names together are too long"),
    (
        "invalid-name.group",
        "a DNS name like any other, which needs approval",
    ),
    (
        "invalid-name.rust-field",
        "a name in JSON like any other, which needs a `rustName`",
    ),
    (
        "invalid-name.rust-kind",
        "a kind like any other, which needs a `rustName`",
    ),
    (
        "invalid-duration.timeout",
        "a duration, which only a timeout must not be",
    ),
    ("wrong-type.scope", "a scope, which is not that of the kind"),
    ("wrong-type.scopes", "two scopes, which are of one kind"),
    (
        "wrong-type.kubernetes",
        "a type of a form that Kubernetes does not have",
    ),
];

#[test]
fn mistakes_of_shape_do_not_fit_the_schema() {
    let validator = validator();
    let mut wrong = Vec::new();
    let mut refusals = 0;
    for case in case_files("err", &["before.yaml", "spec.yaml", "expected"]) {
        let rule = case.name().split('.').next().expect("the part before a dot");
        if !OF_SHAPE.contains(&rule) {
            continue;
        }
        let is_refused = !refused(&validator, case.section("spec.yaml")).is_empty();
        refusals += usize::from(is_refused);
        let is_exception = NOT_OF_SHAPE.iter().any(|(name, _)| *name == case.name());
        if is_refused == is_exception {
            let verdict = if is_refused { "refused" } else { "accepted" };
            wrong.push(format!("{} is {verdict}", case.name()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refusals > 20, "only {refusals} cases");
}

#[test]
fn the_schema_and_the_parser_take_the_same_values() {
    let validator = validator();
    let mut wrong = Vec::new();
    for located in all() {
        let (whole, path) = example(&located);
        for probe in probes(&located.key.value) {
            let mut whole = whole.clone();
            *at(&mut whole, &path).expect("the key of the example") = probe.clone();
            let text = serde_yaml::to_string(&whole).expect("YAML");
            let refused = refused(&validator, &text);
            let (findings, texts) = check(&whole);
            if !refused.is_empty() && !krator::finding::has_errors(&findings) {
                wrong.push(format!(
                    "{path:?} only refused by the schema: {probe:?}\n{refused:?}"
                ));
            }
            if refused.is_empty() && takes(&located.key.value, &probe) == Some(false) {
                wrong.push(format!("{path:?} only refused by the parser: {probe:?}\n{texts}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The parts of the schema that a path may refer to. Paths do not contain names that a description chooses, so a key of
/// a type and a key beside the fields may have the same path.
fn parts<'s>(root: &'s Value, schema: &'s Value, path: &[&str], within: usize) -> Vec<&'s Value> {
    // Types may be nested without end.
    if within > 16 {
        return Vec::new();
    }
    if let Some(name) = schema["$ref"].as_str() {
        let meant = name.strip_prefix('#').and_then(|name| root.pointer(name));
        return parts(root, meant.expect("a definition"), path, within + 1);
    }
    let Some((first, rest)) = path.split_first() else {
        return vec![schema];
    };
    let alternatives = ["allOf", "anyOf"]
        .into_iter()
        .filter_map(|keyword| schema[keyword].as_array());
    let inside = ["items", "additionalProperties"]
        .into_iter()
        .filter_map(|keyword| schema.get(keyword));
    let mut found: Vec<&Value> = alternatives
        .flatten()
        .chain(inside)
        .flat_map(|inner| parts(root, inner, path, within + 1))
        .collect();
    if let Some(key) = schema["properties"].get(first) {
        found.extend(parts(root, key, rest, within + 1));
    }
    found
}

/// The texts of the schema and of `krator explain` for a key are those of the table, which the reference is tested
/// against.
#[test]
fn the_schema_and_explain_say_of_each_key_what_the_table_says() {
    let schema = of_language();
    for located in all() {
        let key = located.key;
        for path in &located.paths {
            let steps: Vec<&str> = path.split('.').collect();
            let is_meant = |part: &&Value| {
                part["description"]
                    .as_str()
                    .is_some_and(|text| text.starts_with(key.doc))
            };
            let parts = parts(&schema, &schema, &steps, 0);
            let part = parts
                .into_iter()
                .find(is_meant)
                .unwrap_or_else(|| panic!("the schema lacks {path}"));
            let described = part["description"].as_str().expect("a description");
            if let Absent::Default(default) = key.absent {
                let written = match &part["default"] {
                    Value::Null => described.contains(&format!("Default: {default}.")),
                    value => {
                        serde_yaml::from_str::<Value>(default.trim_matches('`'))
                            .ok()
                            .as_ref()
                            == Some(value)
                    }
                };
                assert!(written, "{path}: {part}");
            } else {
                assert_eq!(part.get("default"), None, "{path}");
            }
            if let Type::Integer { min, max } = key.value {
                let limits = (
                    part["minimum"].as_i64(),
                    part["maximum"].as_i64(),
                    part["const"].as_i64(),
                );
                let expected = match (min, max) {
                    (1, 1) => (None, None, Some(1)),
                    (_, i64::MAX) => (Some(min), None, None),
                    _ => (Some(min), Some(max), None),
                };
                assert_eq!(limits, expected, "{path}");
            }
            if let Type::List { min, max, .. } = key.value {
                assert_eq!(part["minItems"].as_u64().unwrap_or(0), min as u64, "{path}");
                assert_eq!(part["maxItems"].as_u64(), max.map(|max| max as u64), "{path}");
            }
        }
        let output = krator(&["explain".as_ref(), std::path::Path::new(&located.paths[0])]);
        let explained = String::from_utf8(output.stdout).expect("text");
        let said = match key.absent {
            Absent::Required => "It is required.".to_owned(),
            Absent::Default(default) => format!("Default: {default}."),
            Absent::Nothing => String::new(),
        };
        for part in [&key.value.to_string(), key.doc, &said] {
            assert!(explained.contains(part), "{:?}: {explained}", located.paths);
        }
    }
}

/// The regular expressions of names match exactly the names that krator accepts.
#[test]
fn the_patterns_of_names_are_their_forms() {
    let forms = [
        names::StateName::PATTERN,
        names::KindName::PATTERN,
        names::RustKindName::PATTERN,
        names::RustFieldName::PATTERN,
        names::FieldName::PATTERN,
        names::OperatorName::PATTERN,
        names::ResourceName::PATTERN,
        names::GroupName::PATTERN,
        names::VersionName::PATTERN,
        names::NamespaceName::PATTERN,
        names::LabelKey::PATTERN,
        names::ColumnName::PATTERN,
        names::Verb::PATTERN,
        names::FormatName::PATTERN,
    ];
    let alphabet = [
        "a", "b", "z", "A", "Z", "0", "1", "9", "-", "_", ".", "/", " ", "v", "beta", "alpha", "ä", "\n",
        "\"",
    ];
    for form in forms {
        let schema = json!({"pattern": form.pattern});
        let validator = jsonschema::draft7::new(&schema).expect("a pattern");
        let mut dice = Dice::new(7);
        let random = (0..3000).map(|_| {
            let length = dice.below(8);
            (0..length)
                .map(|_| alphabet[dice.below(alphabet.len())])
                .collect::<String>()
        });
        let long = [39, 40, 41, 58, 59, 60, 62, 63, 64]
            .into_iter()
            .flat_map(|length| ["a", "A"].map(|letter| letter.repeat(length)));
        let plain = [
            "v1",
            "v1beta1",
            "a.b",
            "app",
            "example.com/app",
            "moose-tracker",
            "Age in years",
        ];
        for text in random.chain(long).chain(plain.map(str::to_owned)) {
            let is_match = validator.is_valid(&Value::from(text.as_str()));
            assert_eq!(is_match, (form.is)(&text), "{}: {text:?}", form.expected);
        }
    }
}
