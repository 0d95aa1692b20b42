//! Stand-in.
use super::Builtin;
use serde_json::Value as Json;
pub struct Column { pub name: String, pub type_: String, pub format: String, pub description: String, pub priority: i32 }
pub fn columns(_: &str, _: &str) -> Vec<Column> { Vec::new() }
pub fn cells(_: &str, _: &str, _: &Json, _: jiff::Timestamp) -> Vec<Json> { Vec::new() }
impl Builtin {
    pub fn selectable_fields(&self) -> &'static [&'static str] { &[] }
}
