//! The fields of an object, as JSON.
use serde_json::Value;

/// An object. A field of an unexpected type counts as absent.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub &'a Value);

/// A condition of an object. A missing field is empty.
#[derive(Clone, Copy)]
pub(super) struct Condition<'a> {
    pub kind: &'a str,
    pub status: &'a str,
    pub reason: &'a str,
    pub message: &'a str,
}

impl<'a> Fields<'a> {
    /// The string at a JSON pointer.
    pub fn text(self, pointer: &str) -> Option<&'a str> {
        self.0.pointer(pointer)?.as_str()
    }
    /// The integer at a JSON pointer.
    pub fn number(self, pointer: &str) -> Option<i64> {
        self.0.pointer(pointer)?.as_i64()
    }
    /// The integer at a JSON pointer below `status`, or zero.
    pub fn count(self, field: &str) -> i64 {
        self.0["status"][field].as_i64().unwrap_or_default()
    }
    /// The items of the list at a JSON pointer.
    pub fn items(self, pointer: &str) -> impl Iterator<Item = Fields<'a>> + use<'a> {
        let list = self.0.pointer(pointer).and_then(Value::as_array);
        list.into_iter().flatten().map(Fields)
    }
    pub fn conditions(self) -> Vec<Condition<'a>> {
        let condition = |condition: Fields<'a>| Condition {
            kind: condition.text("/type").unwrap_or_default(),
            status: condition.text("/status").unwrap_or_default(),
            reason: condition.text("/reason").unwrap_or_default(),
            message: condition.text("/message").unwrap_or_default(),
        };
        self.items("/status/conditions").map(condition).collect()
    }
    /// The API group, which is empty for the kinds of Kubernetes' core.
    pub fn group(self) -> &'a str {
        let version = self.text("/apiVersion").unwrap_or_default();
        version.split_once('/').map_or("", |(group, _)| group)
    }
}
