//! Paths of printer columns, in the form of `k8s.io/client-go/util/jsonpath`.

use jsonpath_rust::JsonPath as _;
use serde_json::Value as Json;

/// The values at a path such as `.status.conditions[?(@.type=="Ready")].status`; none if the path is invalid.
pub(crate) fn find<'a>(object: &'a Json, path: &str) -> Vec<&'a Json> {
    object.query(&standard(path)).unwrap_or_default()
}

/// The path in the syntax of RFC 9535: with a root, and with quotes instead of escaped dots.
fn standard(path: &str) -> String {
    let path = path.trim().trim_start_matches('{').trim_end_matches('}');
    let path = path.strip_prefix('$').unwrap_or(path);
    let mut text = String::from("$");
    let mut rest = path;
    while let Some(c) = rest.chars().next() {
        if c == '.' && !rest.starts_with("..") {
            let (name, after) = name(&rest[1..]);
            match name.as_str() {
                "" => {}
                "*" => text.push_str(".*"),
                name => text.push_str(&format!("[{}]", Json::from(name))),
            }
            rest = after;
        } else if c == '[' {
            let end = rest.find(']').map_or(rest.len(), |end| end + 1);
            text.push_str(&rest[..end]);
            rest = &rest[end..];
        } else {
            text.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    text
}

/// The name of a field, in which dots may be escaped, and the rest of the text.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => return (name, &text[at..]),
            c => name.push(c),
        }
    }
    (name, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_of_columns_find_what_they_name() {
        let object = json!({
            "metadata": {"labels": {"app.kubernetes.io/name": "moose"}},
            "spec": {"tags": ["a", "b"], "replicas": 3},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Stalled", "status": "False"}]},
        });
        for (path, expected) in [
            (".spec.replicas", json!([3])),
            (".spec.missing", json!([])),
            (".spec.tags[*]", json!(["a", "b"])),
            (".spec.tags[1]", json!(["b"])),
            (r".metadata.labels.app\.kubernetes\.io/name", json!(["moose"])),
            (
                r#".status.conditions[?(@.type=="Ready")].status"#,
                json!(["True"]),
            ),
            (
                r#".status.conditions[?(@.type=='Stalled')].status"#,
                json!(["False"]),
            ),
        ] {
            assert_eq!(json!(find(&object, path)), expected, "{path}");
        }
    }
}
