//! Deletes objects: immediately, after finalizers, or after a grace period.

use super::waits;
use crate::{
    admission::{self, Attributes, Operation},
    body,
    kinds::{Kind, Origin},
    object::{at, finalizers, is_deleting, meta, set_meta},
    parameters,
    refusal::{About, FieldError, Refusal},
    request::Query,
    state::State,
    store::Key,
    users::User,
    world::World,
};
use krator_schema::ProblemKind;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The propagation of a deletion to the dependents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// The dependents are deleted after their owner.
    Background,
    /// The dependents are deleted before their owner.
    Foreground,
    /// The dependents are not deleted.
    Orphan,
}

/// The options of a deletion.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeleteOptions {
    pub uid: Option<String>,
    pub version: Option<String>,
    pub propagation: Option<Propagation>,
    /// Whether the dependents are orphaned, in the field of older clients.
    pub orphans: Option<bool>,
    pub grace: Option<i64>,
    pub dry_run: bool,
    /// The user that sends the request. Deletions by the server itself have none, and skip webhooks and policies.
    pub user: Option<Arc<User>>,
    /// The options of the client's request.
    pub sent: Json,
}

/// The finalizer of [`Propagation::Foreground`].
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of [`Propagation::Orphan`].
pub(crate) const ORPHAN: &str = "orphan";

impl DeleteOptions {
    /// Reads the options from the body of a request or, without a body, from its parameters.
    ///
    /// # Errors
    ///
    /// If the options are malformed, or contradict each other.
    pub fn read(body: Option<Json>, query: &Query) -> Result<Self, Refusal> {
        let sent = match body {
            Some(body) => checked(body)?,
            None => of_parameters(query)?,
        };
        let orphans = sent.get("orphanDependents").and_then(Json::as_bool);
        let policy = sent.get("propagationPolicy").and_then(Json::as_str);
        let mut errors = Vec::new();
        if let (Some(_), Some(policy)) = (orphans, policy) {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid("propagationPolicy", policy, why));
        }
        let propagation = match policy {
            None => None,
            Some("Background") => Some(Propagation::Background),
            Some("Foreground") => Some(Propagation::Foreground),
            Some("Orphan") => Some(Propagation::Orphan),
            Some(other) => {
                // The API server does not sort this list.
                let detail = "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
                let kind = ProblemKind::NotSupported;
                errors.push(FieldError::new(
                    "propagationPolicy",
                    kind,
                    Some(other.into()),
                    detail,
                ));
                None
            }
        };
        let dry = at(&sent, &["dryRun"]).as_array().into_iter().flatten();
        let dry: Vec<&str> = dry.filter_map(Json::as_str).collect();
        let dry_run = !dry.is_empty();
        errors.extend(parameters::dry_run_error(dry));
        Refusal::unless_valid(About::new("meta.k8s.io", "DeleteOptions", ""), &errors)?;
        let of_orphans = orphans.map(|orphans| match orphans {
            true => Propagation::Orphan,
            false => Propagation::Background,
        });
        let precondition = |key| at(&sent, &["preconditions", key]).as_str().map(str::to_owned);
        Ok(Self {
            uid: precondition("uid"),
            version: precondition("resourceVersion"),
            propagation: propagation.or(of_orphans),
            orphans,
            grace: sent.get("gracePeriodSeconds").and_then(Json::as_i64),
            dry_run,
            user: None,
            sent,
        })
    }
}

/// The options in the parameters of a request.
fn of_parameters(query: &Query) -> Result<Json, Refusal> {
    let mut options = json!({});
    if let Some(grace) = query.number("gracePeriodSeconds")? {
        options["gracePeriodSeconds"] = grace.into();
    }
    if query.has("orphanDependents") {
        options["orphanDependents"] = query.flag("orphanDependents").into();
    }
    if query.has("propagationPolicy") {
        options["propagationPolicy"] = query.text("propagationPolicy").into();
    }
    if query.has("dryRun") {
        options["dryRun"] = query.all("dryRun").collect();
    }
    Ok(options)
}

/// A field of the options: its path, its type, and a check of its value.
type Field = (&'static [&'static str], &'static str, fn(&Json) -> bool);

