//! Applies a child, but never an object that belongs to another owner, even if it was created a moment ago.
use super::{Children, emptied, former::Managers};
use crate::{
    applied::ChildKey,
    cluster::{api::patch, related::watches::drop_managed_fields},
    error::Result,
    machine::Event,
    resource::{Child, FORMER_MANAGERS, Owner, Place, group_of, may_apply, version, version_in},
};
use k8s_openapi::{
    api::core::v1::ObjectReference,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::{
    Api, ResourceExt as _,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};
use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

/// The number of immediate retries after conflicts. Further retries are left to the backoff of the handler.
const PROMPT_RETRIES: u32 = 5;
/// The version with which a child is applied that should not exist yet. No object ever has it, because revision 1 is
/// that of an empty store, and the API server compares it only with the version of an object that exists: it creates
/// the child, or it answers with a conflict.
const NONE_YET: u64 = 1;

/// The facts about a stored child that an apply needs.
struct Present {
    version: u64,
    owner: Option<OwnerReference>,
    /// The patch that takes over the fields of former managers.
    take_over: Option<Value>,
    /// Whether the child is handed over without naming its former managers.
    lacks_former: bool,
}

impl Present {
    fn of(meta: &ObjectMeta, owner: &Owner, managers: &Managers<'_>) -> Self {
        Self {
            version: version_in(meta),
            owner: owner.of(meta),
            take_over: managers.take_over(meta),
            lacks_former: managers.lacks_former(meta),
        }
    }
}

impl<K: Child> Children<K> {
    /// Applies a child. Each request has the version of the child whose owner was checked, so a child with
    /// another owner leads to a conflict.
    pub(super) async fn send(&self, namespace: String, name: String, mut body: Value) -> Result<Arc<K>> {
        let owner = &self.owner;
        // Each owner has its own field manager, so that two owners cannot take a child from each other.
        let manager = format!("{}-{}", self.operator, owner.reference.uid);
        let (group, _) = group_of(owner.label);
        let managers = Managers {
            present: &manager,
            uid: &owner.reference.uid,
            annotation: &format!("{group}/{FORMER_MANAGERS}"),
        };
        let key: ChildKey = (self.kind, namespace.clone(), name.clone());
        let hash = hash(&body);
        let (known, last) = (
            self.cache.known(&namespace, &name, owner),
            self.applied.last(&key),
        );
        let api: Api<K> = <K::Scope as Place>::api(self.client.clone(), &namespace);
        let mut seen = None;
        if let (Some(known), Some(last)) = (&known, &last)
            && last.hash == hash
            && !known.is_handed_over
        {
            if last.version == known.version
                && let Ok(same) = self.cache.packer.unpack(&last.answer)
            {
                return Ok(Arc::new(same));
            }
            // Most changes of a child are of its status. Reading it costs the API server far less than an apply that changes
            // nothing: that is merged, judged by policies and compared.
            match api.get_opt(&name).await? {
                Some(stored) if has(&serde_json::to_value(&stored)?, &body) => {
                    return self.record(key, hash, stored, false);
                }
                stored => seen = Some(stored.map(|stored| Present::of(stored.meta(), owner, &managers))),
            }
        }
        let mut there = match (seen, known, &last) {
            (Some(seen), ..) => seen,
            // If the cache lacks an existing child, the apply that would create it leads to a conflict.
            (None, None, None) => None,
            // The cache may be older than the last apply.
            (None, Some(known), last)
                if !known.is_handed_over
                    && may_apply::<K>(&name, known.owner.as_ref(), &owner.reference).is_ok() =>
            {
                let applied = last.as_ref().map_or(0, |last| last.version);
                Some(Present {
                    version: known.version.max(applied),
                    owner: known.owner,
                    take_over: None,
                    lacks_former: false,
                })
            }
            _ => read(&api, &name, owner, &managers).await?,
        };
        let params = PatchParams::apply(&manager).force();
        let (mut retries, mut emptied, mut lacks_former) = (0, false, false);
        let stored = loop {
            if let Some(now) = &there {
                may_apply::<K>(&name, now.owner.as_ref(), &owner.reference)?;
                lacks_former |= now.lacks_former;
                // Another client may apply the fields repeatedly, so the number of attempts is limited.
                if let Some(patch) = now.take_over.as_ref().filter(|_| retries < PROMPT_RETRIES) {
                    retries += 1;
                    match api
                        .patch_metadata(&name, &patch::params(&manager), &Patch::Merge(patch))
                        .await
                    {
                        Ok(_) => {}
                        Err(kube::Error::Api(status)) if status.code == 409 => {}
                        Err(error) => return Err(error.into()),
                    }
                    there = read(&api, &name, owner, &managers).await?;
                    continue;
                }
            }
            let expected = there.as_ref().map_or(NONE_YET, |there| there.version);
            body["metadata"]["resourceVersion"] = json!(expected.to_string());
            match api.patch(&name, &params, &patch::apply(&body)?).await {
                Ok(stored) => {
                    let now = Present::of(stored.meta(), owner, &managers);
                    if now.take_over.is_none() || retries == PROMPT_RETRIES {
                        break stored;
                    }
                    there = Some(now);
                }
                Err(kube::Error::Api(status)) if status.code == 409 && retries < PROMPT_RETRIES => {
                    retries += 1;
                    there = read(&api, &name, owner, &managers).await?;
                }
                Err(kube::Error::Api(refused)) if refused.code == 422 && !emptied => {
                    emptied = true;
                    let meta = api.get_metadata_opt(&name).await?;
                    let meta = meta.map(|object| object.metadata).unwrap_or_default();
                    let Some(mut patch) = emptied::patch(&meta, &manager, &body) else {
                        return Err(kube::Error::Api(refused).into());
                    };
                    // Without the version, the patch could remove keys of a new object with this name.
                    patch["metadata"]["resourceVersion"] = json!(expected.to_string());
                    let params = patch::params(&manager);
                    match api.patch_metadata(&name, &params, &Patch::Merge(&patch)).await {
                        Ok(_) => {}
                        Err(kube::Error::Api(status)) if status.code == 409 => {}
                        Err(error) => return Err(error.into()),
                    }
                    there = read(&api, &name, owner, &managers).await?;
                }
                Err(error) => return Err(error.into()),
            }
        };
        if lacks_former {
            self.report_others(&stored, &managers);
        }
        // The same was applied before, and it made a difference now: somebody else had changed the child.
        let corrected = last.is_some_and(|last| last.hash == hash)
            && there.is_none_or(|before| before.version != version(&stored));
        self.record(key, hash, stored, corrected)
    }

    /// Reports the fields of a handed-over child that still belong to other managers.
    fn report_others(&self, child: &K, managers: &Managers<'_>) {
        let (Some(report), Some((others, fields))) = (&self.report, managers.others(child.meta())) else {
            return;
        };
        let (owner, kind, name) = (&self.owner.reference, K::kind(&()), child.name_any());
        let namespace = Some(self.namespace.clone()).filter(|namespace| !namespace.is_empty());
        let about = ObjectReference {
            api_version: Some(owner.api_version.clone()),
            kind: Some(owner.kind.clone()),
            name: Some(owner.name.clone()),
            uid: Some(owner.uid.clone()),
            namespace,
            ..ObjectReference::default()
        };
        let note = format!(
            "{kind} `{name}` has fields of former managers that no handler applies. To take them over, set the annotation {}={others}. {fields}",
            managers.annotation
        );
        report(about, Event::warning("FieldsOfOthers", note));
    }

    /// Records the answer to an apply.
    fn record(&self, key: ChildKey, hash: u64, mut stored: K, corrected: bool) -> Result<Arc<K>> {
        drop_managed_fields(&mut stored);
        let answer = self.cache.packer.pack(&stored, true)?;
        self.applied
            .record(key, hash, version(&stored), answer, corrected);
        Ok(Arc::new(stored))
    }
}

/// Whether a stored value contains all that is applied, so that an apply would change nothing. Lists must be
/// equal in length, because only their schema says whether an apply merges or replaces them.
fn has(stored: &Value, applied: &Value) -> bool {
    match (stored, applied) {
        (Value::Object(stored), Value::Object(applied)) => applied
            .iter()
            .all(|(key, applied)| stored.get(key).is_some_and(|stored| has(stored, applied))),
        (Value::Array(stored), Value::Array(applied)) => {
            stored.len() == applied.len()
                && stored
                    .iter()
                    .zip(applied)
                    .all(|(stored, applied)| has(stored, applied))
        }
        (stored, applied) => stored == applied,
    }
}

/// Reads the stored child for an apply.
async fn read<K: Child>(
    api: &Api<K>,
    name: &str,
    owner: &Owner,
    managers: &Managers<'_>,
) -> Result<Option<Present>> {
    let stored = api.get_metadata_opt(name).await?;
    Ok(stored.map(|stored| Present::of(&stored.metadata, owner, managers)))
}

fn hash(body: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.to_string().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::related::watches::KindCache;
    use crate::{error::Class, resource::ChildDeletion};
    use http::{Method, Request, Response, StatusCode};
    use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::OwnerReference};
    use kube::{Client, client::Body};
    use std::{convert::Infallible, sync::Mutex};

    /// The version of a ConfigMap, and the name and the uid of its controller.
    type Stored = (u64, &'static str, &'static str);

    /// An API server with a single ConfigMap, which somebody else may change in between two requests.
    #[derive(Default)]
    struct Server {
        stored: Mutex<Option<Stored>>,
        /// The changes by other clients before each apply, the last element first.
        others: Mutex<Vec<Option<Stored>>>,
        /// The versions with which it was applied.
        applied: Mutex<Vec<String>>,
    }

    fn owner(name: &str, uid: &str) -> OwnerReference {
        OwnerReference {
            api_version: "example.com/v1".to_owned(),
            kind: "Owner".to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            controller: Some(true),
            block_owner_deletion: None,
        }
    }

    impl Server {
        async fn answer(&self, request: Request<Body>) -> (StatusCode, Value) {
            let failure = |code: StatusCode, reason: &str| {
                let status = json!({
                    "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "",
                    "reason": reason, "code": code.as_u16(),
                });
                (code, status)
            };
            let is_write = request.method() == Method::PATCH;
            let body = request.into_body().collect_bytes().await.expect("a body");
            if is_write && let Some(others) = self.others.lock().expect("a lock").pop() {
                *self.stored.lock().expect("a lock") = others;
            }
            let mut stored = self.stored.lock().expect("a lock");
            if is_write {
                let body: Value = serde_json::from_slice(&body).expect("JSON");
                let expected = body["metadata"]["resourceVersion"].as_str().expect("a version");
                self.applied.lock().expect("a lock").push(expected.to_owned());
                if stored
                    .as_ref()
                    .is_some_and(|(version, ..)| version.to_string() != expected)
                {
                    return failure(StatusCode::CONFLICT, "Conflict");
                }
                *stored = Some((99, "me", "1"));
            }
            match &*stored {
                None => failure(StatusCode::NOT_FOUND, "NotFound"),
                Some((version, name, uid)) => (
                    StatusCode::OK,
                    json!({
                        "apiVersion": "v1", "kind": "ConfigMap",
                        "metadata": {
                            "name": "one", "resourceVersion": version.to_string(),
                            "ownerReferences": [owner(name, uid)],
                        },
                    }),
                ),
            }
        }
    }

    /// The ConfigMaps of the object `me` with the uid 1.
    fn children(server: &Arc<Server>, cache: KindCache<ConfigMap>) -> Children<ConfigMap> {
        let serving = Arc::clone(server);
        let client = Client::new(
            tower::service_fn(move |request: Request<Body>| {
                let server = Arc::clone(&serving);
                async move {
                    let (code, body) = server.answer(request).await;
                    let answer = Response::builder().status(code);
                    let body = Body::from(body.to_string().into_bytes());
                    Ok::<_, Infallible>(answer.body(body).expect("an answer"))
                }
            }),
            "default",
        );
        let me = Owner {
            reference: owner("me", "1"),
            label: "example.com/owners",
        };
        Children {
            client,
            cache: Arc::new(cache),
            kind: "core/v1.ConfigMap",
            applied: Arc::default(),
            operator: "manager",
            namespace: "default".to_owned(),
            owner: me,
            deletion: ChildDeletion::Owner,
            report: None,
            _busy: None,
        }
    }

    async fn send(children: &Children<ConfigMap>, mut body: Value) -> Result<Arc<ConfigMap>> {
        body["metadata"]["name"] = json!("one");
        children.send("default".to_owned(), "one".to_owned(), body).await
    }

    /// Applies the ConfigMap. Returns the versions that were sent, and the error.
    async fn apply(others: &[Option<Stored>]) -> (Vec<String>, Option<Class>) {
        let server = Arc::new(Server::default());
        server
            .others
            .lock()
            .expect("a lock")
            .extend(others.iter().rev().copied());
        let cache = KindCache::new(tokio::sync::watch::channel(false).0);
        let done = send(&children(&server, cache), json!({})).await;
        let applied = server.applied.lock().expect("a lock").clone();
        (applied, done.err().map(|error| error.class()))
    }

    #[tokio::test]
    async fn what_would_change_nothing_is_not_applied_again() {
        let server = Arc::new(Server::default());
        let created = children(&server, KindCache::new(tokio::sync::watch::channel(false).0));
        send(&created, json!({})).await.expect("it is created");
        // Its status has changed since the last apply.
        *server.stored.lock().expect("a lock") = Some((100, "me", "1"));
        let meta = json!({"name": "one", "namespace": "default", "resourceVersion": "100"});
        let known = serde_json::from_value(json!({"metadata": meta})).expect("a ConfigMap");
        let changed = Children {
            applied: Arc::clone(&created.applied),
            ..children(
                &server,
                KindCache::of(vec![Arc::new(known)], "example.com/owners", "manager"),
            )
        };
        let sent = || server.applied.lock().expect("a lock").len();
        let stored = send(&changed, json!({})).await.expect("it is read");
        assert_eq!((version(&*stored), sent()), (100, 1));
        // What was read is known from then on.
        *server.stored.lock().expect("a lock") = None;
        let stored = send(&changed, json!({})).await.expect("it is known");
        assert_eq!((version(&*stored), sent()), (100, 1));
        let wanted = json!({"data": {"key": "value"}});
        send(&changed, wanted.clone()).await.expect("something else");
        *server.stored.lock().expect("a lock") = Some((100, "me", "1"));
        send(&changed, wanted).await.expect("somebody has removed it");
        assert_eq!(sent(), 3);
    }

    #[test]
    fn a_child_has_what_is_applied_if_that_is_a_part_of_it() {
        let stored = json!({"replicas": 1, "labels": {"a": "b", "c": "d"}, "ports": [{"port": 80, "protocol": "TCP"}]});
        for (applied, expected) in [
            (json!({}), true),
            (json!({"replicas": 1, "labels": {"c": "d"}}), true),
            (json!({"ports": [{"port": 80}]}), true),
            (json!({"replicas": 2}), false),
            (json!({"paused": true}), false),
            (json!({"labels": null}), false),
            (json!({"ports": []}), false),
            (json!({"ports": [{"port": 80}, {"port": 81}]}), false),
            (json!({"ports": [{"port": 81}]}), false),
        ] {
            assert_eq!(has(&stored, &applied), expected, "{applied}");
        }
    }

    #[tokio::test]
    async fn a_conflict_is_followed_by_another_look_at_the_owner() {
        let sent = |versions: &[&str]| versions.iter().map(|&v| v.to_owned()).collect::<Vec<_>>();
        assert_eq!(apply(&[]).await, (sent(&["1"]), None), "it is created");
        let mine = |version| Some((version, "me", "1"));
        assert_eq!(
            apply(&[mine(7), None, mine(8)]).await,
            (sent(&["1", "7"]), None),
            "the child was gone again, and an apply creates it"
        );
        assert_eq!(
            apply(&[mine(7), mine(8), mine(8)]).await,
            (sent(&["1", "7", "8"]), None),
            "it is applied with the new version"
        );
        let all: Vec<_> = (7..99).map(mine).collect();
        assert_eq!(
            apply(&all).await,
            (sent(&["1", "7", "8", "9", "10", "11"]), Some(Class::Transient)),
            "after five retries it is an error"
        );
        assert_eq!(
            apply(&[Some((7, "other", "2"))]).await,
            (sent(&["1"]), Some(Class::Permanent)),
            "somebody else was faster, and is left alone"
        );
        assert_eq!(
            apply(&[Some((7, "me", "2"))]).await,
            (sent(&["1"]), Some(Class::Blocked)),
            "the child of a former object will be collected"
        );
    }
}
