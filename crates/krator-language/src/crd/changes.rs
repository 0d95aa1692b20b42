//! Rules for the changes of fields, from `immutable`, `onceSet` and `transition`.
//!
//! The API server does not evaluate a rule with `oldSelf` if the old or the new value is absent, so a rule on an
//! optional field could be bypassed by removing the field and setting it again. Each rule is therefore on the nearest
//! value around the field that always exists, and tests for the field on both sides.

use krator_schema::{Path, cel};
use serde_json::{Value as Json, json};

use super::schema_of;
use crate::finding::{Span, Spanned};
use crate::model::{Description, Field, FieldChange, FieldPath, Kind, PathRoot, Schema, Segment, Shape};
use crate::text::shown;

/// The constraints of the description on changes of a field.
pub(crate) struct FieldRule {
    /// The field, with `[*]` for items of lists and values of maps.
    pub field: FieldPath,
    /// The key in the description.
    pub key: Span,
    /// Whether the field never changes after the creation of the object.
    pub is_immutable: bool,
    /// The reason why no rule is possible there, if any.
    pub obstacle: Option<Obstacle>,
    /// The schema that has the rule, below that of the whole object.
    anchor: Path,
    rule: Json,
}

/// A reason why a field cannot have a rule for its changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// It is in `.status`, which the operator writes.
    Status,
    /// It is in a list whose items have no identity.
    Uncorrelated,
    /// It may have fields that are unknown to the rules: the API server treats two values as equal if they differ only
    /// in the name of such a field.
    Untyped,
    /// CEL cannot express the name of a field on the path.
    Unwritable,
}

impl FieldRule {
    /// The expression of the rule.
    pub fn expression(&self) -> &str {
        self.rule["rule"].as_str().unwrap_or_default()
    }

    /// Its message.
    pub fn message(&self) -> &str {
        self.rule["message"].as_str().unwrap_or_default()
    }
}

/// The constraints of the description on changes of the fields of a kind.
pub(crate) fn field_rules(description: &Description, kind: &Kind) -> Vec<FieldRule> {
    let mut walk = Walk {
        description,
        found: Vec::new(),
    };
    // A schema that is too large to be expanded was refused already.
    if !description.has_sound_schemas {
        return walk.found;
    }
    let root = |root, name: &str| At {
        path: Path::root().field("properties").key(name),
        anchor: Path::root().field("properties").key(name),
        steps: Vec::new(),
        shown: FieldPath {
            root,
            segments: Vec::new(),
        },
        obstacle: None,
    };
    walk.schema(&kind.spec, &root(PathRoot::Spec, "spec"));
    let status = At {
        obstacle: Some(Obstacle::Status),
        ..root(PathRoot::Status, "status")
    };
    walk.fields(&kind.status, &status);
    walk.found
}

/// Adds the rules to the schema of the objects of a kind, after the rules that the description has itself.
pub(super) fn add(description: &Description, kind: &Kind, schema: &mut Json) {
    let rules = field_rules(description, kind).into_iter();
    for rule in rules.filter(|rule| rule.obstacle.is_none()) {
        let steps = rule.anchor.segments().iter();
        let anchor = steps.fold(&mut *schema, |schema, step| match step {
            krator_schema::Segment::Field(name) | krator_schema::Segment::Key(name) => &mut schema[name],
            krator_schema::Segment::Index(at) => &mut schema[at],
        });
        let Json::Object(keys) = anchor else { continue };
        let rules = keys
            .entry("x-kubernetes-validations")
            .or_insert_with(|| json!([]));
        if let Json::Array(rules) = rules
            && rules.iter().all(|other| other["rule"] != rule.rule["rule"])
        {
            rules.push(rule.rule);
        }
        keys.sort_keys();
    }
}

/// The keys of the rules on a schema, in their order in the CRD.
pub(super) fn keys_at(description: &Description, kind: &Kind, anchor: &Path) -> Vec<Span> {
    let rules = field_rules(description, kind).into_iter();
    let on_anchor = rules.filter(|rule| rule.obstacle.is_none() && rule.anchor == *anchor);
    on_anchor.map(|rule| rule.key).collect()
}

/// A place in the schema.
#[derive(Clone)]
struct At {
    path: Path,
    /// The nearest place around it that always exists, or itself.
    anchor: Path,
    /// The fields from the anchor to this place, each in the form of CEL and unescaped.
    steps: Vec<(String, String)>,
    shown: FieldPath,
    obstacle: Option<Obstacle>,
}

impl At {
    fn field(&self, name: &str, is_always_there: bool) -> At {
        let path = self.path.field("properties").key(name);
        let mut at = At {
            path: path.clone(),
            ..self.clone()
        };
        at.shown.segments.push(Segment::Field(name.to_owned()));
        if is_always_there && self.steps.is_empty() {
            at.anchor = path;
        } else {
            at.steps.push(step(name));
        }
        at
    }

    /// The items of a list or values of a map, each of which is its own anchor.
    fn each(&self, key: &str, obstacle: Option<Obstacle>) -> At {
        let path = self.path.field(key);
        let mut at = At {
            path: path.clone(),
            anchor: path,
            steps: Vec::new(),
            obstacle: self.obstacle.or(obstacle),
            ..self.clone()
        };
        at.shown.segments.push(Segment::Each);
        at
    }
}

/// A field in the form of CEL, and unescaped.
fn step(name: &str) -> (String, String) {
    // A rule with a name that CEL cannot express is never added.
    (cel::escape(name).unwrap_or_default(), name.to_owned())
}

