//! Named formats, after `library/format.go` of the API server.

use super::function::CallResult;
use super::url;
use super::value::Value;
use crate::formats::is_valid;
use crate::names::explained::{dns_1035_label, label, label_value, mask_trailing_dash, qualified, subdomain};

const NAMES: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

/// The errors of a text with a named format.
fn validate(format: &str, text: &str) -> Vec<String> {
    let unless = |format: &str, why: &str| match is_valid(format, text) {
        true => Vec::new(),
        false => vec![why.to_owned()],
    };
    match format {
        "dns1123Label" => label(text),
        "dns1123Subdomain" => subdomain(text),
        "dns1035Label" => dns_1035_label(text),
        "qualifiedName" => qualified(text),
        "dns1123LabelPrefix" => label(&mask_trailing_dash(text)),
        "dns1123SubdomainPrefix" => subdomain(&mask_trailing_dash(text)),
        "dns1035LabelPrefix" => dns_1035_label(&mask_trailing_dash(text)),
        "labelValue" => label_value(text),
        "uri" => unless("uri", &url::problem(text)),
        "uuid" => unless("uuid", "does not match the UUID format"),
        "byte" => unless("byte", "invalid base64"),
        "date" => unless("date", "invalid date"),
        _ => unless("datetime", "invalid datetime"),
    }
}

pub(super) fn call<'a>(function: &str, operands: &[Value<'a>]) -> CallResult<'a> {
    let named = |name: &str| NAMES.into_iter().find(|known| *known == name).map(Value::Format);
    Some(Ok(match (function, operands) {
        ("format.named", [Value::Text(name)]) => named(name).into(),
        ("validate", [Value::Format(format), Value::Text(text)]) => {
            let problems = validate(format, text);
            let problems: Vec<Value<'a>> = problems.into_iter().map(Value::from).collect();
            (!problems.is_empty()).then(|| Value::from(problems)).into()
        }
        (function, []) => named(function.strip_prefix("format.")?)?,
        _ => return None,
    }))
}
