//! Repairs a stored status that does not match the schema, as a former operator may have left it: the API server
//! answers every server-side apply to it with 500. A merge patch, which it accepts, removes the invalid fields.
use crate::error::Error;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The places in a stored status because of which nothing can be applied to it, such as `.status.message`. An item of a list
/// stands for the list. None if the error is another one.
pub(super) fn misfits(error: &Error) -> BTreeSet<String> {
    let answer = error.answer().filter(|answer| answer.code == 500);
    let message = answer.map_or("", |answer| answer.message.as_str());
    let about = message.strip_prefix("failed to create typed live object (");
    // One error is in the same line, and several are in a line each.
    let errors = about.and_then(|about| about.split_once("): "));
    errors.map_or_else(BTreeSet::new, |(_, errors)| {
        errors.lines().filter_map(place).collect()
    })
}

fn place(line: &str) -> Option<String> {
    let line = line.trim_start();
    let (place, _) = line.split_once(": ")?;
    let place = place.split('[').next()?;
    let is_status = place == ".status" || place.starts_with(".status.");
    is_status.then(|| place.to_owned())
}

/// A message about the removed fields.
pub(super) fn note(places: &BTreeSet<String>) -> String {
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let places = places.join(", ");
    format!("removed from the stored status, because they do not match its schema: {places}")
}

/// A merge patch of the status that removes these places.
pub(super) fn removal(places: &BTreeSet<String>) -> Value {
    let mut patch = json!({});
    for place in places {
        let mut at = &mut patch;
        for name in place.split('.').skip(1) {
            // The parent is removed already.
            if at.get(name).is_some_and(Value::is_null) {
                break;
            }
            at = &mut at[name];
            if at.is_null() {
                *at = json!({});
            }
        }
        *at = Value::Null;
    }
    patch["status"].take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_answer_and_are_removed() {
        let message = "failed to create typed live object (default/a; st.example.com/v1, Kind=Foo): errors:\n  \
                       .status.state: expected string, got &value.valueUnstructured{Value:5}\n  \
                       .status.conditions[type=\"Ready\"].status: expected string, got &value.valueUnstructured{Value:7}\n  \
                       .status.nested.x: expected string, got &value.valueUnstructured{Value:1}\n  \
                       .spec.a: expected string, got &value.valueUnstructured{Value:1}";
        let misfits = |message: &str| {
            let answer = kube::core::Status {
                code: 500,
                message: message.to_owned(),
                ..kube::core::Status::default()
            };
            super::misfits(&Error::from(kube::Error::Api(Box::new(answer))))
        };
        let one = "failed to create typed live object (default/a; st.example.com/v1, Kind=Foo): .status.message: expected \
                   string, got &value.valueUnstructured{Value:[]interface {}{\"a\"}}";
        assert!(misfits(one).iter().eq([".status.message"]));
        assert!(
            misfits("failed to create typed patch object (default/a; b): .status.a: field not declared")
                .is_empty()
        );
        let places = misfits(message);
        let expected = [".status.conditions", ".status.nested.x", ".status.state"];
        assert!(places.iter().map(String::as_str).eq(expected), "{places:?}");
        assert_eq!(
            removal(&places),
            json!({"conditions": null, "nested": {"x": null}, "state": null})
        );

        let all = BTreeSet::from([".status".to_owned(), ".status.a.b".to_owned()]);
        assert_eq!(removal(&all), Value::Null);
    }
}