const FIELDS: [Field; 7] = [
    (&["gracePeriodSeconds"], "int64", Json::is_i64),
    (&["preconditions"], "object", Json::is_object),
    (&["orphanDependents"], "bool", Json::is_boolean),
    (&["propagationPolicy"], "string", Json::is_string),
    (&["dryRun"], "list of strings", |value| {
        value
            .as_array()
            .is_some_and(|items| items.iter().all(Json::is_string))
    }),
    (&["preconditions", "uid"], "string", Json::is_string),
    (&["preconditions", "resourceVersion"], "string", Json::is_string),
];

/// Refuses a body of another kind, or with a field of a wrong type.
fn checked(body: Json) -> Result<Json, Refusal> {
    let (version, kind) = body::version_and_kind(&body).map_err(Refusal::bad_request)?;
    if !["", "DeleteOptions"].contains(&kind) {
        let version = if version.is_empty() { "v1" } else { version };
        return Err(Refusal::bad_request(body::no_kind(kind, version)));
    }
    for (path, type_, fits) in FIELDS {
        let value = at(&body, path);
        if !value.is_null() && !fits(value) {
            let (path, form) = (path.join("."), body::json_form(value));
            let message = format!("{path}: must be of type {type_}, and is a {form}");
            return Err(Refusal::bad_request(message));
        }
    }
    Ok(body)
}

/// Deletes an object, or marks it for deletion. Returns the response, and whether the object is removed.
///
/// # Errors
///
/// If the object does not exist, or does not meet a precondition.
pub(crate) fn delete(
    state: &mut State,
    kind: &Kind,
    key: &Key,
    options: &DeleteOptions,
) -> Result<(Json, bool), Refusal> {
    crate::hooks::admit_delete(kind, key)?;
    let live = state.store.get(&kind.id, key).map(Arc::clone);
    let live = live.ok_or_else(|| Refusal::not_found(kind.about(&key.name)))?;
    check_preconditions(kind, key, &live, options)?;
    admit(state, kind, key, &live, options)?;
    let mut object = Json::clone(&live);
    let wanted = finalizers_of_propagation(kind, &object, options);
    set_finalizers(&mut object, wanted);
    crate::hooks::before_delete(state, kind, &mut object);
    let grace = grace_period(kind, &live, options);
    let waits = waits(&object);
    let ends = grace.is_none_or(|seconds| seconds == 0) && !waits;
    // Even if a pod ends immediately, it is marked first.
    if !ends || grace.is_some() {
        begin(&state.world, kind, &mut object, &live, grace.unwrap_or(0));
    }
    if options.dry_run {
        return Ok((
            if ends && grace.is_none() {
                deleted(kind, &live)
            } else {
                object
            },
            ends,
        ));
    }
    if object != *live && (!ends || grace.is_some()) {
        let stored = state.store.put(&kind.id, object);
        crate::hooks::after_write(state, kind, &stored);
    }
    let stored = state.store.get(&kind.id, key).map_or(live, Arc::clone);
    if !ends {
        return Ok((Json::clone(&stored), false));
    }
    let last = state.store.remove(&kind.id, key).unwrap_or(stored);
    crate::hooks::after_delete(state, kind, &last);
    Ok((deleted(kind, &last), true))
}

/// Runs webhooks and policies for a deletion, before any change.
///
/// # Errors
///
/// If a webhook or policy denies it, or a webhook has to be called first.
pub(crate) fn admit(
    state: &mut State,
    kind: &Kind,
    key: &Key,
    live: &Json,
    options: &DeleteOptions,
) -> Result<(), Refusal> {
    let Some(user) = &options.user else { return Ok(()) };
    let about = Attributes {
        kind,
        subresource: "",
        operation: Operation::Delete,
        key: key.clone(),
        user,
        dry_run: options.dry_run,
        options: Some(&options.sent),
    };
    admission::delete(state, &about, &kind.to_served(&*kind.read(live)?))
}

