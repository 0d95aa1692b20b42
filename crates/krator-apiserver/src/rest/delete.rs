//! Deletion: at once, after finalizers, after a grace period.

use super::waits;
use crate::{
    admission::{self, Attributes, Operation},
    kinds::{Kind, Origin},
    object::{at, finalizers, is_deleting, meta, set_meta},
    refusal::{About, FieldError, Refusal},
    state::{State, now},
    store::Key,
    users::User,
};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The propagation of a deletion to the dependents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They are deleted after their owner.
    Background,
    /// They are deleted before their owner.
    Foreground,
    /// They stay.
    Orphan,
}

/// The options of a deletion.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeleteOptions {
    pub uid: Option<String>,
    pub version: Option<String>,
    pub propagation: Option<Propagation>,
    pub grace: Option<i64>,
    pub dry_run: bool,
    /// Who asks for it. What the server deletes by itself, nobody else decides about.
    pub user: Option<Arc<User>>,
    /// The options as the client has sent them.
    pub sent: Json,
}

/// The finalizer of [`Propagation::Foreground`].
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of [`Propagation::Orphan`].
pub(crate) const ORPHAN: &str = "orphan";

impl DeleteOptions {
    /// Reads the options from the body of a request, or where there is none from its parameters.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn read(body: &Json, query: &crate::request::Query) -> Result<Self, Refusal> {
        let from_query = body.is_null();
        let text = |key: &str| match from_query {
            true => Some(query.text(key).to_owned()).filter(|text| !text.is_empty()),
            false => body.get(key).and_then(Json::as_str).map(str::to_owned),
        };
        let propagation = match text("propagationPolicy").as_deref() {
            None => None,
            Some("Background") => Some(Propagation::Background),
            Some("Foreground") => Some(Propagation::Foreground),
            Some("Orphan") => Some(Propagation::Orphan),
            Some(other) => {
                let all = ["Background", "Foreground", "Orphan", "nil"];
                let error = FieldError::not_supported("propagationPolicy", other, &all);
                return Err(Refusal::option("DeleteOptions", error));
            }
        };
        let orphans = body.get("orphanDependents").and_then(Json::as_bool);
        let of_orphans = orphans.map(|orphans| match orphans {
            true => Propagation::Orphan,
            false => Propagation::Background,
        });
        let grace = match from_query {
            true => query
                .number("gracePeriodSeconds")?
                .and_then(|seconds| i64::try_from(seconds).ok()),
            false => body.get("gracePeriodSeconds").and_then(Json::as_i64),
        };
        let precondition = |key| at(body, &["preconditions", key]).as_str().map(str::to_owned);
        let dry = at(body, &["dryRun"])
            .as_array()
            .is_some_and(|list| list.contains(&json!("All")));
        Ok(Self {
            uid: precondition("uid"),
            version: precondition("resourceVersion"),
            propagation: propagation.or(of_orphans),
            grace,
            dry_run: dry || query.dry_run()?,
            user: None,
            sent: body.clone(),
        })
    }
}

/// Deletes an object, or begins to: the answer, and whether the object is gone.
///
/// # Errors
///
/// If there is no object, or it is not the one that the request expects.
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
    crate::hooks::before_delete(kind, &mut object);
    let grace = grace_period(kind, &live, options);
    let waits = waits(&object);
    let ends = grace.is_none_or(|seconds| seconds == 0) && !waits;
    // A pod is marked first even if it ends at once.
    if !ends || grace.is_some() {
        begin(kind, &mut object, &live, grace.unwrap_or(0));
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

/// Lets others decide about a deletion, before anything is changed.
///
/// # Errors
///
/// If one of them refuses it, or has to be asked first.
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
    admission::delete(state, &about, &kind.to_served(live))
}

/// Takes a finalizer away, and the object with the last one.
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
        // An object without its last finalizer is never stored, so that nobody who watches sees it.
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

/// The grace period of the object, in seconds; only pods do that without a finalizer.
fn grace_period(kind: &Kind, live: &Json, options: &DeleteOptions) -> Option<i64> {
    match &kind.origin {
        Origin::Builtin(builtin) => builtin.grace_seconds(live, options.grace),
        Origin::Custom(_) => None,
    }
}

/// Marks an object as one that is being deleted.
fn begin(kind: &Kind, object: &mut Json, live: &Json, grace: i64) {
    if is_deleting(live) {
        return;
    }
    let end = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(grace);
    let time = if grace == 0 {
        now()
    } else {
        end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    };
    set_meta(object, "deletionTimestamp", time.into());
    // Namespaces and definitions have deletions of their own.
    if kind.is_definition() || at(object, &["kind"]) == "Namespace" {
        return;
    }
    set_meta(object, "deletionGracePeriodSeconds", grace.into());
    let generation = at(live, &["metadata", "generation"]).as_i64().unwrap_or(0);
    if generation > 0 {
        set_meta(object, "generation", (generation + 1).into());
    }
}

/// The answer to a deletion: the last state for some kinds, a status for others.
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
