//! Replaces, patches and applies objects.

use super::{
    Options, Written,
    create::insert,
    decode, finalizer_warnings, metadata_errors,
    read::{self, expect_builtin, expect_version, kind_errors},
    scaled::scale_of,
    settle_namespace, small_enough, waits,
};
use crate::{
    admission::{self, Operation},
    body,
    kinds::Kind,
    managed,
    object::{at, finalizers, is_deleting, meta, set_meta},
    patch,
    refusal::{About, FieldError, Refusal},
    request::Subresource,
    state::State,
    store::Key,
};
use serde_json::Value as Json;
use std::sync::Arc;

const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// A change of a stored object.
pub(crate) enum Edit {
    /// The object is sent as a whole.
    Replace(Json),
    /// The object is whole, and has its managed fields.
    Tracked(Json),
    /// A JSON patch (RFC 6902).
    JsonPatch(Json),
    /// A JSON merge patch (RFC 7386).
    MergePatch(Json),
    /// A strategic merge patch, which depends on the types of the fields.
    StrategicPatch(Json),
    /// A server-side apply; `force` also changes fields of other managers.
    Apply { config: Json, force: bool },
    /// A malformed edit. It is reported only if the object exists, or the edit could create it.
    Unreadable { refusal: Refusal, applies: bool },
}

/// Changes an object, or creates it if the edit can do that.
///
/// # Errors
///
/// If the object does not exist or does not meet a precondition, or if the new object is invalid.
pub(crate) fn update(
    state: &mut State,
    kind: &Kind,
    key: &Key,
    edit: (Edit, Vec<String>),
    options: &Options,
) -> Result<Written, Refusal> {
    let (mut edit, mut twice) = edit;
    if let Edit::Replace(sent) = edit {
        // A whole object is decoded before the existence of the stored one is checked.
        let sent_twice = std::mem::take(&mut twice);
        let mut object = decode(&mut state.session, kind, sent, sent_twice, options.unknown)?;
        expect_version(kind, &object)?;
        settle_namespace(kind, &mut object, &key.namespace)?;
        check_name(&object, key)?;
        edit = Edit::Replace(object);
    }
    let stored = state.store.get(&kind.id, key).map(Arc::clone);
    let read = stored.as_deref().map(|stored| kind.read(stored)).transpose()?;
    let served = read.as_deref().map(|read| kind.to_served(read));
    let live = served.as_deref();
    let is_main = options.subresource == Subresource::None;
    let rules = kind.rules();
    let creates = match &edit {
        Edit::Apply { .. } | Edit::Unreadable { applies: true, .. } => is_main,
        Edit::Replace(_) => is_main && rules.is_some_and(|rules| rules.creates_on_update),
        _ => false,
    };
    if live.is_none() && !creates {
        return Err(Refusal::not_found(kind.about(&key.name)));
    }
    let replaces = matches!(edit, Edit::Replace(_));
    let applies = matches!(edit, Edit::Apply { .. });
    let mut object = edited(state, kind, live, edit, twice, options)?;
    let uid = meta(&object, "uid");
    if applies && live.is_none() && !uid.is_empty() {
        let why = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        );
        return Err(Refusal::conflict(kind.about(&key.name), &why));
    }
    check_name(&object, key)?;
    settle_namespace(kind, &mut object, &key.namespace)?;
    let about = options.attributes(kind, Operation::Update, key.clone());
    if let Some(live) = live.filter(|_| options.subresource != Subresource::Scale) {
        object = admission::mutate(state, &about, object, Some(live))?;
    }
    let (Some(stored), Some(live)) = (&stored, live) else {
        if !meta(&object, "uid").is_empty() {
            let why = format!(
                "Precondition failed: UID in precondition: {}, UID in object meta: ",
                meta(&object, "uid")
            );
            return Err(Refusal::conflict(kind.about(&key.name), &why));
        }
        expect_number(meta(&object, "resourceVersion"))?;
        set_meta(&mut object, "resourceVersion", Json::Null);
        let object = insert(state, kind, object, options)?;
        return Ok(Written {
            object,
            created: true,
        });
    };
    check_version(kind, key, &mut object, live, replaces)?;
    crate::hooks::before_update(state, kind, &mut object, live)?;
    let object = prepared(kind, object, live, options);
    check(kind, &object, live, options)?;
    for warning in finalizer_warnings(kind, &object, Some(live)) {
        state.session.warn(warning);
    }
    if options.subresource == Subresource::Scale {
        let [object, live] = [&object, live].map(|object| scale_of(kind, object));
        admission::validate(state, &about, Some(&object), Some(&live))?;
    } else {
        admission::validate(state, &about, Some(&object), Some(live))?;
    }
    let object = store(state, kind, key, object, (live, stored), options)?;
    Ok(Written {
        object,
        created: false,
    })
}

