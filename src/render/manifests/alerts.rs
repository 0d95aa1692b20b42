//! Alerts on the metrics of an operator: for each kind and state, the problems that the graph allows.

use crate::model::{Certificates, Description, Kind, Period, Places, RetryLimit, State, StateId, StateKind};
use crate::names::pascal;
use crate::render::deploy::metrics_name;

use super::alert::{Alert, OPERATOR, kind_section, labels, state_section};
use super::objectives;

/// All alerts of an operator.
pub(in crate::render) fn alerts(description: &Description) -> Vec<Alert> {
    let mut alerts = of_operator(description);
    for kind in &description.kinds {
        alerts.extend(of_kind(kind));
        alerts.extend(objectives::alerts(kind));
        // The order of the alerts does not depend on that of the description.
        let mut states: Vec<(StateId, &State)> = kind.state_ids().collect();
        states.sort_by_key(|(_, state)| state.name.as_str());
        alerts.extend(kind.limits.iter().map(|limit| of_limit(kind, limit)));
        alerts.extend(
            states
                .into_iter()
                .flat_map(|(id, state)| of_state(kind, id, state)),
        );
    }
    alerts
}

fn of_operator(description: &Description) -> Vec<Alert> {
    let operator = description.operator.as_str();
    let alert = |name: &str, severity, hold, expression: String, (summary, advice): (&str, &str)| Alert {
        name: format!("{}{name}", pascal(operator)),
        section: OPERATOR.to_owned(),
        summary: summary.to_owned(),
        advice: advice.to_owned(),
        about: (None, None),
        severity,
        expression,
        hold,
    };
    // Metrics without a kind in their labels are distinguished from other operators by the scraped Service.
    let job = format!("job=\"{}\"", metrics_name(description));
    let leads = match description.deploy.leader_election.value {
        true => format!("absent(leader_election_master_status{{name=\"{operator}\"}} == 1)"),
        false => format!("absent(up{{{job}}} == 1)"),
    };
    let mut alerts = vec![alert(
        "HasNoLeader",
        "critical",
        "2m",
        leads,
        (
            "no pod of the operator is active",
            "Nothing is lost: objects stay in their states, and the next leader continues from there. See why no pod \
             is ready. A ready pod that is not the leader waits for the lease of another process.",
        ),
    )];
    if description.has_webhooks() {
        // The operator renews its own certificates when a third of their lifetime is left, which is longer than this.
        alerts.push(alert(
            "CertificateExpires",
            "critical",
            "15m",
            format!("krator_certificate_expiry_timestamp_seconds{{{job},use=\"webhooks\"}} - time() < 3 * 86400"),
            match description.deploy.certificates {
                Certificates::Own => (
                    "the certificate of the webhooks expires within three days and is not renewed",
                    "The leader renews it in a Secret. Its log shows which write fails; `krator doctor` shows which right is missing.",
                ),
                Certificates::Mounted => (
                    "the mounted certificate of the webhooks expires within three days",
                    "Its issuer, for example cert-manager, has to renew it: see the events of the Certificate.",
                ),
            },
        ));
        alerts.push(alert(
            "WebhooksFail",
            "critical",
            "0s",
            format!(
                "sum(increase(controller_runtime_webhook_requests_total{{{job},code=\"500\"}}[10m])) > 0"
            ),
            (
                "webhooks have failed, so the API server has refused requests, or let them pass unchecked",
                "The log of the operator has each failure.",
            ),
        ));
        alerts.push(alert(
            "WebhooksAreSlow",
            "warning",
            "10m",
            format!(
                "histogram_quantile(0.99, sum by (le) (rate(controller_runtime_webhook_latency_seconds_bucket{{{job}}}[5m]))) > 1"
            ),
            (
                "one percent of admission requests wait for over a second",
                "Clients that write objects wait as long. See whether the pods get the CPU that they need, and which requests the webhooks make.",
            ),
        ));
    }
    alerts
}

