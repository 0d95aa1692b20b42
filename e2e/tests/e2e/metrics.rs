//! The metrics and pages of an operator, and who may read them.

mod browser;
mod controls;
mod state;

use crate::cluster::watch::Event;
use crate::cluster::{Cluster, until};
use crate::moose::{Fixture, UNTOUCHED, names, states};
use crate::probes::{get, logged_address};
use k8s_openapi::jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Reads a path over TLS, with the token of a service account if there is one: returns the text, or the error of
/// kubectl.
pub fn scrape(cluster: &Cluster, address: &str, path: &str, token: Option<&str>) -> Result<String, String> {
    let mut kubectl = Command::new(cluster.assets().join("kubectl"));
    kubectl.args(["--kubeconfig=/dev/null", "--insecure-skip-tls-verify", "--server"]);
    kubectl.arg(format!("https://{address}"));
    // Without any credentials kubectl would prompt for some.
    match token {
        Some(token) => kubectl.arg(format!("--token={token}")),
        None => kubectl.args(["--username=somebody", "--password=secret"]),
    };
    let output = kubectl
        .args(["get", "--raw", path])
        .output()
        .expect("kubectl runs");
    let text = |bytes| String::from_utf8(bytes).expect("kubectl writes UTF-8");
    if output.status.success() {
        Ok(text(output.stdout))
    } else {
        Err(text(output.stderr))
    }
}

/// The token of a new service account.
fn token(fixture: &Fixture, account: &str) -> String {
    fixture.kubectl(&["create", "serviceaccount", account]);
    fixture.kubectl(&["create", "token", account]).trim().to_owned()
}

/// Binds a service account of the fixture to a ClusterRole.
fn bind_reader(fixture: &Fixture, account: &str, role: &str) {
    let name = format!("{}-{account}", fixture.namespace);
    let (role, account) = (
        format!("--clusterrole={role}"),
        format!("--serviceaccount={}:{account}", fixture.namespace),
    );
    let create = ["create", "clusterrolebinding", &name, &role, &account];
    fixture.cluster.kubectl(&create);
}

/// The samples of a metric: their labels and values.
fn samples<'a>(metrics: &'a str, name: &str) -> Vec<(BTreeMap<&'a str, &'a str>, f64)> {
    let of_name = metrics
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix('{'));
    let read = |line: &'a str| {
        let (labels, value) = line.rsplit_once("} ").expect("a value after the labels");
        let pairs = labels.split(',').filter_map(|pair| pair.split_once('='));
        let labels = pairs.map(|(key, value)| (key, value.trim_matches('"'))).collect();
        (labels, value.parse().expect("a number"))
    };
    of_name.map(read).collect()
}

/// The number of transitions along each edge, according to the metrics.
fn counted(metrics: &str) -> BTreeMap<(String, String), usize> {
    let mut edges = BTreeMap::new();
    for (labels, value) in samples(metrics, "krator_transitions_total") {
        // Counts are small integers.
        *edges
            .entry((labels["from"].to_owned(), labels["to"].to_owned()))
            .or_default() += value as usize;
    }
    edges
}

/// The number of transitions along each edge, according to the stored states.
fn stored(events: &[Event], names: &[String]) -> BTreeMap<(String, String), usize> {
    let mut edges = BTreeMap::new();
    for name in names {
        let mut from = "";
        for to in states(events, name).into_iter().filter(|state| !state.is_empty()) {
            *edges.entry((from.to_owned(), to.to_owned())).or_default() += 1;
            from = to;
        }
    }
    edges
}

