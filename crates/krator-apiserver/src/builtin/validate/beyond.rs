//! What the API server checks in objects and this server does not: objects that use it are refused rather than accepted
//! without the checks.

use super::others::PERSISTENT_SOURCES;
use super::volumes::SOURCES;
use crate::builtin::json::{get, list, text};
use serde_json::Value as Json;

/// What an object uses that is not checked here, as the subject of a sentence.
pub(in super::super) fn beyond(type_name: &str, object: &Json) -> Option<String> {
    match type_name {
        "core/v1.Pod" => pod_spec(&object["spec"]),
        "core/v1.PodTemplate" => pod_spec(&object["template"]["spec"]),
        "core/v1.PersistentVolume" => {
            const CHECKED: [&str; 2] = ["hostPath", "nfs"];
            let source = PERSISTENT_SOURCES
                .iter()
                .find(|source| get(&object["spec"], source).is_some())?;
            (!CHECKED.contains(source)).then(|| format!("Persistent volumes of the kind {source}"))
        }
        "batch/v1.CronJob" => cron_job(object),
        "batch/v1.Job" => indexes(&object["spec"]).or_else(|| pod_spec(&object["spec"]["template"]["spec"])),
        _ if get(object, "spec.template.spec").is_some() => pod_spec(&object["spec"]["template"]["spec"]),
        _ => None,
    }
}

fn cron_job(object: &Json) -> Option<String> {
    let zone = text(object, "spec.timeZone");
    if !matches!(zone, "" | "UTC" | "Etc/UTC" | "GMT") {
        return Some(format!("Time zones of CronJobs other than UTC (here {zone})"));
    }
    let spec = &object["spec"]["jobTemplate"]["spec"];
    indexes(spec).or_else(|| pod_spec(&spec["template"]["spec"]))
}

fn indexes(spec: &Json) -> Option<String> {
    let rules = list(spec, "successPolicy.rules");
    let uses = rules.iter().any(|rule| get(rule, "succeededIndexes").is_some());
    uses.then(|| "Success policies of Jobs with succeededIndexes".to_owned())
}

fn pod_spec(spec: &Json) -> Option<String> {
    const FIELDS: [(&str, &str); 5] = [
        ("resourceClaims", "Resource claims of pods"),
        ("resources", "Resources of whole pods"),
        ("overhead", "Overheads of pods"),
        ("hostnameOverride", "Overridden host names of pods"),
        ("schedulingGroup", "Scheduling groups of pods"),
    ];
    for (field, what) in FIELDS {
        if get(spec, field).is_some() {
            return Some(what.to_owned());
        }
    }
    if text(spec, "os.name") == "windows" {
        return Some("Pods for Windows".to_owned());
    }
    let context = &spec["securityContext"];
    if !list(context, "sysctls").is_empty() {
        return Some("Sysctls of pods".to_owned());
    }
    if let Some(what) = security_context(context) {
        return Some(what);
    }
    let containers = ["containers", "initContainers"]
        .into_iter()
        .flat_map(|field| list(spec, field));
    containers
        .filter_map(container)
        .next()
        .or_else(|| list(spec, "volumes").iter().find_map(volume))
}

fn security_context(context: &Json) -> Option<String> {
    const FIELDS: [(&str, &str); 3] = [
        ("windowsOptions", "Options of containers for Windows"),
        ("appArmorProfile", "AppArmor profiles of containers"),
        ("procMount", "Kinds of /proc of containers"),
    ];
    let found = FIELDS.iter().find(|(field, _)| get(context, field).is_some());
    found.map(|(_, what)| (*what).to_owned())
}

fn container(container: &Json) -> Option<String> {
    if !list(container, "resources.claims").is_empty() {
        return Some("Resource claims of containers".to_owned());
    }
    if get(container, "restartPolicyRules").is_some() {
        return Some("Restart rules of containers".to_owned());
    }
    if get(container, "lifecycle.stopSignal").is_some() {
        return Some("Stop signals of containers".to_owned());
    }
    if list(container, "env")
        .iter()
        .any(|variable| get(variable, "valueFrom.fileKeyRef").is_some())
    {
        return Some("Environment variables from files".to_owned());
    }
    let mounts = list(container, "volumeMounts");
    if mounts
        .iter()
        .any(|mount| get(mount, "recursiveReadOnly").is_some())
    {
        return Some("Mounts that are read-only at all depths".to_owned());
    }
    security_context(&container["securityContext"])
}

fn volume(volume: &Json) -> Option<String> {
    let source = volume
        .as_object()?
        .keys()
        .find(|key| *key != "name" && !SOURCES.contains(&key.as_str()));
    if let Some(source) = source {
        return Some(format!("Volumes of the kind {source}"));
    }
    let sources = list(volume, "projected.sources")
        .iter()
        .filter_map(Json::as_object);
    let source = sources
        .flat_map(serde_json::Map::keys)
        .find(|source| matches!(source.as_str(), "clusterTrustBundle" | "podCertificate"));
    source.map(|source| format!("Projected volumes with {source}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_checked_is_named() {
        for (type_name, object, expected) in [
            (
                "core/v1.Pod",
                json!({"spec": {"containers": [{"name": "a"}]}}),
                None,
            ),
            (
                "core/v1.Pod",
                json!({"spec": {"volumes": [{"name": "a", "emptyDir": {}}]}}),
                None,
            ),
            (
                "core/v1.Pod",
                json!({"spec": {"volumes": [{"name": "a", "rbd": {}}]}}),
                Some("Volumes of the kind rbd"),
            ),
            (
                "apps/v1.Deployment",
                json!({"spec": {"template": {"spec": {"overhead": {"cpu": "1"}}}}}),
                Some("Overheads of pods"),
            ),
            (
                "core/v1.PersistentVolume",
                json!({"spec": {"csi": {}}}),
                Some("Persistent volumes of the kind csi"),
            ),
            (
                "batch/v1.CronJob",
                json!({"spec": {"timeZone": "Asia/Tokyo"}}),
                Some("Time zones of CronJobs other than UTC (here Asia/Tokyo)"),
            ),
            ("core/v1.ConfigMap", json!({}), None),
        ] {
            assert_eq!(beyond(type_name, &object).as_deref(), expected);
        }
    }
}