/// Removes a finalizer, and the object after its last one.
pub(crate) fn remove_finalizer(state: &mut State, kind: &Kind, key: &Key, finalizer: &str) {
    let Some(live) = state.store.get(&kind.id, key).map(Arc::clone) else {
        return;
    };
    if !finalizers(&live).any(|name| name == finalizer) {
        return;
    }
    let mut object = Json::clone(&live);
    let rest = finalizers(&live)
        .filter(|name| *name != finalizer)
        .map(str::to_owned)
        .collect();
    set_finalizers(&mut object, rest);
    let ends = is_deleting(&object) && finalizers(&object).next().is_none();
    if ends {
        // An object without its last finalizer is not stored, so watches do not show it.
        let last = state.store.remove(&kind.id, key).unwrap_or(live);
        crate::hooks::after_delete(state, kind, &last);
    } else {
        let stored = state.store.put(&kind.id, object);
        crate::hooks::after_write(state, kind, &stored);
    }
}

fn check_preconditions(kind: &Kind, key: &Key, live: &Json, options: &DeleteOptions) -> Result<(), Refusal> {
    let about = || About::new(&kind.id.group, &kind.kind, &key.name);
    if let Some(uid) = &options.uid
        && uid != meta(live, "uid")
    {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
             deleted and then recreated",
            meta(live, "uid")
        );
        return Err(Refusal::conflict(about(), &why));
    }
    if let Some(version) = &options.version
        && version != meta(live, "resourceVersion")
    {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). \
             The object might have been modified",
            meta(live, "resourceVersion")
        );
        return Err(Refusal::conflict(about(), &why));
    }
    Ok(())
}

fn finalizers_of_propagation(kind: &Kind, object: &Json, options: &DeleteOptions) -> Vec<String> {
    let has = |name: &str| finalizers(object).any(|finalizer| finalizer == name);
    let (orphans, foreground) = match options.propagation {
        Some(propagation) => (
            propagation == Propagation::Orphan,
            propagation == Propagation::Foreground,
        ),
        None => (
            has(ORPHAN) || kind.orphans_by_default() && !has(FOREGROUND),
            has(FOREGROUND),
        ),
    };
    let kept = finalizers(object).filter(|name| ![ORPHAN, FOREGROUND].contains(name));
    let added = orphans
        .then_some(ORPHAN)
        .into_iter()
        .chain(foreground.then_some(FOREGROUND));
    kept.chain(added).map(str::to_owned).collect()
}

fn set_finalizers(object: &mut Json, finalizers: Vec<String>) {
    let value = if finalizers.is_empty() {
        Json::Null
    } else {
        json!(finalizers)
    };
    set_meta(object, "finalizers", value);
}

/// The grace period of the object, in seconds; only pods have one.
fn grace_period(kind: &Kind, live: &Json, options: &DeleteOptions) -> Option<i64> {
    match &kind.origin {
        Origin::Builtin(builtin) => builtin.grace_seconds(live, options.grace),
        Origin::Custom(..) => None,
    }
}

/// Marks an object for deletion.
fn begin(world: &World, kind: &Kind, object: &mut Json, live: &Json, grace: i64) {
    if is_deleting(live) {
        return;
    }
    let end = world.now() + jiff::SignedDuration::from_secs(grace);
    let time = if grace == 0 {
        world.time()
    } else {
        end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    };
    set_meta(object, "deletionTimestamp", time.into());
    // Namespaces and definitions are deleted by their controllers, without a grace period or a new generation.
    if kind.is_definition() || at(object, &["kind"]) == "Namespace" {
        return;
    }
    set_meta(object, "deletionGracePeriodSeconds", grace.into());
    let generation = at(live, &["metadata", "generation"]).as_i64().unwrap_or(0);
    if generation > 0 {
        set_meta(object, "generation", (generation + 1).into());
    }
}

/// The response to a deletion: the last state for some kinds, a status for others.
fn deleted(kind: &Kind, last: &Json) -> Json {
    if matches!(&kind.origin, Origin::Builtin(builtin) if builtin.rules.shows_deleted) {
        return last.clone();
    }
    let mut details = json!({"name": meta(last, "name")});
    if !kind.id.group.is_empty() {
        details["group"] = kind.id.group.as_str().into();
    }
    details["kind"] = kind.id.resource.as_str().into();
    details["uid"] = meta(last, "uid").into();
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}
