//! The CustomResourceDefinitions: whether they are installed, equal those of the description, and can be converted.

use serde_json::Value as Json;

use super::difference::{differences, in_words};
use super::webhooks::unanswered;
use super::{Facts, Fault, Outcome, Site};
use crate::crd;
use crate::model::{Description, Kind};
use crate::observed::{Lookup, items, text};

const MANIFEST: &str = "deploy/crd.yaml";

/// Whether the definition of a kind is installed and equals the one that the description generates.
pub(super) fn installed(
    description: &Description,
    kind: &Kind,
    site: &Site,
    found: &Lookup,
    is_development: bool,
) -> Outcome {
    let generated = |description: &Description, kind: &Kind| {
        let mut generated = crd::specification(description, kind);
        // `krator dev` sets the address of its operator instead of a Service.
        if is_development && let Some(conversion) = generated.get_mut("conversion") {
            *conversion = found
                .object()
                .map_or(Json::Null, |found| found["spec"]["conversion"].clone());
        }
        if let Some(service) = generated.pointer_mut("/conversion/webhook/clientConfig/service") {
            service["namespace"] = site.namespace.as_str().into();
        }
        generated
    };
    let stored = match found {
        Lookup::There(stored) => stored,
        Lookup::Unknown(why) => return Outcome::unreadable("the CustomResourceDefinition", why),
        Lookup::Absent => {
            let what = format!("{} is not installed", kind.resource.definition());
            return Outcome::Failed(vec![Fault::run(what, site.apply(MANIFEST))]);
        }
    };
    let mut faults = Vec::new();
    let new = differences(&generated(description, kind), &stored["spec"]);
    if !new.is_empty() {
        let is_former = site.former.as_ref().is_some_and(|former| {
            let mut kinds = former.kinds.iter();
            let same = kinds.find(|it| it.resource.definition() == kind.resource.definition());
            same.is_some_and(|kind| differences(&generated(former, kind), &stored["spec"]).is_empty())
        });
        faults.push(Fault::run(in_words(&new, is_former), site.apply(MANIFEST)));
    }
    let is_served =
        crate::observed::condition(stored, "Established").is_some_and(|it| it["status"] == "True");
    if !is_served {
        let conditions = items(stored, "/status/conditions").iter();
        let why = conditions
            .filter(|condition| condition["status"] == "False")
            .map(|condition| text(condition, "/message"));
        let why: Vec<&str> = why.collect();
        faults.push(Fault::run(
            format!("the API server does not serve it: {}", why.join("; ")),
            format!("kubectl describe crd {}", kind.resource.definition()),
        ));
    }
    Outcome::of(faults)
}

/// Whether all objects are stored in versions that the definition has and serves.
pub(super) fn stored_versions(name: &str, stored: &Json) -> Outcome {
    let versions = items(stored, "/spec/versions");
    let stored = items(stored, "/status/storedVersions")
        .iter()
        .filter_map(Json::as_str);
    let faults = stored.filter_map(|version| {
        let known = versions.iter().find(|known| known["name"] == version);
        let trouble = match known {
            None => "which the definition no longer has",
            Some(known) if known["served"] == false => "which is not served",
            Some(_) => return None,
        };
        let what = format!(
            "objects of {name} may be stored in {version}, {trouble}: it is in status.storedVersions of the definition"
        );
        Some(Fault::run(what, "krator migrate"))
    });
    Outcome::of(faults.collect())
}

/// Whether a webhook converts the objects.
pub(super) fn conversion(site: &Site, stored: &Json, facts: &Facts) -> Outcome {
    let config = &stored["spec"]["conversion"]["webhook"]["clientConfig"];
    let who = "the API server converts objects with a webhook, and requests in another version fail:";
    let faults = unanswered(site, config, facts).into_iter();
    Outcome::of(
        faults
            .map(|fault| Fault {
                what: format!("{who} {}", fault.what),
                ..fault
            })
            .collect(),
    )
}
