//! CEL rules that a value of a type satisfies.

use serde_json::{Value, json};

use super::schema::{Drawn, Shape};
use crate::dice::Dice;

/// Whether a rule can name the field without an escape.
pub fn is_plain(name: &str) -> bool {
    krator_schema::cel::escape(name).as_deref() == Some(name)
}

/// One or two rules for values of the type, if there are any for it.
pub fn rules(drawn: &Drawn, has_former: bool, dice: &mut Dice) -> Vec<Value> {
    let mut written = Vec::new();
    for _ in 0..1 + dice.below(2) {
        let Some((rule, field)) = rule(drawn, has_former, dice) else {
            continue;
        };
        if written.iter().any(|other: &Value| other["rule"] == rule) {
            continue;
        }
        let mut validation = json!({"rule": rule});
        match dice.below(4) {
            0 => validation["message"] = json!("has to keep its \"rule\""),
            1 => validation["messageExpression"] = json!("'it breaks ' + 'its rule'"),
            _ => {}
        }
        if dice.one_in(4) {
            let reasons = [
                "FieldValueInvalid",
                "FieldValueForbidden",
                "FieldValueRequired",
                "FieldValueDuplicate",
            ];
            validation["reason"] = json!(*dice.among(&reasons));
        }
        if let Some(field) = field.filter(|_| dice.one_in(2)) {
            validation["fieldPath"] = json!(format!(".{field}"));
        }
        written.push(validation);
    }
    written
}

/// Whether CEL has a type for such values: it has none for arbitrary values, nor for types that contain them.
fn is_typed(shape: &Shape) -> bool {
    match shape {
        Shape::Other => false,
        Shape::List(inner) | Shape::Map(inner) => is_typed(&inner.shape),
        _ => true,
    }
}

/// A rule, and the field that it restricts.
fn rule(drawn: &Drawn, has_former: bool, dice: &mut Dice) -> Option<(String, Option<String>)> {
    if !is_typed(&drawn.shape) {
        return None;
    }
    if has_former && dice.one_in(4) {
        return Some(("self == oldSelf || self != oldSelf".to_owned(), None));
    }
    let simple = |rules: &[&str], dice: &mut Dice| Some(((*dice.among(rules)).to_owned(), None));
    match &drawn.shape {
        Shape::String | Shape::Enum => simple(
            &[
                "self != 'forbidden'",
                "size(self) >= 0",
                "self.size() < 1000000",
                "!self.startsWith('forbidden-')",
                "self in ['a', 'b'] || self.size() >= 0",
            ],
            dice,
        ),
        Shape::Boolean => simple(&["self || !self", "self in [true, false]"], dice),
        Shape::Integer => simple(
            &[
                "self > -1000",
                "self % 2 == 0 || self != 1001",
                "double(self) >= -1000.5",
            ],
            dice,
        ),
        Shape::Number => simple(&["self > -1000.0", "self < 1e300", "!(self > 1e300)"], dice),
        Shape::DateTime => simple(&["self > timestamp('2000-01-01T00:00:00Z')"], dice),
        Shape::Duration | Shape::Other => None,
        Shape::List(items) if drawn.bounded && matches!(items.shape, Shape::Integer) && !items.nullable => {
            simple(
                &[
                    "self.all(x, x > -1000)",
                    "!self.exists(x, x == -77777)",
                    "size(self) < 1000",
                ],
                dice,
            )
        }
        Shape::List(items)
            if drawn.bounded && matches!(items.shape, Shape::String | Shape::Enum) && !items.nullable =>
        {
            simple(
                &[
                    "self.all(x, x != 'forbidden')",
                    "self.filter(x, x == 'forbidden').size() == 0",
                ],
                dice,
            )
        }
        Shape::List(_) => simple(&["self.size() < 1000", "size(self) != 999"], dice),
        Shape::Map(_) if drawn.bounded => {
            simple(&["self.all(key, key != 'forbidden')", "size(self) < 1000"], dice)
        }
        Shape::Map(_) => simple(&["size(self) < 100000"], dice),
        Shape::Object(fields) => {
            let plain: Vec<&(String, Drawn)> = fields
                .iter()
                .filter(|(name, field)| is_plain(name) && is_typed(&field.shape))
                .collect();
            let (name, field) = dice.pick(&plain)?;
            let rule = match (&field.shape, field.may_be_absent) {
                (_, true) => format!("has(self.{name}) || !has(self.{name})"),
                (Shape::String, false) if !field.nullable => format!("self.{name} != 'forbidden'"),
                (Shape::Integer, false) if !field.nullable => format!("self.{name} > -1000"),
                (Shape::Boolean, false) if !field.nullable => format!("self.{name} || !self.{name}"),
                _ => format!("has(self.{name}) || true"),
            };
            Some((rule, Some(name.clone())))
        }
    }
}
