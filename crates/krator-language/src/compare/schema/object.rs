//! Objects and maps: fields that are added, removed or required, and the defaults of absent fields.

use serde_json::Value as Json;

use super::SchemaWalk;
use super::query::{is_open, is_true, members, open, required};
use crate::compare::affected::Affected;
use crate::compare::place::Part;
use crate::compare::{ChangeKind, PathStep, SchemaPath, ServerOutcome};
use crate::text::shown;

impl SchemaWalk {
    pub(super) fn object(&mut self, old: &Json, new: &Json, path: &SchemaPath) {
        let (before, now) = (members(old, "properties"), members(new, "properties"));
        let rest = |schema: &Json| match schema.get("additionalProperties") {
            Some(rest) if rest.is_object() => Some(rest.clone()),
            Some(rest) if *rest == true => Some(open()),
            _ => is_open(schema).then(open),
        };
        let (old_rest, new_rest) = (rest(old), rest(new));
        self.needed(old, new, path);
        for (name, then) in &before {
            let path = path.field(name);
            match (now.get(name), &new_rest) {
                (Some(now), _) => {
                    self.default(then, now, new, &path);
                    self.null(then, now, new, &path);
                    self.value(then, now, &path);
                }
                (None, Some(rest)) => self.value(then, rest, &path),
                (None, None) => self.removed(&path),
            }
        }
        for (name, now) in now.iter().filter(|(name, _)| !before.contains_key(*name)) {
            let path = path.field(name);
            match &old_rest {
                Some(rest) => self.value(rest, now, &path),
                None if required(new).contains(name) => {}
                None => {
                    _ = self
                        .changes
                        .safe(ChangeKind::FieldAdded, &path, Part::Name, "is new")
                }
            }
        }
        match (&old_rest, &new_rest) {
            (Some(old_rest), Some(new_rest)) => {
                let path = path.then(PathStep::Values);
                if old_rest["nullable"] == true && new_rest["nullable"] != true {
                    self.changes.safe(
                        ChangeKind::NullableRemoved,
                        &path,
                        Part::Type,
                        "null is now dropped",
                    );
                }
                self.value(old_rest, new_rest, &path);
            }
            (Some(_), None) => {
                let known = now.keys().map(|name| (*name).to_owned()).collect();
                self.changes
                    .refused(
                        ChangeKind::UnknownFieldsDropped,
                        path,
                        Part::Type,
                        "now allows only the declared fields; it allowed fields of any name",
                        Affected::OtherFields(known),
                    )
                    .outcomes(ServerOutcome::Lost, ServerOutcome::Lost)
                    .clients("other fields are dropped from requests, and requests with strict validation are refused")
                    .readers("other fields are missing in responses");
            }
            (None, Some(_)) => {
                let message = "may now have fields of other names";
                self.changes
                    .safe(ChangeKind::UnknownFieldsKept, path, Part::Type, message);
            }
            (None, None) => {}
        }
        let key = "x-kubernetes-map-type";
        if new[key] == "atomic" && old[key] != "atomic" {
            self.atomic(path, key);
        }
        let key = "x-kubernetes-embedded-resource";
        if is_true(new, key) && !is_true(old, key) {
            let message = "is now an embedded resource, with `apiVersion`, `kind` and `metadata`";
            self.changes
                .refused(
                    ChangeKind::ResourceEmbedded,
                    path,
                    Part::Key(key),
                    message,
                    Affected::NoResource,
                )
                .outcomes(ServerOutcome::Refused, ServerOutcome::Refused);
        }
    }

    fn removed(&mut self, path: &SchemaPath) {
        self.changes
            .refused(
                ChangeKind::FieldRemoved,
                path,
                Part::Name,
                "was removed",
                Affected::Present,
            )
            .outcomes(ServerOutcome::Lost, ServerOutcome::Lost)
            .clients("it is dropped from requests, and requests with strict validation are refused")
            .readers("it is missing in responses")
            .help("keep the field as `optional` until no object uses it, or give the kind a new `version`, with `changes` that keep its values")
            .gone();
    }

    /// Fields that are required now and were not before.
    fn needed(&mut self, old: &Json, new: &Json, holder: &SchemaPath) {
        let (before, now) = (required(old), required(new));
        for name in now.difference(&before) {
            let path = holder.field(name);
            let then = &old["properties"][*name];
            if then.get("default").is_some() {
                // Stored objects have the field, because its default was stored with them.
                let message = "no longer has a default and is now required";
                self.changes
                    .safe(ChangeKind::RequiredAdded, &path, Part::Name, message)
                    .clients("requests without it are refused")
                    .help("keep the default, or make it `optional`");
                continue;
            }
            let message = match then {
                Json::Null => "is new and required",
                _ => "is now required",
            };
            self.changes
                .refused(
                    ChangeKind::RequiredAdded,
                    &path,
                    Part::Name,
                    message,
                    Affected::Lacks((*name).to_owned()),
                )
                .unchanged(holder.clone())
                .unreadable()
                .clients("requests without it are refused")
                .help("give it a `default`, or make it `optional`");
        }
        for name in before.difference(&now) {
            let path = holder.field(name);
            let still = new["properties"].get(*name);
            if still.is_some_and(|still| still.get("default").is_none()) {
                self.changes
                    .safe(ChangeKind::RequiredRemoved, &path, Part::Name, "is now optional");
            }
        }
    }

    fn default(&mut self, then: &Json, now: &Json, holder: &Json, path: &SchemaPath) {
        let name = match path.0.last() {
            Some(PathStep::Field(name)) => name.as_str(),
            _ => return,
        };
        let value = |value: &Json| format!("`{}`", shown(&value.to_string()));
        let changes = "requests without it have another meaning";
        match (then.get("default"), now.get("default")) {
            (Some(then), Some(now)) if then != now => {
                let message = format!("defaults to {} instead of {}", value(now), value(then));
                let change = ChangeKind::DefaultChanged;
                self.changes
                    .safe(change, path, Part::Default, message)
                    .clients(changes);
            }
            (None, Some(now)) => {
                let message = format!("now defaults to {}", value(now));
                self.changes
                    .safe(ChangeKind::DefaultAdded, path, Part::Default, message);
            }
            // A field that is now required is reported as such.
            (Some(then), None) if !required(holder).contains(name) => {
                let message = format!("no longer defaults to {}", value(then));
                let change = ChangeKind::DefaultRemoved;
                self.changes
                    .safe(change, path, Part::Name, message)
                    .clients(changes);
            }
            _ => {}
        }
    }

    /// Changes of `nullable`. Where null is not allowed, the API server treats it like an absent field.
    fn null(&mut self, then: &Json, now: &Json, holder: &Json, path: &SchemaPath) {
        match (then["nullable"] == true, now["nullable"] == true) {
            (true, false) => {}
            (false, true) => {
                self.changes
                    .safe(ChangeKind::NullableAdded, path, Part::Name, "may now be null");
                return;
            }
            _ => return,
        }
        let Some(PathStep::Field(name)) = path.0.last() else {
            return;
        };
        if required(holder).contains(name.as_str()) {
            self.changes
                .refused(
                    ChangeKind::NullableRemoved,
                    path,
                    Part::Name,
                    "can no longer be null",
                    Affected::Lacks(name.clone()),
                )
                .unchanged(path.parent())
                .unreadable();
        } else {
            let message = "can no longer be null: null is treated as absent";
            self.changes
                .safe(ChangeKind::NullableRemoved, path, Part::Name, message);
        }
    }
}