/// Refuses a resource version that is not a number.
fn expect_number(version: &str) -> Result<(), Refusal> {
    match version.is_empty() || version.parse::<u64>().is_ok() {
        true => Ok(()),
        false => Err(Refusal::failed(format!(
            "strconv.ParseUint: parsing {version:?}: invalid syntax"
        ))),
    }
}

/// Checks that an object has the name of the path.
fn check_name(object: &Json, key: &Key) -> Result<(), Refusal> {
    let expected = &key.name;
    match meta(object, "name") {
        "" => Err(Refusal::bad_request(format!(
            "the name of the object ({expected} based on URL) was undeterminable: name must be provided"
        ))),
        name if name != expected => Err(Refusal::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({expected})"
        ))),
        _ => Ok(()),
    }
}

/// The object after the edit, with its managed fields.
fn edited(
    state: &mut State,
    kind: &Kind,
    live: Option<&Json>,
    edit: Edit,
    twice: Vec<String>,
    options: &Options,
) -> Result<Json, Refusal> {
    let (by, ignored) = (options.manager(kind), kind.ignored(options.subresource));
    let base = live.unwrap_or(&Json::Null);
    let is_patch = matches!(
        edit,
        Edit::JsonPatch(_) | Edit::MergePatch(_) | Edit::StrategicPatch(_)
    );
    let is_tracked = matches!(edit, Edit::Tracked(_) | Edit::Apply { .. });
    let is_read = matches!(edit, Edit::Replace(_));
    let applies = matches!(edit, Edit::Apply { .. });
    // In errors, the API server shows a strategic patch, but the results of other patches.
    let shown = match &edit {
        Edit::StrategicPatch(patch) => Some(crate::values::plain(patch)),
        _ => None,
    };
    let made = match edit {
        Edit::Replace(object) | Edit::Tracked(object) => object,
        Edit::JsonPatch(patch) => patch::json_patch(base, &patch)?,
        Edit::MergePatch(patch) => patch::merge_patch(base, &patch)?,
        Edit::StrategicPatch(patch) => patch::strategic_merge_patch(base, &patch, &kind.types)?,
        Edit::Apply { config, force } => {
            managed::check_kind(&config, &kind.api_version(), &kind.kind)?;
            managed::apply(
                live,
                &config,
                &kind.types,
                &by,
                force,
                &state.world.time(),
                &ignored,
            )?
        }
        Edit::Unreadable { refusal, .. } => return Err(refusal),
    };
    let mut object = match (is_read, is_patch) {
        (true, _) => made,
        (_, true) => decode_patched(state, kind, made, shown, twice, options)?,
        _ => decode(&mut state.session, kind, made, twice, options.unknown)?,
    };
    let ends_tracking = at(&object, &["metadata", "managedFields"]) == &Json::Array(Vec::new());
    // A converted object lacks the defaults of its version. An apply that changes nothing must not add them.
    let is_same = applies && live.is_some_and(|live| managed::are_same_but_managed(live, &object));
    if !is_same {
        kind.default(&mut object);
    }
    if ends_tracking {
        set_meta(&mut object, "managedFields", Json::Array(Vec::new()));
    }
    if !is_tracked {
        object = managed::update(live, object, &kind.types, &by, &state.world.time(), &ignored);
    }
    Ok(object)
}

/// Decodes the result of a patch. Errors in it are reported as errors of the patch.
fn decode_patched(
    state: &mut State,
    kind: &Kind,
    patched: Json,
    shown: Option<String>,
    twice: Vec<String>,
    options: &Options,
) -> Result<Json, Refusal> {
    let is_strategic = shown.is_some();
    let shown = shown.unwrap_or_else(|| crate::values::go_json(&patched));
    let refused = |why: &str| {
        let error = FieldError::invalid("patch", shown.as_str(), why);
        Refusal::invalid(About::default(), &[error])
    };
    if kind.is_custom()
        && patched
            .get("kind")
            .and_then(Json::as_str)
            .is_none_or(str::is_empty)
    {
        return Err(refused(&format!("Object 'Kind' is missing in '{shown}'")));
    }
    // A strategic patch is decoded into the Go type without a check of the kind.
    if !kind.is_custom() && !is_strategic {
        let (version, name) = body::version_and_kind(&patched).map_err(|why| refused(&why))?;
        expect_builtin(kind, version, name).map_err(|why| refused(&why))?;
    }
    let read = decode(&mut state.session, kind, patched, twice, options.unknown);
    read.map_err(|refusal| match refusal.code {
        400 => {
            let why = refusal.message.find("strict decoding error").unwrap_or_default();
            refused(&refusal.message[why..])
        }
        _ => refusal,
    })
}

