//! The webhooks: whether the operator responds to the calls of the API server.

use serde_json::Value as Json;

use super::{Endpoints, Facts, Fault, Outcome, Site};
use crate::observed::{Lookup, items, text};

const MANIFEST: &str = "deploy/webhooks.yaml";

/// Whether the configurations exist, and their Services have pods.
pub(super) fn judge(site: &Site, facts: &Facts) -> Outcome {
    let mut faults: Vec<Fault> = Vec::new();
    for (kind, found) in &facts.configurations {
        let configuration = match found {
            Lookup::There(configuration) => configuration,
            Lookup::Unknown(why) => return Outcome::unreadable(&format!("the {kind}"), why),
            Lookup::Absent => {
                let what = format!(
                    "there is no {kind} `{}`, so the API server calls no webhook",
                    site.operator
                );
                faults.push(Fault::run(what, site.apply(MANIFEST)));
                continue;
            }
        };
        for webhook in items(configuration, "/webhooks") {
            let name = text(webhook, "/name");
            for fault in unanswered(site, &webhook["clientConfig"], facts) {
                let what = format!("the webhook {name} cannot be called: {}", fault.what);
                faults.push(Fault { what, ..fault });
            }
        }
    }
    Outcome::of(faults)
}

/// The faults that prevent a response at the place that a `clientConfig` names.
pub(super) fn unanswered(site: &Site, config: &Json, facts: &Facts) -> Vec<Fault> {
    let mut faults = Vec::new();
    let Some(service) = config.get("service") else {
        // A URL was set by the user, and there are no facts about it.
        return faults;
    };
    let key = (
        text(service, "/namespace").to_owned(),
        text(service, "/name").to_owned(),
    );
    let (namespace, name) = &key;
    if let Some(Endpoints { service, slices }) = facts.endpoints.get(&key) {
        if *service == Lookup::Absent {
            let what = format!("there is no Service `{name}` in the namespace `{namespace}`");
            faults.push(Fault::run(what, site.apply(MANIFEST)));
        } else if matches!(slices, Lookup::There(_) | Lookup::Absent)
            && !slices.objects().iter().any(has_ready)
        {
            let what = format!("the Service `{name}` in the namespace `{namespace}` has no ready pods");
            faults.push(Fault::run(what, format!("kubectl get pods -n {namespace}")));
        }
    }
    if text(config, "/caBundle").is_empty() {
        let what = "it has no caBundle; the leader of the operator, or cert-manager, writes it";
        faults.push(Fault::run(
            what,
            format!(
                "kubectl logs -n {0} deployment/{1}",
                site.namespace, site.operator
            ),
        ));
    }
    faults
}

/// Whether an EndpointSlice has an endpoint that is ready.
fn has_ready(slice: &Json) -> bool {
    let mut endpoints = items(slice, "/endpoints").iter();
    endpoints
        .any(|endpoint| endpoint["conditions"]["ready"] != false && !items(endpoint, "/addresses").is_empty())
}
