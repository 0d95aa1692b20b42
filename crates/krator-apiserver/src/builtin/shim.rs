//! Stand-in.
use super::{Builtin, Subresource};
use crate::refusal::FieldError;
use serde_json::Value as Json;
pub struct Column { pub name: String, pub type_: String, pub format: String, pub description: String, pub priority: i32 }
pub fn columns(_: &str, _: &str) -> Vec<Column> { Vec::new() }
pub fn cells(_: &str, _: &str, _: &Json, _: jiff::Timestamp) -> Vec<Json> { Vec::new() }
impl Builtin {
    pub fn validate_create(&self, _: &Json) -> Vec<FieldError> { Vec::new() }
    pub fn validate_update(&self, _: &Json, _: &Json, _: Subresource) -> Vec<FieldError> { Vec::new() }
    pub fn validate_name(&self, n: &str) -> Vec<String> { krator_schema::names::dns_1123_subdomain(n) }
    pub fn reset_fields(&self, _: Subresource) -> &'static [&'static [&'static str]] { &[] }
    pub fn selectable_fields(&self) -> &'static [&'static str] { &[] }
}
