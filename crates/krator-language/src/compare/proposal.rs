//! Proposes an entry of `versions` for a former version: the `changes` from its schema to the newest one.
//!
//! Both schemas are walked together. A removed field and a new one of the same type at the same place are a renamed
//! field, unless others are possible; one of the same name at another place is a moved field. The remaining fields were
//! removed or added. No changes are proposed for bounds: a version cannot have its own, so the comparison of the
//! versions reports them.

mod fields;

use krator_machine::versions::{Path, Step, path_text};
use serde_json::{Map, Value as Json, json};

use super::pair::Pair;
use super::place;
use super::schema::query::{members, required, value_types};
use super::{PathStep, SchemaPath};
use crate::crd::{self, DURATION_PATTERN};
use crate::finding::{Fix, Source, Span, closest};
use crate::import;
use crate::model::{Kind, Schema, Shape};
use crate::names::VersionName;
use crate::sample;
use crate::yaml;
use fields::Scope;

/// A proposed entry for an older version.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    name: VersionName,
    /// The keys of the version.
    entry: Map<String, Json>,
    /// The mapping `resource`, after which `versions` can be inserted.
    resource: Span,
    /// The first existing version in `versions`.
    first: Option<Span>,
    guesses: Guesses,
}

/// The parts of a version that only the author can decide.
#[derive(Debug, Clone, Default, PartialEq)]
struct Guesses {
    /// The removed fields that may be one of several new fields.
    unclear: Vec<String>,
    /// The required fields that the version lacks and whose `default` is only a sample.
    invented: Vec<String>,
}

impl Proposal {
    /// Proposes an entry in the new description for the newest version of the former one.
    pub(super) fn between(pair: &Pair<'_>) -> Proposal {
        let mut search = Search {
            pair,
            changes: Vec::new(),
            guesses: Guesses::default(),
        };
        let schemas = [(pair.old_description, pair.old), (pair.new_description, pair.new)]
            .map(|(description, kind)| described(crd::object_schema(description, kind), kind));
        search.scope(&schemas[0], &schemas[1], &[]);
        let mut changes = search.changes;
        // The other fields of an object are removed before its last field is moved, and added after its first one.
        changes.sort_by_key(|change| {
            const ORDER: [&str; 6] = ["renamed", "removed", "moved", "values", "retyped", "added"];
            ORDER.iter().position(|kind| change.get(*kind).is_some())
        });
        let mut entry = Map::new();
        if pair.old.stored_version() == &pair.old.resource.version.value {
            entry.insert("storage".to_owned(), true.into());
        }
        if !changes.is_empty() {
            entry.insert("changes".to_owned(), changes.into());
        }
        Proposal {
            name: pair.old.resource.version.value.clone(),
            entry,
            resource: pair.new.resource.span,
            first: pair.new.versions.first().map(|version| version.name.span),
            guesses: search.guesses,
        }
    }

    /// The new path of a renamed field.
    pub(super) fn renamed(&self, path: &str) -> Option<&str> {
        let mut changes = self.entry.get("changes")?.as_array()?.iter();
        changes.find(|change| change["renamed"] == path)?["to"].as_str()
    }

    /// The name of the version and its entry in `versions`.
    pub fn version(&self) -> (&str, &Map<String, Json>) {
        (self.name.as_str(), &self.entry)
    }

    /// The edit that inserts the version into a description.
    pub fn fix(&self, source: &Source) -> Fix {
        let text = source.text();
        let (at, replacement) = match self.first {
            Some(first) => {
                let before = text.get(..first.start).unwrap_or_default();
                let before = before.rsplit('\n').next().unwrap_or_default();
                let entry = match before.trim().is_empty() {
                    true => format!("{}\n{before}", self.block(before)),
                    false => format!("{}: {}, ", self.name, flow(&Json::Object(self.entry.clone()))),
                };
                (first.start, entry)
            }
            None => {
                let last = text.get(..self.resource.end).unwrap_or_default().trim_end().len();
                let line = text.get(last..).and_then(|rest| rest.find('\n'));
                let end = line.map_or(text.len(), |line| last + line);
                (end, format!("\nversions:\n  {}", self.block("  ")))
            }
        };
        let mut message = format!("add `{}` to `versions`", self.name);
        let Guesses { unclear, invented } = &self.guesses;
        if !unclear.is_empty() {
            message += &format!(
                "; if fields were renamed, write `renamed` instead of `removed` and `added`: {}",
                unclear.join(", ")
            );
        }
        if !invented.is_empty() {
            message += &format!(
                "; the `default` is only an example, so replace it by the value for existing objects: {}",
                invented.join(", ")
            );
        }
        Fix {
            span: Span::new(at, at),
            replacement,
            message,
            is_certain: unclear.is_empty() && invented.is_empty(),
        }
    }

