//! The requests of operators, read from the audit log of the API server.

use super::{Cluster, NAMESPACE_PREFIX};
use k8s_openapi::jiff::Timestamp;
use serde_json::Value;
use std::fs;

/// An answered request of the user `operator`.
#[derive(Debug)]
pub struct Request {
    /// Identical in all log lines of a request: a watch has a line for its start and one for its end.
    pub id: String,
    /// get, list, watch, create, patch, …
    pub verb: String,
    /// The path, with its query.
    pub uri: String,
    /// None for cluster-scoped objects.
    pub namespace: Option<String>,
    pub group: String,
    /// With its subresource, if any.
    pub resource: String,
    /// Empty for a list and for a creation.
    pub name: String,
    /// The time at which the server received it.
    pub received: Timestamp,
    /// The HTTP status of the answer.
    pub code: u64,
}

impl Request {
    /// Reads a line of the log; `None` for requests of other users, which the audit policy of a real server leaves out.
    fn read(line: &str) -> Option<Request> {
        let event: Value = serde_json::from_str(line).expect("the audit log is JSON lines");
        if event["user"]["username"] != "operator" {
            return None;
        }
        let text = |pointer| event.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        Some(Request {
            id: text("/auditID").unwrap_or_default(),
            verb: text("/verb").unwrap_or_default(),
            uri: text("/requestURI").unwrap_or_default(),
            namespace: text("/objectRef/namespace"),
            group: text("/objectRef/apiGroup").unwrap_or_default(),
            resource: [text("/objectRef/resource"), text("/objectRef/subresource")]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("/"),
            name: text("/objectRef/name").unwrap_or_default(),
            received: text("/requestReceivedTimestamp")
                .and_then(|time| time.parse().ok())
                .expect("each line has a time"),
            code: event
                .pointer("/responseStatus/code")
                .and_then(Value::as_u64)
                .unwrap_or_default(),
        })
    }

    /// Whether the verb of the request can change objects.
    pub fn is_write(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb.as_str())
    }
}

impl Cluster {
    /// All requests so far, apart from those that concern the namespaces of other tests.
    pub fn requests(&self, namespace: &str) -> Vec<Request> {
        let elsewhere = |other: &str| other != namespace && other.starts_with(NAMESPACE_PREFIX);
        let concerns = |request: &Request| !request.namespace.as_deref().is_some_and(elsewhere);
        self.requests_everywhere().into_iter().filter(concerns).collect()
    }

    /// All requests so far, in all namespaces.
    pub fn requests_everywhere(&self) -> Vec<Request> {
        let log = fs::read_to_string(self.dir().join("audit.log")).expect("the server writes an audit log");
        // The last line may be incomplete.
        let whole = log.rfind('\n').map_or("", |end| &log[..end]);
        whole.lines().filter_map(Request::read).collect()
    }

    /// The requests of [`requests`](Cluster::requests) that are writes.
    pub fn writes(&self, namespace: &str) -> Vec<Request> {
        self.requests(namespace)
            .into_iter()
            .filter(Request::is_write)
            .collect()
    }
}

#[test]
fn the_audit_log_has_the_requests_of_the_operator_with_their_answers() {
    let Some(cluster) = super::shared() else { return };
    let namespace = cluster.namespace("audit");
    let create = ["create", "configmap", "mine", "--namespace", &namespace];
    cluster
        .try_kubectl("operator", &create, "")
        .expect_err("nothing was granted");
    cluster.kubectl(&[
        "create",
        "configmap",
        "not-the-operators",
        "--namespace",
        &namespace,
    ]);

    // A request is logged after its response, so kubectl may have ended before.
    let writes = super::until("the request is logged", || {
        let writes: Vec<Request> = cluster
            .writes(&namespace)
            .into_iter()
            .filter(|r| r.namespace.is_some())
            .collect();
        (!writes.is_empty()).then_some(writes)
    });
    let [write] = writes.as_slice() else {
        panic!("one write by the operator: {writes:?}")
    };
    assert_eq!((write.verb.as_str(), write.code), ("create", 403));
    assert!(write.uri.contains("/configmaps"), "{write:?}");
}
