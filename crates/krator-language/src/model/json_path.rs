//! Paths of printer columns that are not the path of a single field: with an index, a slice, a union, a filter or
//! recursion.

use super::{FieldPath, Segment};

/// A JSON path in one of the forms that the API server certainly accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath {
    text: String,
    /// The fields on the path, if each step of it is a field or items of a list.
    fields: Option<FieldPath>,
}

impl JsonPath {
    /// Parses a path. The error is the reason why it is invalid.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let roots = [".spec", ".status", ".metadata", ".kind", ".apiVersion", ".."];
        let begins = |root: &&str| {
            let rest = text.strip_prefix(root);
            rest.is_some_and(|rest| *root == ".." || rest.is_empty() || rest.starts_with(['.', '[']))
        };
        if !roots.iter().any(begins) {
            return Err("objects have the fields `.spec`, `.status`, `.metadata`, `.kind` and `.apiVersion`");
        }
        let mut segments = Some(Vec::new());
        let mut rest = text;
        while !rest.is_empty() {
            let (step, after) = step(rest).ok_or("this is not a JSON path of Kubernetes")?;
            match (step, &mut segments) {
                (Step::Segment(segment), Some(segments)) => segments.push(segment),
                (Step::Segment(_), None) => {}
                (Step::Other, _) => segments = None,
            }
            rest = after;
        }
        Ok(JsonPath {
            text: text.to_owned(),
            fields: segments.and_then(FieldPath::of_segments),
        })
    }

    /// The text of the path.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The fields on the path, if they are known.
    pub(crate) fn fields(&self) -> Option<&FieldPath> {
        self.fields.as_ref()
    }
}

enum Step {
    Segment(Segment),
    Other,
}

/// The first step of a path, and the rest.
fn step(text: &str) -> Option<(Step, &str)> {
    if let Some(after) = text.strip_prefix("..") {
        let (name, rest) = name(after);
        return (!name.is_empty() || rest.starts_with('[')).then_some((Step::Other, rest));
    }
    if let Some(after) = text.strip_prefix(".*") {
        return Some((Step::Other, after));
    }
    if let Some(after) = text.strip_prefix('.') {
        let (name, after) = name(after);
        return (!name.is_empty()).then(|| (Step::Segment(Segment::Field(name.to_owned())), after));
    }
    if let Some(after) = text.strip_prefix("[?(") {
        let (filter, after) = after.split_once(")]")?;
        return is_filter(filter).then_some((Step::Other, after));
    }
    let (inside, after) = text.strip_prefix('[')?.split_once(']')?;
    let quoted = |text: &str| {
        let key = text.trim().strip_prefix('\'')?.strip_suffix('\'')?;
        let (name, rest) = name(key);
        (!name.is_empty() && rest.is_empty()).then(|| name.to_owned())
    };
    let is_number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.len() <= 9 && digits.chars().all(|c| c.is_ascii_digit())
    };
    let is_slice = |text: &str| {
        let parts: Vec<&str> = text.split(':').collect();
        parts.len() <= 3 && parts.iter().all(|part| part.is_empty() || is_number(part))
    };
    let step = if inside == "*" || is_number(inside) || inside.contains(':') && is_slice(inside) {
        Step::Segment(Segment::Each)
    } else if let Some(key) = quoted(inside) {
        Step::Segment(Segment::Field(key))
    } else if inside.contains(',')
        && inside
            .split(',')
            .all(|part| quoted(part).is_some() || is_number(part.trim()))
    {
        Step::Other
    } else {
        return None;
    };
    Some((step, after))
}

/// A name without characters that are special in paths, and the rest.
fn name(text: &str) -> (&str, &str) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_/".contains(c);
    text.split_at(text.find(|c| !is_plain(c)).unwrap_or(text.len()))
}

/// Whether a filter compares a field of an item with a text, a number or a boolean, or tests that the field exists.
fn is_filter(filter: &str) -> bool {
    let Some(rest) = filter.trim().strip_prefix("@.") else {
        return false;
    };
    let is_field = |text: &str| {
        text.split('.')
            .all(|part| matches!(name(part), (part, "") if !part.is_empty()))
    };
    let operators = ["==", "!=", "<=", ">=", "<", ">"];
    let found = operators.iter().find_map(|operator| rest.split_once(operator));
    let Some((field, value)) = found else {
        return is_field(rest.trim());
    };
    let value = value.trim();
    let is_text = ['"', '\''].into_iter().any(|quote| {
        let text = value
            .strip_prefix(quote)
            .and_then(|value| value.strip_suffix(quote));
        text.is_some_and(|text| !text.contains(['"', '\'', '\\', ')']) && !text.chars().any(char::is_control))
    });
    let is_word = matches!(value, "true" | "false")
        || !value.is_empty() && value.len() <= 15 && value.chars().all(|c| c.is_ascii_digit());
    is_field(field.trim()) && (is_text || is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_that_the_api_server_reads() {
        for (text, fields) in [
            (".kind", None),
            (".spec.l[0].name", Some(".spec.l[*].name")),
            (".spec.l[-1].name", Some(".spec.l[*].name")),
            (".spec.l[0:2].name", Some(".spec.l[*].name")),
            (".spec['a'].b", Some(".spec.a.b")),
            (".spec['a','b']", None),
            ("..name", None),
            (".spec..name", None),
            (".spec.*.name", None),
            (".status.conditions[?(@.type!=\"Ready\")].status", None),
            (".status.conditions[?(@.observedGeneration>3)].status", None),
        ] {
            let path = JsonPath::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
            let led = path.fields().map(ToString::to_string);
            assert_eq!(led.as_deref(), fields, "{text}");
        }
        for text in [
            "",
            "spec.a",
            ".value",
            ".sepc.a",
            ".spec.",
            ".spec....a",
            ".spec[",
            ".spec[a]",
            ".spec[?(@.a==b)]",
            "..",
            ".spec.a b",
            ".spec{.a}",
            ".spec['a",
            ".spec[1.5]",
        ] {
            assert!(JsonPath::parse(text).is_err(), "{text:?}");
        }
    }
}
