//! The mark of an API server that `krator dev` runs in memory: a ConfigMap, which any client can read. It names the
//! process of the server and disappears with it, so it is always true.

use serde_json::{Value as Json, json};

use super::{Lookup, text};

const NAMESPACE: &str = "kube-system";
const NAME: &str = "krator-dev";

/// The mark by which an API server of `krator dev` identifies itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Development {
    /// The process of `krator dev`.
    pub process: String,
    /// Whether it runs the operator at the moment.
    pub acts: bool,
}

impl Development {
    /// The path of the mark.
    pub(crate) fn path() -> String {
        format!("/api/v1/namespaces/{NAMESPACE}/configmaps/{NAME}")
    }

    /// Reads the mark; `None` for any other API server.
    pub(crate) fn of(found: &Lookup) -> Option<Self> {
        let mark = found.object()?;
        Some(Development {
            process: text(mark, "/data/process").to_owned(),
            acts: text(mark, "/data/operator") == "acts",
        })
    }

    /// The mark.
    pub(crate) fn mark(&self) -> Json {
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "data": {"process": self.process, "operator": if self.acts { "acts" } else { "waits" }},
        })
    }

    /// The process that runs the operator or should run it.
    pub(crate) fn actor(&self) -> String {
        format!("`krator dev` (process {})", self.process)
    }
}
