//! Converts objects to their `Scale`.

use crate::{
    kinds::{Kind, Origin},
    object::{at, meta},
};
use serde_json::{Value as Json, json};

pub(super) const VERSION: &str = "autoscaling/v1";

/// The steps of a path such as `.spec.replicas`.
pub(super) fn steps(path: &str) -> Vec<&str> {
    path.split('.').filter(|part| !part.is_empty()).collect()
}

/// The paths of the desired and the actual number of replicas.
pub(super) fn paths(kind: &Kind) -> [Vec<&str>; 2] {
    match &kind.origin {
        Origin::Builtin(_) => [vec!["spec", "replicas"], vec!["status", "replicas"]],
        Origin::Custom(custom, _) => match custom.scale() {
            Some(scale) => [
                steps(&scale.spec_replicas_path),
                steps(&scale.status_replicas_path),
            ],
            None => [Vec::new(), Vec::new()],
        },
    }
}

fn selector(kind: &Kind, object: &Json) -> String {
    match &kind.origin {
        Origin::Builtin(builtin) => builtin.selector_text(object),
        Origin::Custom(custom, _) => {
            let path = custom
                .scale()
                .and_then(|scale| scale.label_selector_path.as_deref());
            let text = path.map(|path| at(object, &steps(path)));
            text.and_then(Json::as_str).unwrap_or_default().to_owned()
        }
    }
}

/// The object as a `Scale`.
pub(super) fn scale_of(kind: &Kind, object: &Json) -> Json {
    let mut metadata = json!({"name": meta(object, "name")});
    for field in ["namespace", "uid", "resourceVersion", "creationTimestamp"] {
        let value = at(object, &["metadata", field]);
        if !value.is_null() {
            metadata[field] = value.clone();
        }
    }
    let [wanted, status] = paths(kind).map(|path| at(object, &path).as_i64().unwrap_or(0));
    let mut status = json!({"replicas": status});
    let selector = selector(kind, object);
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    let wanted = match wanted {
        0 => json!({}),
        wanted => json!({"replicas": wanted}),
    };
    json!({"kind": "Scale", "apiVersion": VERSION, "metadata": metadata, "spec": wanted, "status": status})
}
