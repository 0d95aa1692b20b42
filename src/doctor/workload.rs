//! The Deployment of an operator and its pods: whether they run, lead and are ready.

use serde_json::Value as Json;

use super::{Facts, Fault, Outcome, Probe, Site};
use crate::observed::lease::{self, Leader};
use crate::observed::{Lookup, condition, items, name, rounded, text};

/// Whether the Deployment exists and is available.
pub(super) fn deployment(site: &Site, facts: &Facts) -> Outcome {
    let Site {
        operator, namespace, ..
    } = site;
    let deployment = match &facts.deployment {
        Lookup::There(deployment) => deployment,
        Lookup::Unknown(why) => return Outcome::unreadable("the Deployment", why),
        Lookup::Absent => {
            return Outcome::Failed(vec![elsewhere(site, facts).unwrap_or_else(|| {
                let what = format!("there is no Deployment `{operator}` in the namespace `{namespace}`");
                Fault::run(what, site.install())
            })]);
        }
    };
    let wanted = deployment["spec"]["replicas"].as_u64().unwrap_or(1);
    if wanted == 0 {
        let command = format!("kubectl scale deployment/{operator} -n {namespace} --replicas=1");
        return Outcome::Failed(vec![Fault::run(
            "the Deployment is scaled to 0 replicas",
            command,
        )]);
    }
    let describe = format!("kubectl describe deployment/{operator} -n {namespace}");
    let (generation, observed) = (
        &deployment["metadata"]["generation"],
        &deployment["status"]["observedGeneration"],
    );
    let mut faults = Vec::new();
    if observed.as_u64() < generation.as_u64() {
        faults.push(Fault::run(
            "the last change of the Deployment has not been observed by a controller",
            &describe,
        ));
    }
    let holds = |kind: &str| condition(deployment, kind).map(|condition| &condition["status"]);
    if holds("Available").is_none_or(|status| status != "True") {
        let ready = deployment["status"]["readyReplicas"].as_u64().unwrap_or(0);
        let what = format!("the Deployment is not available: {ready} of {wanted} pods are ready");
        faults.push(Fault::run(what, &describe));
    }
    if holds("Progressing").is_some_and(|status| status == "False") {
        let message =
            condition(deployment, "Progressing").map_or("", |condition| text(condition, "/message"));
        faults.push(Fault::run(
            format!("the rollout of the Deployment is stuck: {message}"),
            describe,
        ));
    }
    Outcome::of(faults)
}

/// The fault of a Deployment that is in another namespace.
pub(super) fn elsewhere(site: &Site, facts: &Facts) -> Option<Fault> {
    let Site {
        operator, namespace, ..
    } = site;
    let mut others = facts.deployments.objects().iter();
    let other =
        others.find(|other| name(other) == operator && text(other, "/metadata/namespace") != namespace)?;
    let other = text(other, "/metadata/namespace");
    Some(Fault::advise(
        format!(
            "the Deployment `{operator}` is in the namespace `{other}`, and the manifests are for `{namespace}`"
        ),
        format!(
            "if it belongs there, run krator doctor --namespace {other}; otherwise run {} && kubectl delete deployment/{operator} -n {other}",
            site.install()
        ),
    ))
}

/// The pods that should run, or the outcome if there are none.
fn pods(facts: &Facts) -> Result<Vec<&Json>, Outcome> {
    if let Lookup::Unknown(why) = &facts.pods {
        return Err(Outcome::unreadable("the pods", why));
    }
    let is_over = |pod: &Json| {
        pod["metadata"]["deletionTimestamp"].is_string()
            || ["Succeeded", "Failed"].contains(&text(pod, "/status/phase"))
    };
    let pods: Vec<&Json> = facts.pods.objects().iter().filter(|pod| !is_over(pod)).collect();
    if pods.is_empty() {
        return Err(Outcome::skipped("the operator has no pods"));
    }
    Ok(pods)
}

/// The containers of a pod that wait: each with the reason and the message.
fn waiting(pod: &Json) -> impl Iterator<Item = (&Json, &str, &str)> {
    let containers = ["/status/initContainerStatuses", "/status/containerStatuses"];
    let containers = containers.into_iter().flat_map(|list| items(pod, list));
    containers.filter_map(|container| {
        let waiting = container.pointer("/state/waiting")?;
        Some((container, text(waiting, "/reason"), text(waiting, "/message")))
    })
}

/// The reasons of containers whose image cannot be pulled.
const UNPULLED: [&str; 4] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
];

/// Whether the images of all pods can be pulled.
pub(super) fn images(facts: &Facts) -> Outcome {
    let pods = match pods(facts) {
        Ok(pods) => pods,
        Err(outcome) => return outcome,
    };
    let mut faults: Vec<Fault> = Vec::new();
    for pod in pods {
        for (container, reason, message) in waiting(pod).filter(|(_, reason, _)| UNPULLED.contains(reason)) {
            let image = text(container, "/image");
            let what = format!(
                "the image {image} of the pod {} cannot be pulled: {reason}: {message}",
                name(pod)
            );
            let push = format!(
                "push it: docker push {image}; or name another one under `images` in deploy/kustomization.yaml, and apply that"
            );
            faults.push(Fault::advise(what.trim_end_matches(": "), push));
        }
    }
    Outcome::of(faults)
}

