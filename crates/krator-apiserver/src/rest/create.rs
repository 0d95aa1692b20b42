//! Creates objects.

use super::{
    Options, Written, decode, finalizer_warnings, metadata_errors,
    read::{self, expect_version, kind_errors},
    settle_namespace, small_enough,
};
use crate::{
    admission::{self, Operation},
    kinds::Kind,
    managed,
    object::{meta, set_meta},
    refusal::{FieldError, Refusal},
    state::{State, clear, generated_name, stamp},
    store::Key,
};
use serde_json::Value as Json;
use std::sync::Arc;

/// The number of attempts to generate a unique name.
const NAMES: usize = 8;

/// Creates an object from the body of a request.
///
/// # Errors
///
/// If the object is invalid, or an object with its name exists.
pub(crate) fn create(
    state: &mut State,
    kind: &Kind,
    namespace: &str,
    body: (Json, Vec<String>),
    options: &Options,
) -> Result<Written, Refusal> {
    let mut object = decode(&mut state.session, kind, body.0, body.1, options.unknown)?;
    expect_version(kind, &object)?;
    settle_namespace(kind, &mut object, namespace)?;
    clear(&mut object);
    kind.default(&mut object);
    let by = options.manager(kind);
    let object = managed::update(
        None,
        object,
        &kind.types,
        &by,
        &state.world.time(),
        &kind.ignored(options.subresource),
    );
    let object = insert(state, kind, object, options)?;
    Ok(Written {
        object,
        created: true,
    })
}

/// Generates a name for an object, which is the same in every attempt of its request unless an object with this name
/// exists.
fn generate_name(state: &mut State, kind: &Kind, object: &mut Json) {
    let known = state.session.name.take();
    let mut names = known
        .into_iter()
        .chain(std::iter::repeat_with(|| generated_name(object, &state.world)));
    let key = |name: &str| Key::new(meta(object, "namespace"), name);
    let mut name = names.next().unwrap_or_default();
    for other in names.take(NAMES) {
        if state.store.get(&kind.id, &key(&name)).is_none() {
            break;
        }
        name = other;
    }
    state.session.name = Some(name.clone());
    set_meta(object, "name", name.into());
}

/// Completes, validates and stores a new object, whose managed fields are set.
pub(super) fn insert(
    state: &mut State,
    kind: &Kind,
    object: Json,
    options: &Options,
) -> Result<Arc<Json>, Refusal> {
    if kind.namespaced {
        state.check_namespace(meta(&object, "namespace"), kind.about(meta(&object, "name")))?;
    }
    let about = options.attributes(kind, Operation::Create, Key::of(&object));
    let mut object = admission::mutate(state, &about, object, None)?;
    if meta(&object, "name").is_empty() && !meta(&object, "generateName").is_empty() {
        generate_name(state, kind, &mut object);
    }
    stamp(&mut object, &state.world);
    set_meta(&mut object, "uid", state.session.uid(&state.world).into());
    crate::hooks::before_create(state, kind, &mut object)?;
    kind.prepare_create(&mut object, &state.world.time());
    let of_metadata = metadata_errors(kind, &object);
    let of_kind = kind.validate_create(&object, &of_metadata)?;
    let errors = kind_errors(kind, &object).into_iter().chain(of_metadata);
    let errors: Vec<FieldError> = errors.chain(of_kind).collect();
    Refusal::unless_valid(read::about(kind, &object), &errors)?;
    for warning in finalizer_warnings(kind, &object, None) {
        state.session.warn(warning);
    }
    let key = Key::of(&object);
    let about = options.attributes(kind, Operation::Create, key.clone());
    admission::validate(state, &about, Some(&object), None)?;
    // An invalid version counts as none.
    let version = meta(&object, "resourceVersion").parse::<u64>().unwrap_or(0);
    if version > 0 && !options.dry_run {
        let why = "resourceVersion should not be set on objects to be created";
        return Err(Refusal::failed(why));
    }
    set_meta(&mut object, "resourceVersion", Json::Null);
    let object = kind.to_stored(object)?;
    if state.store.get(&kind.id, &key).is_some() {
        let refusal = Refusal::already_exists(kind.about(&key.name));
        return Err(match meta(&object, "generateName") {
            "" => refusal,
            _ => refusal.for_want_of_a_name(),
        });
    }
    if options.dry_run {
        return Ok(Arc::new(object));
    }
    let stored = state.store.put(&kind.id, small_enough(object)?);
    crate::hooks::after_write(state, kind, &stored);
    Ok(stored)
}
