//! Label selectors and field selectors, after `k8s.io/apimachinery/pkg/labels` and `pkg/fields`.

use crate::object::at;
use krator_schema::names;
use serde_json::Value as Json;

/// Reads an item of `matchExpressions`.
fn expression(expression: &Json) -> Option<Requirement> {
    let values = at(expression, &["values"]).as_array().into_iter().flatten();
    let values = values.filter_map(Json::as_str).map(str::to_owned).collect();
    let condition = match at(expression, &["operator"]).as_str()? {
        "In" => Condition::In(values),
        "NotIn" => Condition::NotIn(values),
        "Exists" => Condition::Exists,
        "DoesNotExist" => Condition::Absent,
        _ => return None,
    };
    let key = at(expression, &["key"]).as_str()?.to_owned();
    Some(Requirement { key, condition })
}

/// A selector by labels.
#[derive(Debug, Clone, Default)]
pub(crate) struct LabelSelector(Vec<Requirement>);

#[derive(Debug, Clone)]
struct Requirement {
    key: String,
    condition: Condition,
}

#[derive(Debug, Clone)]
enum Condition {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Parses a selector such as `park=glacier,kind in (moose, elk),!tame`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let requirements = split(text).into_iter().map(requirement);
        let requirements: Result<_, _> = requirements.collect();
        requirements
            .map(Self)
            .map_err(|why| format!("unable to parse requirement: {why}"))
    }

    /// Reads a selector in the form of objects, with `matchLabels` and `matchExpressions`; `None` if it is invalid.
    pub fn of(selector: &Json) -> Option<Self> {
        let labels = at(selector, &["matchLabels"]).as_object().into_iter().flatten();
        let equal = labels.map(|(key, value)| {
            let condition = Condition::In(vec![value.as_str()?.to_owned()]);
            Some(Requirement {
                key: key.clone(),
                condition,
            })
        });
        let expressions = at(selector, &["matchExpressions"])
            .as_array()
            .into_iter()
            .flatten();
        equal
            .chain(expressions.map(expression))
            .collect::<Option<_>>()
            .map(Self)
    }

    /// Whether the selector matches every object.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the selector matches an object with these labels.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|Requirement { key, condition }| {
            let value = label(key);
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            let is_one_of = |values: &[String]| values.iter().any(|one| Some(one.as_str()) == value);
            match condition {
                Condition::Exists => value.is_some(),
                Condition::Absent => value.is_none(),
                Condition::In(values) => is_one_of(values),
                Condition::NotIn(values) => !is_one_of(values),
                Condition::Greater(than) => number().is_some_and(|number| number > *than),
                Condition::Less(than) => number().is_some_and(|number| number < *than),
            }
        })
    }
}

/// Splits a selector at the commas outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let is_end = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(is_end).map(str::trim).collect()
}

fn requirement(text: &str) -> Result<Requirement, String> {
    let is_end = |c: char| c.is_whitespace() || "=!<>(),".contains(c);
    let (absent, text) = match text.strip_prefix('!') {
        Some(rest) => (true, rest.trim()),
        None => (false, text),
    };
    let (key, rest) = text.split_at(text.find(is_end).unwrap_or(text.len()));
    let rest = rest.trim();
    if key.is_empty() {
        let found = rest.chars().next().map_or(String::new(), String::from);
        return Err(format!(
            "found '{found}', expected: !, identifier, or 'end of string'"
        ));
    }
    if let Some(problem) = names::qualified_name(key).first() {
        return Err(format!("key: Invalid value: {key:?}: {problem}"));
    }
    let condition = match rest {
        "" if absent => Condition::Absent,
        "" => Condition::Exists,
        rest => condition(rest, key)?,
    };
    Ok(Requirement {
        key: key.to_owned(),
        condition,
    })
}