    /// The entry in several lines, all of which except the first are indented.
    fn block(&self, indent: &str) -> String {
        if self.entry.is_empty() {
            return format!("{}: {{}}", self.name);
        }
        let mut out = format!("{}:", self.name);
        for (key, value) in &self.entry {
            out += &match value {
                Json::Array(changes) => {
                    let items = changes
                        .iter()
                        .map(|change| format!("\n{indent}    - {}", flow(change)));
                    format!("\n{indent}  {key}:{}", items.collect::<String>())
                }
                value => format!("\n{indent}  {key}: {}", flow(value)),
            };
        }
        out
    }
}

/// A value in one line of YAML.
fn flow(value: &Json) -> String {
    let text = |text: &str| match text
        .split(' ')
        .all(|word| !word.is_empty() && yaml::scalar(word) == word)
    {
        true => text.to_owned(),
        false => yaml::scalar(text),
    };
    match value {
        Json::String(value) => text(value),
        Json::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Json::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| format!("{}: {}", text(key), flow(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        // Bounds in a CRD are floating-point numbers.
        Json::Number(number) => number.as_f64().unwrap_or_default().to_string(),
        value => value.to_string(),
    }
}

/// The schema of an object, whose status has only the fields of the description.
fn described(mut schema: Json, kind: &Kind) -> Json {
    if let Some(Json::Object(fields)) = schema.pointer_mut("/properties/status/properties") {
        fields.retain(|name, _| kind.status.iter().any(|field| field.name.as_str() == name));
    }
    schema
}

/// The search for the changes, with the changes found until now.
struct Search<'p> {
    pair: &'p Pair<'p>,
    changes: Vec<Json>,
    guesses: Guesses,
}

impl Search<'_> {
    /// Finds the changes in a value within which fields can be moved. Returns whether changes within it derive the new
    /// schema from the old one.
    fn scope(&mut self, old: &Json, new: &Json, at: &[Step]) -> bool {
        let mut scope = Scope::default();
        let is_made = self.value(old, new, at, &mut scope);
        for (from, to) in scope.renamed() {
            self.changes
                .push(json!({"renamed": path_text(&from), "to": path_text(&to)}));
        }
        for (from, to) in scope.moved() {
            self.changes
                .push(json!({"moved": path_text(&from), "to": path_text(&to)}));
        }
        let unclear = scope.unclear().map(|path| format!("`{}`", path_text(path)));
        self.guesses.unclear.extend(unclear);
        for field in scope.gone {
            let type_ = self.written(&field.at, field.schema);
            self.changes
                .push(json!({"removed": path_text(&field.at), "type": type_}));
        }
        for field in scope.added {
            let mut change = json!({"added": path_text(&field.at)});
            if field.is_required {
                change["default"] = match field.schema.get("default") {
                    Some(default) => default.clone(),
                    None => {
                        self.guesses.invented.push(format!("`{}`", path_text(&field.at)));
                        sample::value(field.schema)
                    }
                };
            }
            self.changes.push(change);
        }
        is_made
    }

    fn value<'j>(&mut self, old: &'j Json, new: &'j Json, at: &[Step], scope: &mut Scope<'j>) -> bool {
        if old == new {
            return true;
        }
        if old["format"] == "int64" && new["pattern"] == DURATION_PATTERN {
            // A number with bounds would have other bounds than the duration.
            self.changes
                .push(json!({"retyped": path_text(at), "from": "integer", "unit": "seconds"}));
            return true;
        }
        if !value_types(old).is_subset(&value_types(new)) {
            return false;
        }
        match (old.get("properties"), new.get("properties")) {
            (Some(_), Some(_)) => {
                self.fields(old, new, at, scope);
                return true;
            }
            (None, None) => {}
            _ => return false,
        }
        let below = ["items", "additionalProperties"];
        let mut below = below
            .into_iter()
            .filter(|key| old[*key].is_object() && new[*key].is_object());
        if let Some(key) = below.next() {
            return self.scope(&old[key], &new[key], &with(at, Step::Each));
        }
        if let Some(map) = paired(&texts(old), &texts(new)) {
            self.changes.push(json!({"values": path_text(at), "map": map}));
        }
        true
    }

    fn fields<'j>(&mut self, old: &'j Json, new: &'j Json, at: &[Step], scope: &mut Scope<'j>) {
        let (before, now) = (members(old, "properties"), members(new, "properties"));
        for (name, then) in &before {
            let at = with(at, Step::Field((*name).to_owned()));
            let is_made = match now.get(name) {
                Some(now) => self.value(then, now, &at, scope),
                None => false,
            };
            if !is_made {
                scope
                    .gone
                    .push(fields::Lone::new(at.clone(), then, required(old).contains(name)));
                if let Some(now) = now.get(name) {
                    scope
                        .added
                        .push(fields::Lone::new(at, now, required(new).contains(name)));
                }
            }
        }
        for (name, now) in now.iter().filter(|(name, _)| !before.contains_key(*name)) {
            let at = with(at, Step::Field((*name).to_owned()));
            scope
                .added
                .push(fields::Lone::new(at, now, required(new).contains(name)));
        }
    }

    /// The type of a removed field, in the form of a description.
    fn written(&self, at: &[Step], schema: &Json) -> Json {
        let steps = at.iter().map(|step| match step {
            Step::Field(name) => PathStep::Field(name.clone()),
            Step::Each | Step::Index(_) => PathStep::Items,
        });
        let path = SchemaPath(steps.collect());
        let written = place::schema(self.pair.old_description, self.pair.old, &path);
        match written.and_then(phrase) {
            Some(phrase) => format!("optional {phrase}").into(),
            None => import::type_of(schema, schema.get("default").is_none()),
        }
    }
}

