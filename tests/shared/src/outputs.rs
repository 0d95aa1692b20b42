//! The output of krator for programs.

use crate::operator::krator;
use serde_json::Value;
use std::path::Path;

/// Parses an output, and validates it with the schema of `krator schema`: `findings`, `diff`, `graph`, `doctor` or
/// `why`.
pub fn printed(subject: &str, output: &[u8]) -> Value {
    let text = String::from_utf8_lossy(output);
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let schema = krator(&[Path::new("schema"), Path::new(subject)]).stdout;
    let schema: Value = serde_json::from_slice(&schema).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a JSON Schema");
    let wrong: Vec<String> = validator
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{subject}: {wrong:#?}\n{value:#}");
    value
}