/// A field as a step of `fieldPath`.
fn field_path_step(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    match name.chars().all(is_plain) {
        true => format!(".{name}"),
        false => format!("['{}']", name.replace('\\', r"\\").replace('\'', r"\'")),
    }
}

struct Walk<'a> {
    description: &'a Description,
    found: Vec<FieldRule>,
}

impl Walk<'_> {
    fn schema(&mut self, schema: &Schema, at: &At) {
        let chain: Vec<&Schema> = self.description.chain(schema).collect();
        let list_type = chain
            .iter()
            .find_map(|layer| layer.extension("x-kubernetes-list-type"));
        match &self.description.resolve(schema).shape {
            Shape::Object(fields) => self.fields(fields, at),
            Shape::List(items) => {
                let is_map = list_type.is_some_and(|kind| kind == "map");
                let obstacle = (!is_map).then_some(Obstacle::Uncorrelated);
                self.schema(items, &at.each("items", obstacle));
            }
            Shape::Map(values) => self.schema(values, &at.each("additionalProperties", None)),
            _ => {}
        }
    }

    fn fields(&mut self, fields: &[Field], at: &At) {
        for field in fields {
            let (name, schema) = (field.name.as_str(), &field.schema);
            let is_always_there = is_always_there(self.description, schema);
            if let Some(change) = &schema.change {
                self.found.push(self.rule(field, change, is_always_there, at));
            }
            self.schema(schema, &at.field(name, is_always_there));
        }
    }

    fn rule(
        &self,
        field: &Field,
        change: &Spanned<FieldChange>,
        is_always_there: bool,
        at: &At,
    ) -> FieldRule {
        let name = field.name.as_str();
        let mut steps = at.steps.clone();
        steps.push(step(name));
        let mut path = at.shown.clone();
        path.segments.push(Segment::Field(name.to_owned()));
        let is_always_there = is_always_there && at.steps.is_empty();
        let schema = schema_of(self.description, &field.schema).to_string();
        let is_untyped = ["preserve-unknown-fields", "embedded-resource"]
            .iter()
            .any(|key| schema.contains(&format!("\"x-kubernetes-{key}\":true")));
        let is_unwritable = steps.iter().any(|(escaped, _)| escaped.is_empty());
        let field_path: String = steps.iter().map(|(_, name)| field_path_step(name)).collect();
        FieldRule {
            rule: json!({
                "fieldPath": field_path,
                "message": message(&path.to_string(), &change.value),
                "reason": "FieldValueForbidden",
                "rule": expression(&steps, &change.value, is_always_there),
            }),
            field: path,
            key: change.span,
            is_immutable: change.value == FieldChange::Immutable,
            obstacle: at
                .obstacle
                .or(is_unwritable.then_some(Obstacle::Unwritable))
                .or(is_untyped.then_some(Obstacle::Untyped)),
            anchor: at.anchor.clone(),
        }
    }
}

/// Whether the field exists in every object that the API server accepts. Rules treat null as absent.
fn is_always_there(description: &Description, schema: &Schema) -> bool {
    let mut chain = description.chain(schema);
    let default = chain.find_map(|layer| layer.default.as_ref());
    let is_given = match default {
        Some(default) => !default.value.is_null(),
        None => !schema.optional,
    };
    is_given && !description.is_nullable(schema)
}

fn expression(steps: &[(String, String)], change: &FieldChange, is_always_there: bool) -> String {
    let value = |root: &str, count: usize| {
        let names: String = steps[..count]
            .iter()
            .map(|(name, _)| format!(".{name}"))
            .collect();
        format!("{root}{names}")
    };
    let there = |root: &str| {
        let parts: Vec<String> = (1..=steps.len())
            .map(|count| format!("has({})", value(root, count)))
            .collect();
        match parts.as_slice() {
            [part] => part.clone(),
            _ => format!("({})", parts.join(" && ")),
        }
    };
    let (new, old) = (value("self", steps.len()), value("oldSelf", steps.len()));
    let (has_new, has_old) = (there("self"), there("oldSelf"));
    match change {
        // A field that became required later is absent in older objects, and may be added to them.
        FieldChange::Immutable if !is_always_there => {
            format!("{has_new} == {has_old} && (!{has_old} || {new} == {old})")
        }
        FieldChange::Immutable | FieldChange::OnceSet => format!("!{has_old} || {has_new} && {new} == {old}"),
        FieldChange::Transition(moves) => {
            let quoted = |text: &String| Json::from(text.as_str()).to_string();
            let moves = moves.iter().filter(|(_, to)| !to.is_empty()).map(|(from, to)| {
                let to: Vec<String> = to.iter().map(quoted).collect();
                format!(" || {old} == {} && {new} in [{}]", quoted(from), to.join(", "))
            });
            let moves: String = moves.collect();
            format!("!{has_old} || {has_new} && ({new} == {old}{moves})")
        }
    }
}

fn message(field: &str, change: &FieldChange) -> String {
    match change {
        FieldChange::Immutable => format!("{field} cannot change after creation"),
        FieldChange::OnceSet => format!("{field} cannot change once it is set"),
        FieldChange::Transition(moves) => {
            let moves = moves.iter().filter(|(_, to)| !to.is_empty()).map(|(from, to)| {
                let to: Vec<String> = to.iter().map(|value| shown(value).to_string()).collect();
                format!("from {} to {}", shown(from), to.join(" or "))
            });
            let moves: Vec<String> = moves.collect();
            match moves.is_empty() {
                true => format!("{field} cannot change once it is set"),
                false => format!("{field} can change only {}", moves.join(", ")),
            }
        }
    }
}