#[test]
fn metrics_are_served_to_those_who_have_the_right_and_have_each_transition() {
    let Some(mut fixture) = Fixture::new("metrics", &UNTOUCHED) else {
        return;
    };
    let moose = names(3);
    fixture.create(&moose);
    let lease = fixture.lease();
    fixture.start(&["--metrics-bind-address=127.0.0.1:0", "--leader-elect", &lease]);
    let address = logged_address(|| fixture.log(), "serving metrics");
    let (reader, other) = (token(&fixture, "reader"), token(&fixture, "other"));
    bind_reader(&fixture, "reader", "moose-tracker-metrics-reader");

    let refused =
        |token: Option<&str>| scrape(fixture.cluster, &address, "/metrics", token).expect_err("no right");
    for wrong in [None, Some("wrong")] {
        let error = refused(wrong);
        assert!(
            error.contains("Unauthorized") || error.contains("provide credentials"),
            "{error}"
        );
    }
    let error = refused(Some(&other));
    assert!(error.contains("Forbidden"), "{error}");
    let scraped = || scrape(fixture.cluster, &address, "/metrics", Some(&reader));
    until("the right is in force", || scraped().ok());

    let metrics = until("the metrics have each edge that was stored, once", || {
        let metrics = scraped().expect("the right was granted");
        let edges = stored(&fixture.watch.events(), &moose);
        let is_far = edges.contains_key(&("Eat".to_owned(), "Sleep".to_owned()));
        (is_far && counted(&metrics) == edges).then_some(metrics)
    });
    let in_states = samples(&metrics, "krator_objects")
        .into_iter()
        .map(|(_, count)| count);
    assert_eq!(in_states.sum::<f64>(), 3.0, "{metrics}");
    for name in [
        "krator_objects",
        "krator_state_oldest_entry_timestamp_seconds",
        "krator_certificate_expiry_timestamp_seconds",
        "krator_parked_objects",
        "krator_crd_missing",
        "krator_transitions",
        "krator_state_duration_seconds",
        "krator_retries_exhausted",
        "krator_handler_duration_seconds",
        "krator_events_dropped",
        "controller_runtime_reconcile",
        "controller_runtime_reconcile_errors",
        "controller_runtime_reconcile_time_seconds",
        "workqueue_depth",
        "leader_election_master_status",
        "rest_client_requests",
        "process_start_time_seconds",
        "process_cpu_seconds",
        "process_resident_memory_bytes",
        "process_open_fds",
    ] {
        assert!(
            metrics.contains(&format!("# TYPE {name} ")),
            "no {name} in\n{metrics}"
        );
    }
    until("the operator leads", || {
        let leads = samples(
            &scraped().expect("the right was granted"),
            "leader_election_master_status",
        )
        .pop()?
        .1;
        (leads == 1.0).then_some(())
    });
    let expiries = samples(&metrics, "krator_certificate_expiry_timestamp_seconds");
    assert!(matches!(&expiries[..], [(labels, expiry)] if labels["use"] == "metrics" && *expiry > 2e9));
    let patches = samples(&metrics, "rest_client_requests_total");
    assert!(
        patches
            .iter()
            .any(|(labels, _)| (labels["method"], labels["code"]) == ("PATCH", "200"))
    );
    for hidden in moose.iter().chain([&fixture.namespace]) {
        assert!(
            !metrics.contains(hidden),
            "{hidden} is the name of an object:\n{metrics}"
        );
    }

    fixture.kubectl(&["delete", "moose", "--all", "--timeout=120s"]);
    until("deleted objects are not counted", || {
        let metrics = scraped().expect("the right was granted");
        let in_states = samples(&metrics, "krator_objects");
        in_states.iter().all(|(_, count)| *count == 0.0).then_some(())
    });
    assert_eq!(fixture.terminate().code(), Some(0));
    assert_eq!(
        fixture.forbidden(),
        [""; 0],
        "the generated roles allow the reviews"
    );
}

/// For each state, the time at which the object that has been in it longest entered it, according to the metrics and to
/// the stored objects. States without an object are left out.
fn oldest(metrics: &str, stored: &Value) -> [BTreeMap<String, i64>; 2] {
    let shown = samples(metrics, "krator_state_oldest_entry_timestamp_seconds").into_iter();
    // Times are integers.
    let shown = shown.map(|(labels, value)| (labels["state"].to_owned(), value as i64));
    let mut oldest = BTreeMap::new();
    for object in stored["items"].as_array().expect("a list") {
        let text = |field: &str| object["status"][field].as_str().unwrap_or_default();
        let entered: Timestamp = text("stateEnteredTime").parse().expect("a time");
        let entered = entered.as_second();
        let oldest = oldest.entry(text("state").to_owned()).or_insert(entered);
        *oldest = entered.min(*oldest);
    }
    [shown.filter(|(_, entered)| *entered != 0).collect(), oldest]
}

#[test]
fn the_oldest_entry_survives_a_restart_and_is_not_that_of_a_paused_object() {
    let Some(mut fixture) = Fixture::new("oldest", &UNTOUCHED) else {
        return;
    };
    fixture.create(&names(3));
    let args = ["--metrics-bind-address=127.0.0.1:0", "--metrics-secure=false"];
    let mut former_log = 0;
    for _ in 0..2 {
        fixture.start(&args);
        let address = logged_address(|| fixture.log().split_off(former_log), "serving metrics");
        let scraped = || get(&address, "/metrics").1;
        until("the oldest entries are those that are stored", || {
            let stored = fixture.kubectl(&["get", "moose", "--output=json"]);
            let stored: Value = serde_json::from_str(&stored).expect("JSON");
            let has_begun = |object: &Value| object["status"]["state"].is_string();
            let all_have = stored["items"].as_array().expect("a list").iter().all(has_begun);
            let [shown, oldest] = if all_have {
                oldest(&scraped(), &stored)
            } else {
                return None;
            };
            (shown == oldest).then_some(())
        });
        fixture.kubectl(&["annotate", "moose", "--all", "animals.com/paused=true"]);
        until("paused objects do not count", || {
            let none = serde_json::json!({"items": []});
            let [shown, _] = oldest(&scraped(), &none);
            shown.is_empty().then_some(())
        });
        fixture.kubectl(&["annotate", "moose", "--all", "animals.com/paused-"]);
        fixture.kill();
        former_log = fixture.log().len();
    }
}
