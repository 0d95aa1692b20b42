//! Label selectors as text, which are checked before a request is sent: a watch with a selector that the API server
//! refuses would be retried forever. kube has a type for them, but it neither parses text nor compares numbers.
use kube::core::{Expression, SelectorExt as _};
use std::{collections::BTreeMap, str::FromStr};

/// A selector that the API server accepts.
#[derive(Clone, Debug)]
pub(crate) struct Selector {
    text: String,
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug)]
enum Requirement {
    Is(Expression),
    /// The label is an integer that is greater than this one.
    Greater(String, i64),
    /// The label is an integer that is less than this one.
    Less(String, i64),
}

impl Selector {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether an object with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let number = |key| {
            labels
                .get(key)
                .and_then(|value: &String| value.parse::<i64>().ok())
        };
        self.requirements.iter().all(|requirement| match requirement {
            Requirement::Is(expression) => expression.matches(labels),
            Requirement::Greater(key, than) => number(key).is_some_and(|number| number > *than),
            Requirement::Less(key, than) => number(key).is_some_and(|number| number < *than),
        })
    }
}

impl FromStr for Selector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut requirements = Vec::new();
        let mut rest = text;
        loop {
            let end = end_of_first(rest);
            let read = requirement(rest[..end].trim());
            requirements
                .push(read.map_err(|problem| format!("{problem}, for example `park=glacier,!tame`"))?);
            match rest.get(end + 1..) {
                Some(after) => rest = after,
                None => break,
            }
        }
        Ok(Self {
            text: text.to_owned(),
            requirements,
        })
    }
}

/// The end of the first requirement: a comma outside of parentheses.
fn end_of_first(text: &str) -> usize {
    let mut depth = 0_u32;
    let comma = text.find(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    comma.unwrap_or(text.len())
}

fn requirement(text: &str) -> Result<Requirement, String> {
    if let Some(absent) = text.strip_prefix('!') {
        return Ok(Requirement::Is(Expression::DoesNotExist(key(absent.trim())?)));
    }
    if let Some(at) = text.find(['=', '!', '<', '>']) {
        let (name, condition) = text.split_at(at);
        let name = key(name.trim())?;
        if let Some(than) = condition.strip_prefix('>') {
            return Ok(Requirement::Greater(name, number(than.trim())?));
        }
        if let Some(than) = condition.strip_prefix('<') {
            return Ok(Requirement::Less(name, number(than.trim())?));
        }
        if let Some(wanted) = condition.strip_prefix("!=") {
            return Ok(Requirement::Is(Expression::NotEqual(name, value(wanted.trim())?)));
        }
        let wanted = ["==", "="].iter().find_map(|sign| condition.strip_prefix(sign));
        let wanted = wanted.ok_or_else(|| format!("`{text}` is not a requirement"))?;
        return Ok(Requirement::Is(Expression::Equal(name, value(wanted.trim())?)));
    }
    let Some((name, list)) = text.split_once(char::is_whitespace) else {
        return Ok(Requirement::Is(Expression::Exists(key(text)?)));
    };
    let (name, list) = (key(name)?, list.trim());
    let of = |word: &str| {
        let list = list.strip_prefix(word)?.trim();
        let values = list.strip_prefix('(')?.strip_suffix(')')?.split(',');
        Some(
            values
                .map(|wanted| value(wanted.trim()))
                .collect::<Result<_, _>>(),
        )
    };
    Ok(Requirement::Is(match (of("in"), of("notin")) {
        (Some(values), _) => Expression::In(name, values?),
        (_, Some(values)) => Expression::NotIn(name, values?),
        (None, None) => return Err(format!("`{text}` is not a requirement")),
    }))
}

fn number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("`{text}` is not an integer"))
}

/// The key of a label: a name, with or without a DNS subdomain and a slash before it.
fn key(key: &str) -> Result<String, String> {
    let (prefix, name) = key
        .rsplit_once('/')
        .map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let is_dns = |part: &str| {
        let is_plain = part
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        is_plain && !part.is_empty() && !part.starts_with('-') && !part.ends_with('-')
    };
    let is_prefix = |prefix: &str| prefix.len() <= 253 && prefix.split('.').all(is_dns);
    if !name.is_empty() && is_name(name) && prefix.is_none_or(is_prefix) {
        return Ok(key.to_owned());
    }
    Err(format!("`{key}` is not the key of a label"))
}

fn value(value: &str) -> Result<String, String> {
    if is_name(value) {
        return Ok(value.to_owned());
    }
    Err(format!("`{value}` is not the value of a label"))
}

/// Whether this is empty, or at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
fn is_name(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let has_ends = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric());
    text.is_empty() || (text.len() <= 63 && text.chars().all(is_inner) && has_ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_that_the_api_server_accepts_are_accepted() {
        for text in [
            "park=glacier",
            "park==glacier,tame!=yes",
            "tagged, !tame",
            "example.com/park in (glacier, denali),size>3",
            "park notin (glacier)",
            "park=",
        ] {
            let read: Result<Selector, String> = text.parse();
            assert_eq!(read.as_ref().map(Selector::as_str), Ok(text), "{read:?}");
        }
    }

    #[test]
    fn others_are_refused_with_the_part_that_is_wrong() {
        for (text, part) in [
            ("", "``"),
            ("park=glacier,", "``"),
            ("park=a b", "`a b`"),
            ("-park", "`-park`"),
            ("Example.com/park", "`Example.com/park`"),
            ("park within (a)", "`park within (a)`"),
            ("park in a", "`park in a`"),
            ("size>large", "`large`"),
            ("park=*", "`*`"),
        ] {
            let refused = text.parse::<Selector>().err().unwrap_or_default();
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }

    #[test]
    fn labels_are_selected_as_the_api_server_does() {
        let selects = |selector: &str, labels: &[(&str, &str)]| {
            let labels = labels
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            let selector: Selector = selector.parse().expect("a selector");
            selector.matches(&labels.collect())
        };
        for (selector, labels, is_selected) in [
            ("park=glacier,!tame", &[("park", "glacier")][..], true),
            ("park=glacier,!tame", &[("park", "glacier"), ("tame", "")], false),
            ("park!=glacier", &[], true),
            ("park==", &[("park", "")], true),
            ("park==", &[], false),
            ("park", &[("park", "any")], true),
            ("park in (glacier, denali)", &[("park", "denali")], true),
            ("park in (glacier,)", &[("park", "")], true),
            ("park notin (glacier)", &[], true),
            ("size>3", &[("size", "4")], true),
            ("size>3", &[("size", "3")], false),
            ("size<3", &[("size", "large")], false),
            ("size < -3", &[("size", "-4")], true),
        ] {
            assert_eq!(selects(selector, labels), is_selected, "{selector} {labels:?}");
        }
    }
}