/// Whether one of the pods is the leader.
pub(super) fn lease(site: &Site, facts: &Facts) -> Outcome {
    let Site {
        operator, namespace, ..
    } = site;
    let logs = format!("kubectl logs -n {namespace} deployment/{operator}");
    let Some(now) = facts.server_time() else {
        return Outcome::skipped("the server sent no valid `Date` header");
    };
    let held = match &facts.lease {
        Lookup::Unknown(why) => return Outcome::unreadable("the Lease", why),
        Lookup::There(lease) => Some(lease::leader(lease, facts.lease_later.as_ref(), now)),
        Lookup::Absent => None,
    };
    let what = match held {
        Some(Leader::Is(holder)) => {
            if let Lookup::Unknown(why) = &facts.pods {
                return Outcome::unreadable("the pods", why);
            }
            // A terminating pod leads until it has ended.
            let mut pods = facts.pods.objects().iter();
            if pods.any(|pod| is_host_of(lease::host(&holder), name(pod))) {
                return Outcome::Ok;
            }
            return Outcome::Failed(vec![Fault::advise(
                format!(
                    "another operator holds the Lease `{operator}`: {holder}, which is not a pod of the Deployment; the pods stand by"
                ),
                format!(
                    "stop that process, or give this operator another name; kubectl get lease {operator} -n {namespace} -o yaml shows since when it holds the Lease"
                ),
            )]);
        }
        Some(Leader::Nobody) => {
            format!("the Lease `{operator}` has no holder: its last holder has released it")
        }
        Some(Leader::Gone(holder, since)) => format!(
            "the Lease `{operator}` is not renewed: {holder} renewed it last, {} ago",
            rounded(since)
        ),
        None => format!(
            "there is no Lease `{operator}` in the namespace `{namespace}`: no pod has become the leader"
        ),
    };
    match pods(facts) {
        Err(outcome) => outcome,
        Ok(pods) if !pods.iter().any(|pod| is_running(pod)) => {
            Outcome::skipped("no pod of the operator is running")
        }
        Ok(_) => Outcome::Failed(vec![Fault::run(what, logs)]),
    }
}

/// Whether all containers of a pod have started once, and none waits.
fn is_running(pod: &Json) -> bool {
    text(pod, "/status/phase") == "Running" && waiting(pod).next().is_none()
}

/// Whether this is the host name of a pod: its name, which is truncated if it is too long for a host name.
fn is_host_of(host: &str, pod: &str) -> bool {
    /// The maximum length of a host name. A truncated one is shorter if it would not end with a letter or digit.
    const LONGEST: usize = 63;
    host == pod || pod.len() > LONGEST && host.len() > LONGEST / 2 && pod.starts_with(host)
}

/// Whether all pods are ready.
pub(super) fn readiness(site: &Site, facts: &Facts) -> Outcome {
    let namespace = &site.namespace;
    let pods = match pods(facts) {
        Ok(pods) => pods,
        Err(outcome) => return outcome,
    };
    let (mut faults, mut unknown) = (Vec::new(), None);
    for pod in pods {
        let name = name(pod);
        if waiting(pod).any(|(_, reason, _)| UNPULLED.contains(&reason)) {
            // The check of images reports this fault.
            continue;
        }
        let crashes = waiting(pod).find(|(_, reason, _)| *reason == "CrashLoopBackOff");
        if let Some((container, ..)) = crashes {
            let count = container["restartCount"].as_u64().unwrap_or(0);
            let command = format!("kubectl logs -n {namespace} {name} --previous");
            faults.push(Fault::run(
                format!("the containers of the pod {name} have terminated {count} times"),
                command,
            ));
            continue;
        }
        let logs = || format!("kubectl logs -n {namespace} {name}");
        match facts.readiness.get(name) {
            Some(Probe::Ready) => {}
            Some(Probe::Unready(lacks)) => {
                let what = format!(
                    "the pod {name} is not ready. It waits for\n  {}",
                    lacks.trim().replace('\n', "\n  ")
                );
                faults.push(Fault::run(what, logs()));
            }
            Some(Probe::Unreachable(why)) => {
                faults.push(Fault::run(
                    format!("the pod {name} does not respond at /readyz: {why}"),
                    logs(),
                ));
            }
            Some(Probe::Unknown(why)) => unknown = Some(Outcome::unreadable("the answer at /readyz", why)),
            None => {
                let phase = text(pod, "/status/phase");
                let describe = format!("kubectl describe pod/{name} -n {namespace}");
                faults.push(Fault::run(
                    format!("the pod {name} is not running: it is {phase}"),
                    describe,
                ));
            }
        }
    }
    match unknown {
        Some(unknown) if faults.is_empty() => unknown,
        _ => Outcome::of(faults),
    }
}