/// Checks the preconditions of the request.
fn check_version(
    kind: &Kind,
    key: &Key,
    object: &mut Json,
    live: &Json,
    replaces: bool,
) -> Result<(), Refusal> {
    let uid = meta(object, "uid");
    if replaces && !uid.is_empty() && uid != meta(live, "uid") {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            meta(live, "uid")
        );
        return Err(Refusal::conflict(kind.about(&key.name), &why));
    }
    expect_number(meta(object, "resourceVersion"))?;
    match meta(object, "resourceVersion") {
        "" | "0" if replaces && kind.rules().is_none_or(|rules| rules.needs_version) => {
            let error = FieldError::invalid("metadata.resourceVersion", 0, "must be specified for an update");
            Err(Refusal::invalid(kind.about(&key.name), &[error]))
        }
        "" | "0" => {
            set_meta(object, "resourceVersion", meta(live, "resourceVersion").into());
            Ok(())
        }
        version if version != meta(live, "resourceVersion") => {
            Err(Refusal::conflict(kind.about(&key.name), MODIFIED))
        }
        _ => Ok(()),
    }
}

/// Restores the immutable fields.
fn prepared(kind: &Kind, mut object: Json, live: &Json, options: &Options) -> Json {
    let kept = |key: &str| at(live, &["metadata", key]).clone();
    set_meta(&mut object, "generation", kept("generation"));
    kind.prepare_update(&mut object, live, options.subresource);
    set_meta(&mut object, "creationTimestamp", kept("creationTimestamp"));
    if meta(&object, "uid").is_empty() {
        set_meta(&mut object, "uid", kept("uid"));
    }
    if is_deleting(live) {
        set_meta(&mut object, "deletionTimestamp", kept("deletionTimestamp"));
        if at(&object, &["metadata", "deletionGracePeriodSeconds"]).is_null() {
            set_meta(
                &mut object,
                "deletionGracePeriodSeconds",
                kept("deletionGracePeriodSeconds"),
            );
        }
    }
    object
}

/// Refuses an invalid object.
fn check(kind: &Kind, object: &Json, live: &Json, options: &Options) -> Result<(), Refusal> {
    let of_metadata = metadata_errors(kind, object);
    let of_kind = kind.validate_update(object, live, options.subresource, &of_metadata)?;
    let mut errors = kind_errors(kind, object);
    errors.extend(of_metadata);
    if meta(object, "uid") != meta(live, "uid") {
        errors.push(FieldError::invalid(
            "metadata.uid",
            meta(object, "uid"),
            "field is immutable",
        ));
    }
    if !is_deleting(live) {
        for key in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
            let value = at(object, &["metadata", key]);
            if !value.is_null() {
                errors.push(FieldError::invalid(
                    format!("metadata.{key}"),
                    value.clone(),
                    "field is immutable",
                ));
            }
        }
    } else {
        let known: Vec<&str> = finalizers(live).collect();
        let added: Vec<&str> = finalizers(object).filter(|name| !known.contains(name)).collect();
        if !added.is_empty() {
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers {}",
                crate::values::go_strings(&added)
            );
            errors.push(FieldError::forbidden("metadata.finalizers", why));
        }
    }
    errors.extend(of_kind);
    Refusal::unless_valid(read::about(kind, object), &errors)
}

/// Stores the object if it has changed; removes it if it is marked for deletion and has no reason to stay. `live` is
/// the former object in its served and in its stored form.
fn store(
    state: &mut State,
    kind: &Kind,
    key: &Key,
    mut object: Json,
    live: (&Json, &Arc<Json>),
    options: &Options,
) -> Result<Arc<Json>, Refusal> {
    let (live, stored) = live;
    managed::keep_times(live, &mut object);
    let grace = at(&object, &["metadata", "deletionGracePeriodSeconds"])
        .as_i64()
        .unwrap_or(0);
    let ends = is_deleting(live) && grace == 0 && !waits(&object);
    let is_same = object == *live;
    let object = kind.to_stored(object)?;
    // A conversion may have lost data of the stored object.
    let is_same = if kind.is_custom() {
        object == **stored
    } else {
        is_same
    };
    if ends && !options.dry_run {
        // Watches get the state that was stored last.
        state.store.remove(&kind.id, key);
        crate::hooks::after_delete(state, kind, stored);
        return Ok(Arc::new(object));
    }
    if ends || options.dry_run {
        return Ok(Arc::new(object));
    }
    if is_same {
        return Ok(Arc::clone(stored));
    }
    let stored = state.store.put(&kind.id, small_enough(object)?);
    crate::hooks::after_write(state, kind, &stored);
    Ok(stored)
}