fn of_kind(kind: &Kind) -> Vec<Alert> {
    let name = kind.resource.kind.as_str();
    let labels = labels(kind);
    let alert = |ending: &str, hold, expression: String, summary: String, advice: &str| Alert {
        name: format!("{name}{ending}"),
        section: kind_section(kind),
        summary,
        advice: advice.to_owned(),
        about: (Some(name.to_owned()), None),
        severity: "warning",
        expression,
        hold,
    };
    let mut alerts = vec![
        alert(
            "Parked",
            "5m",
            format!("sum(krator_parked_objects{{{labels}}}) > 0"),
            format!(
                "objects of the kind {name} are in a state that is unknown to the operator, so no handler runs for them"
            ),
            "A newer operator has stored that state, as before a rollback. Deploy that version again, or delete the \
             objects; they are not changed until then.",
        ),
        alert(
            "DefinitionIsOlder",
            "10m",
            format!("max(krator_crd_missing{{{labels}}}) > 0"),
            format!("the CustomResourceDefinition of {name} lacks what the operator writes"),
            "The API server drops those fields. Apply the definition of this version of the operator; `krator doctor` \
             shows the differences.",
        ),
    ];
    if !kind.webhooks.is_empty() {
        alerts.push(alert(
            "AdmissionRefuses",
            "15m",
            format!(
                "sum(rate(krator_admission_requests_total{{kind=\"{name}\",allowed=\"false\"}}[10m])) \
                 / sum(rate(krator_admission_requests_total{{kind=\"{name}\"}}[10m])) > 0.5"
            ),
            format!("the webhooks of {name} deny more requests than they allow"),
            "The response tells the client why. Often a single client retries again and again: the audit log names it.",
        ));
    }
    if kind.has_functions() {
        alerts.push(alert(
            "ConversionsFail",
            "0s",
            format!("sum(increase(krator_conversion_failures_total{{{labels}}}[15m])) > 0"),
            format!("conversion functions between the versions of {name} have failed, and fallbacks replace their results"),
            "Events with the reason `ConversionFailed` name the objects and the fields. Nothing is lost: the former \
             value is kept in an annotation. Fix the function, then edit the field.",
        ));
    }
    alerts
}

/// Objects that have failed keep their places if a limit counts their state, so only this alert reports that a rollout
/// has stopped.
fn of_limit(kind: &Kind, limit: &Places) -> Alert {
    let (name, limit_name) = (kind.resource.kind.as_str(), limit.name.value.as_str());
    let mut states: Vec<&str> = limit
        .states
        .iter()
        .map(|state| kind.state(state.value).name.as_str())
        .collect();
    states.sort_unstable();
    let of_kind = labels(kind);
    Alert {
        name: format!("{name}{}Stalls", pascal(limit_name)),
        section: kind_section(kind),
        summary: format!(
            "objects of the kind {name} wait for a place in the limit {limit_name}, and none has been admitted for an hour"
        ),
        advice: format!(
            "The places are taken by objects in these states: {}. Objects that have failed keep theirs until somebody fixes them.",
            states.join(", ")
        ),
        about: (Some(name.to_owned()), None),
        severity: "warning",
        expression: format!(
            "sum(krator_limit_waiting{{{of_kind},limit=\"{limit_name}\"}}) > 0 unless \
             sum(increase(krator_transitions_total{{{of_kind},to=~\"{}\"}}[1h])) > 0",
            states.join("|")
        ),
        hold: "1h",
    }
}

fn of_state(kind: &Kind, id: StateId, state: &State) -> Vec<Alert> {
    let (name, at) = (kind.resource.kind.as_str(), state.name.as_str());
    let labels = format!("{},state=\"{at}\"", labels(kind));
    let alert = |ending: &str, hold, expression: String, summary: String, advice: &str| Alert {
        name: format!("{name}{at}{ending}"),
        section: state_section(kind, state),
        summary,
        advice: advice.to_owned(),
        about: (Some(name.to_owned()), Some(at.to_owned())),
        severity: "warning",
        expression,
        hold,
    };
    let mut alerts = Vec::new();
    // An object may stay longer before a gate.
    let waits = |to: StateId| kind.gates_between(id, to).next().is_some();
    let timeout = state.timeout.as_ref();
    if let Some(Period::Fixed(after)) = timeout
        .filter(|timeout| !waits(timeout.to.value))
        .and_then(|timeout| Some(&timeout.after()?.value))
    {
        let seconds = after.as_secs_f64();
        alerts.push(alert(
            "Stuck",
            "5m",
            // 0 means that no object is in the state.
            format!("time() - max(krator_state_oldest_entry_timestamp_seconds{{{labels}}} > 0) > {seconds}"),
            format!(
                "an object of the kind {name} is still in {at}, which it should have left after {}",
                crate::model::format_duration(*after)
            ),
            "The operator moves it as soon as it can write: see [The operator](#the-operator). If it can, its log \
             shows what the API server refuses.",
        ));
    }
    let is_limited = |retry: &crate::model::Retry| matches!(retry.limit.value, RetryLimit::Times(_));
    if state.retry.as_ref().is_some_and(is_limited) {
        alerts.push(alert(
            "RetriesExhausted",
            "0s",
            format!("sum(increase(krator_retries_exhausted_total{{{labels}}}[15m])) > 0"),
            format!("the handler of {at} has failed for an object of the kind {name}, and no retry is left"),
            "The message of the object has the last error. Fix its cause, then change the spec, or use another way out \
             of the present state of the object.",
        ));
    }
    if state.kind.value == StateKind::Failed {
        alerts.push(alert(
            "Rests",
            "15m",
            format!("sum(krator_objects{{{labels}}}) > 0"),
            format!("objects of the kind {name} are in the failed state {at}"),
            "The message of the object says why. The ways out of the state are below.",
        ));
    }
    alerts
}
