//! Stand-in.
use crate::{custom::Subresource, refusal::{FieldError, Refusal}};
use serde_json::{Value as Json, json};
#[derive(Debug)]
pub struct Builtin { pub resource: &'static str }
pub struct Column { pub name: String, pub type_: String, pub format: String, pub description: String, pub priority: i32 }
pub fn of(_: &str, _: &str) -> &'static Builtin { static B: Builtin = Builtin { resource: "x" }; &B }
pub fn columns(_: &str, _: &str) -> Vec<Column> { Vec::new() }
pub fn cells(_: &str, _: &str, _: &Json, _: jiff::Timestamp) -> Vec<Json> { Vec::new() }
pub fn human_duration(d: jiff::SignedDuration) -> String { format!("{}s", d.as_secs()) }
impl Builtin {
    pub fn decode(&self, o: Json) -> Result<(Json, Vec<String>), Refusal> { Ok((o, Vec::new())) }
    pub fn default(&self, _: &mut Json) {}
    pub fn prepare_create(&self, o: &mut Json) { if o["kind"] == "Namespace" { o["spec"] = json!({"finalizers": ["kubernetes"]}); o["status"] = json!({"phase": "Active"}); } }
    pub fn prepare_update(&self, new: &mut Json, old: &Json, sub: Subresource) { if sub == Subresource::Status { let s = new["status"].clone(); *new = old.clone(); new["status"] = s; } }
    pub fn validate_create(&self, _: &Json) -> Vec<FieldError> { Vec::new() }
    pub fn validate_update(&self, _: &Json, _: &Json, _: Subresource) -> Vec<FieldError> { Vec::new() }
    pub fn validate_name(&self, n: &str) -> Vec<String> { krator_schema::names::dns_1123_subdomain(n) }
    pub fn reset_fields(&self, _: Subresource) -> &'static [&'static [&'static str]] { &[] }
    pub fn selectable_fields(&self) -> &'static [&'static str] { &[] }
}