/// A type of Kubernetes, or lists or maps of it, without other keys, as a phrase: its schema in the CRD would be much
/// longer.
fn phrase(schema: &Schema) -> Option<String> {
    let plain = Schema {
        optional: schema.optional,
        ..Schema::plain(schema.shape.clone(), schema.span)
    };
    match &schema.shape {
        _ if *schema != plain => None,
        Shape::Kubernetes(reference) => Some(reference.reference()),
        Shape::List(inner) => Some(format!("list of {}", phrase(inner)?)),
        Shape::Map(inner) => Some(format!("map of {}", phrase(inner)?)),
        _ => None,
    }
}

fn with(at: &[Step], step: Step) -> Path {
    at.iter().cloned().chain([step]).collect()
}

/// The values of an `enum` of strings.
fn texts(schema: &Json) -> Vec<&str> {
    let values = schema["enum"].as_array().into_iter().flatten();
    values.filter_map(Json::as_str).collect()
}

/// Pairs each removed value with the new value that replaces it. `None` if no value was removed, or if the pairs are
/// ambiguous.
fn paired(old: &[&str], new: &[&str]) -> Option<Map<String, Json>> {
    let mut gone: Vec<&str> = old.iter().copied().filter(|value| !new.contains(value)).collect();
    let mut fresh: Vec<&str> = new.iter().copied().filter(|value| !old.contains(value)).collect();
    let mut map = Map::new();
    let letters = |text: &str| -> String {
        let letters = text.chars().filter(char::is_ascii_alphanumeric);
        letters.collect::<String>().to_ascii_lowercase()
    };
    let mut take = |is_same: &dyn Fn(&str, &str) -> bool| {
        gone.retain(|then| {
            let Some(at) = fresh.iter().position(|now| is_same(then, now)) else {
                return true;
            };
            map.insert((*then).to_owned(), fresh.remove(at).into());
            false
        });
    };
    take(&|then, now| letters(then) == letters(now));
    let rest = new.to_vec();
    take(&|then, now| {
        closest(then, rest.iter().copied()).is_some_and(|closest| closest.is_only && closest.name == now)
    });
    let is_last = gone.len() == 1 && fresh.len() == 1;
    if is_last {
        map.insert(gone.remove(0).to_owned(), fresh.remove(0).into());
    }
    (gone.is_empty() && !map.is_empty()).then_some(map)
}