fn condition(text: &str, key: &str) -> Result<Condition, String> {
    type Make = fn(Vec<String>) -> Condition;
    let operators: [(&str, Make); 5] = [
        ("notin", Condition::NotIn),
        ("in", Condition::In),
        ("==", Condition::In),
        ("!=", Condition::NotIn),
        ("=", Condition::In),
    ];
    let operator = operators
        .into_iter()
        .find_map(|(name, make)| Some((name, make, text.strip_prefix(name)?)));
    match operator {
        Some((name @ ("in" | "notin"), make, rest)) => {
            let list = rest
                .trim()
                .strip_prefix('(')
                .and_then(|rest| rest.strip_suffix(')'));
            let list = list.ok_or_else(|| format!("found '{}' expected: '(' after {name}", rest.trim()))?;
            let values = list.split(',').map(|value| checked(value.trim(), key));
            Ok(make(values.collect::<Result<_, _>>()?))
        }
        Some((_, make, value)) => Ok(make(vec![checked(value.trim(), key)?])),
        None => {
            let (make, value): (fn(i64) -> Condition, _) = match text.split_at(1) {
                (">", value) => (Condition::Greater, value.trim()),
                ("<", value) => (Condition::Less, value.trim()),
                _ => return Err(format!("found '{text}', expected: in, notin, =, ==, !=, gt, lt")),
            };
            let why = "for 'Gt', 'Lt' operators, the value must be an integer";
            let number = value
                .parse()
                .map_err(|_| format!("values[0]: Invalid value: {value:?}: {why}"))?;
            Ok(make(number))
        }
    }
}

fn checked(value: &str, key: &str) -> Result<String, String> {
    match names::label_value(value).first() {
        None => Ok(value.to_owned()),
        Some(problem) => Err(format!("values[0][{key}]: Invalid value: {value:?}: {problem}")),
    }
}

/// A selector by fields. Each term has a field, whether the values must be equal, and a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldSelector(Vec<(String, bool, String)>);

impl FieldSelector {
    /// Parses a selector such as `metadata.name=bullwinkle,status.phase!=Running`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let terms = text.split(',').filter(|term| !term.is_empty()).map(|term| {
            let found = ["!=", "==", "="]
                .into_iter()
                .find_map(|sign| Some((sign, term.split_once(sign)?)));
            match found {
                Some((sign, (field, value))) if !value.contains(['=', '\\']) => {
                    Ok((field.to_owned(), sign != "!=", value.to_owned()))
                }
                _ => Err(format!("invalid selector: '{text}'; can't understand '{term}'")),
            }
        });
        terms.collect::<Result<_, _>>().map(Self)
    }

    /// Whether the selector matches every object.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields in the selector.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(field, ..)| field.as_str())
    }

    /// Whether the selector matches an object with these fields.
    pub fn matches(&self, field: impl Fn(&str) -> String) -> bool {
        self.0
            .iter()
            .all(|(name, equal, value)| (field(name) == *value) == *equal)
    }

    /// The value that the selector requires of a field.
    pub fn exactly(&self, field: &str) -> Option<&str> {
        let term = self.0.iter().find(|(name, equal, _)| name == field && *equal);
        term.map(|(_, _, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_selectors_select_what_their_terms_say() {
        let labels = [("park", "glacier"), ("age", "7")];
        let label = |key: &str| {
            labels
                .iter()
                .find(|(name, _)| *name == key)
                .map(|(_, value)| *value)
        };
        for (text, expected) in [
            ("", true),
            ("park", true),
            ("!park", false),
            ("park=glacier", true),
            ("park == glacier , age", true),
            ("park!=glacier", false),
            ("herd!=x", true),
            ("park in (yosemite, glacier)", true),
            ("park notin (yosemite,glacier)", false),
            ("herd=", false),
            ("age>6,age<8", true),
            ("age>7", false),
        ] {
            let selector = LabelSelector::parse(text).expect(text);
            assert_eq!(selector.matches(label), expected, "{text}");
        }
        for (text, problem) in [
            ("park=a,", "found '', expected: !, identifier"),
            ("park glacier", "expected: in, notin, =, ==, !=, gt, lt"),
            ("park in glacier", "expected: '('"),
            ("-x=1", "key: Invalid value: \"-x\""),
            ("age>old", "the value must be an integer"),
            ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ] {
            let found = LabelSelector::parse(text).expect_err(text);
            assert!(found.contains(problem), "{text}: {found}");
        }
    }

    #[test]
    fn field_selectors_select_what_their_terms_say() {
        let field = |name: &str| {
            if name == "metadata.name" {
                "a".to_owned()
            } else {
                String::new()
            }
        };
        for (text, expected) in [
            ("", true),
            ("metadata.name=a", true),
            ("metadata.name!=a", false),
            ("status.phase=,metadata.name==a", true),
        ] {
            let selector = FieldSelector::parse(text).expect(text);
            assert_eq!(selector.matches(field), expected, "{text}");
        }
        for text in ["metadata.name", "a=b=c", "a=\\x"] {
            assert!(FieldSelector::parse(text).is_err(), "{text}");
        }
    }
}
