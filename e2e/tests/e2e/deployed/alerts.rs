//! The alerts of a graph, checked by Prometheus' own parser and rule tester: each fires for its cause, and none during
//! a healthy run. The dashboard queries only exported metrics.

use super::{Deployed, run, tool};
use crate::cluster::until;
use crate::descriptions::{MOOSE, cases};
use crate::moose::{Fixture, QUICK, names, replaced};
use crate::probes::{get, logged_address};
use crate::yaml::documents;
use krator_runtime::source;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A graph in which every cause of an alert is possible.
const FRAIL: &str = "\
krator: 1
operator: harbour
deploy: {certificates: mounted, runbook: 'https://git.example.com/harbour/docs/runbook.md'}
resource: {group: harbour.example.com, version: v1, kind: Boat}
spec: {berth: string}
webhooks: {validate: {}}
versions: {v1beta1: {changes: [{custom: .spec.berth, from: integer}]}}
slo: {from: Mooring, to: Moored, within: 5m, objective: 99}
machine: {initial: Mooring}
states:
  Mooring: {next: [Moored], wait: {poll: 10s}, timeout: {after: 10m, to: Adrift}, retry: {limit: 3, then: Adrift}}
  Moored: {kind: ready}
  Adrift: {kind: failed}
";
const JOB: &str = "harbour-metrics";

/// The groups of rules of a description.
fn groups(deployed: &Deployed) -> Value {
    let text = fs::read(deployed.path("deploy/components/monitoring/rules.yaml")).expect("generated");
    documents(&text).remove(0)["spec"].clone()
}

fn write(deployed: &Deployed, name: &str, value: &Value) -> String {
    let path = deployed.path(name);
    fs::write(&path, value.to_string()).expect("our own folder");
    path.to_str().expect("a plain name").to_owned()
}

/// The output of promtool for tests of these rules.
fn test(promtool: &Path, deployed: &Deployed, groups: &Value, tests: Vec<Value>) -> String {
    let rules = write(deployed, "rules.json", groups);
    let tests = json!({"rule_files": [rules], "evaluation_interval": "1m", "tests": tests});
    let tests = write(deployed, "tests.json", &tests);
    run(Command::new(promtool).args(["test", "rules", &tests]))
}

fn alerts(groups: &Value) -> Vec<Value> {
    let rules = groups["groups"][0]["rules"].as_array().expect("rules").iter();
    rules.filter(|rule| rule["alert"].is_string()).cloned().collect()
}

/// The series for which an alert of this name fires within half an hour, and the labels that it takes from them.
fn series_of(name: &str) -> (Vec<(String, &'static str)>, Value) {
    let labels = "group=\"harbour.example.com\",kind=\"Boat\"";
    let of_state = |metric: &str, state: &str| format!("{metric}{{{labels},state=\"{state}\"}}");
    let of_kind = |metric: &str, more: &str| format!("{metric}{{{labels}{more}}}");
    let of_job = |metric: &str, more: &str| format!("{metric}{{job=\"{JOB}\"{more}}}");
    let objective = |result: &str| {
        let more = format!(",objective=\"Mooring-Moored\",result=\"{result}\"");
        of_kind("krator_objective_total", &more)
    };
    let latency = |le: &str| {
        let more = format!(",webhook=\"/validate\",le=\"{le}\"");
        of_job("controller_runtime_webhook_latency_seconds_bucket", &more)
    };
    let none = json!({});
    match name {
        "HarbourHasNoLeader" => (
            vec![("leader_election_master_status{name=\"harbour\"}".into(), "0x60")],
            none,
        ),
        "HarbourCertificateExpires" => (
            vec![(
                of_job("krator_certificate_expiry_timestamp_seconds", ",use=\"webhooks\""),
                "86400x60",
            )],
            json!({"job": JOB, "use": "webhooks"}),
        ),
        "HarbourWebhooksFail" => {
            let failed = of_job(
                "controller_runtime_webhook_requests_total",
                ",webhook=\"/validate\",code=\"500\"",
            );
            (vec![(failed, "0+1x60")], none)
        }
        "HarbourWebhooksAreSlow" => (
            vec![
                (latency("1.0"), "0+1x60"),
                (latency("5.0"), "0+9x60"),
                (latency("+Inf"), "0+9x60"),
            ],
            none,
        ),
        "BoatParked" => (vec![(of_kind("krator_parked_objects", ""), "1x60")], none),
        "BoatDefinitionIsOlder" => (vec![(of_kind("krator_crd_missing", ""), "2x60")], none),
        "BoatAdmissionRefuses" => {
            let asked = |allowed: &str| {
                format!(
                    "krator_admission_requests_total{{kind=\"Boat\",operation=\"CREATE\",allowed=\"{allowed}\"}}"
                )
            };
            (vec![(asked("false"), "0+9x60"), (asked("true"), "0+1x60")], none)
        }
        "BoatConversionsFail" => (
            vec![(of_kind("krator_conversion_failures_total", ""), "0+1x60")],
            none,
        ),
        // The object has entered the state in the first minute.
        "BoatMooringStuck" => (
            vec![(
                of_state("krator_state_oldest_entry_timestamp_seconds", "Mooring"),
                "60x60",
            )],
            none,
        ),
        "BoatMooringRetriesExhausted" => (
            vec![(of_state("krator_retries_exhausted_total", "Mooring"), "0x30 1x30")],
            none,
        ),
        "BoatAdriftRests" => (vec![(of_state("krator_objects", "Adrift"), "1x60")], none),
        "BoatMooringToMooredIsMissed" | "BoatMooringToMooredIsMissedSlowly" => (
            vec![(objective("met"), "0+5x60"), (objective("missed"), "0+5x60")],
            json!({"group": "harbour.example.com", "kind": "Boat", "objective": "Mooring-Moored"}),
        ),
        other => panic!("no series is known for which {other} fires"),
    }
}

/// A test that an alert fires or does not fire for these series at a time.
fn tried(alert: &Value, series: &[(String, &str)], taken: Option<&Value>, at: &str) -> Value {
    let series = series
        .iter()
        .map(|(series, values)| json!({"series": series, "values": values}));
    let fired = taken.map(|taken| {
        let mut labels = taken.as_object().expect("labels").clone();
        labels.extend(alert["labels"].as_object().expect("labels").clone());
        json!({"exp_labels": labels, "exp_annotations": alert["annotations"]})
    });
    json!({
        "interval": "1m",
        "input_series": series.collect::<Vec<_>>(),
        "alert_rule_test": [{"eval_time": at, "alertname": alert["alert"], "exp_alerts": Vec::from_iter(fired)}],
    })
}

#[test]
fn each_alert_fires_for_what_it_is_about_and_for_nothing_else() {
    let Some(promtool) = tool("promtool") else { return };
    let deployed = Deployed::new(FRAIL).expect("it is correct");
    let groups = groups(&deployed);
    let alerts = alerts(&groups);
    assert_eq!(alerts.len(), 13, "{alerts:#?}");
    let mut tests = Vec::new();
    for alert in &alerts {
        let name = alert["alert"].as_str().expect("a name");
        let (series, taken) = series_of(name);
        tests.push(tried(alert, &series, Some(&taken), "40m"));
        // The causes of other alerts must not trigger it, except for a missing leader, which missing series show.
        let others = alerts.iter().filter_map(|other| other["alert"].as_str());
        let others = others.filter(|other| !other.contains(name) && !name.contains(other));
        let others = others.flat_map(|other| series_of(other).0);
        if name != "HarbourHasNoLeader" {
            tests.push(tried(alert, &others.collect::<Vec<_>>(), None, "40m"));
        }
    }
    let said = test(&promtool, &deployed, &groups, tests);
    assert!(said.contains("SUCCESS"), "{said}");
    let link = &alerts[0]["annotations"]["runbook_url"];
    assert_eq!(
        link,
        "https://git.example.com/harbour/docs/runbook.md#the-operator"
    );
}

#[test]
fn prometheus_reads_the_rules_of_all_descriptions() {
    let Some(promtool) = tool("promtool") else { return };
    for case in cases().values() {
        let text = fs::read_to_string(case.join("spec.yaml")).expect("a case has a description");
        let Some(deployed) = Deployed::new(&text) else {
            continue;
        };
        let rules = write(&deployed, "rules.json", &groups(&deployed));
        run(Command::new(&promtool).args(["check", "rules", &rules]));
    }
}

/// The series of consecutive samples, as if they were taken one minute apart.
fn recorded(scrapes: &[(f64, String)], job: &str) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (at, (time, scrape)) in scrapes.iter().enumerate() {
        for line in scrape.lines().filter(|line| !line.starts_with('#')) {
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
            let comma = if labels == "}" { "" } else { "," };
            let series = format!("{name}{{job=\"{job}\"{comma}{labels}");
            let mut value: f64 = value.parse().expect("a number");
            // The clock of the tester begins at 0.
            if name.ends_with("_timestamp_seconds") && value > 0.0 {
                value += 60.0 * at as f64 - time;
            }
            let values = all.entry(series).or_default();
            values.resize(at, "_".to_owned());
            values.push(value.to_string());
        }
    }
    all
}

#[test]
fn no_alert_fires_in_a_healthy_run() {
    const SCRAPES: usize = 40;
    let (Some(promtool), Some(mut fixture)) = (tool("promtool"), Fixture::new("alerts", &QUICK)) else {
        return;
    };
    fixture.create(&names(5));
    let lease = fixture.lease();
    let metrics = [
        "--metrics-secure=false",
        "--metrics-bind-address=127.0.0.1:0",
        "--leader-elect",
        &lease,
    ];
    fixture.start(&metrics);
    let address = logged_address(|| fixture.log(), "serving metrics");
    let scrape = || get(&address, "/metrics").1;
    until("the operator leads and looks after the moose", || {
        let text = scrape();
        let leads = text
            .lines()
            .any(|line| line.starts_with("leader_election") && line.ends_with(" 1"));
        (leads && text.contains("to=\"Eat\"")).then_some(())
    });
    let now = || {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("later")
            .as_secs_f64()
    };
    let mut scrapes: Vec<(f64, String)> = Vec::new();
    // Scrapes until each sample differs from the previous one.
    while scrapes.len() < SCRAPES {
        let last = scrapes.last().map(|(_, last)| last.clone());
        let next = until("something happens", || {
            Some(scrape()).filter(|next| Some(next) != last.as_ref())
        });
        scrapes.push((now(), next));
    }
    until("each moose has met its objective", || {
        let text = scrape();
        let met = text.lines().find(|line| {
            line.starts_with("krator_objective_total{")
                && line.contains("objective=\"Tagged-Sleep\",result=\"met\"")
        });
        met.is_some_and(|line| line.ends_with(" 5")).then_some(())
    });
    fixture.terminate();

    // Samples are taken more often than once a minute, so on a busy machine a delay of a moment would count as minutes
    // of lateness. The rules use the promised times of the slower moose.
    let unhurried = replaced(
        &(QUICK.description)(MOOSE),
        "after: 1s, to: Roam",
        "after: 20s, to: Roam",
    );
    let deployed = Deployed::new(&unhurried).expect("it is correct");
    let groups = groups(&deployed);
    let series = recorded(&scrapes, "moose-tracker-metrics");
    let series: Vec<Value> = series
        .into_iter()
        .map(|(series, values)| json!({"series": series, "values": values.join(" ")}))
        .collect();
    let expected = alerts(&groups).into_iter().flat_map(|alert| {
        let at = |time: usize| json!({"eval_time": format!("{time}m"), "alertname": alert["alert"], "exp_alerts": []});
        [at(SCRAPES / 2), at(SCRAPES - 1)]
    });
    let healthy =
        json!({"interval": "1m", "input_series": series, "alert_rule_test": expected.collect::<Vec<_>>()});
    let said = test(&promtool, &deployed, &groups, vec![healthy]);
    assert!(said.contains("SUCCESS"), "{said}");
}

#[test]
fn the_dashboard_asks_for_what_operators_export() {
    let metrics = source::LIBRARY.split_once("mod metrics {");
    let metrics = metrics.and_then(|(_, rest)| rest.split_once("} // mod metrics"));
    let (metrics, _) = metrics.expect("a module of the runtime");
    for text in [MOOSE, FRAIL] {
        for metric in asked(&Deployed::new(text).expect("it is correct")) {
            let family = ["_total", "_bucket"]
                .iter()
                .find_map(|ending| metric.strip_suffix(ending));
            let name = format!("\"{}\"", family.unwrap_or(&metric));
            assert!(metrics.contains(&name), "the dashboard asks for {metric}");
        }
    }
}

/// The metrics in the queries of a description's dashboard.
fn asked(deployed: &Deployed) -> BTreeSet<String> {
    let text = fs::read(deployed.path("deploy/components/monitoring/dashboard.yaml")).expect("generated");
    let data: Map<String, Value> = documents(&text).remove(0)["data"]
        .as_object()
        .expect("data")
        .clone();
    let (_, dashboard) = data.into_iter().next().expect("a file");
    let dashboard: Value =
        serde_json::from_str(dashboard.as_str().expect("text")).expect("Grafana reads JSON");
    let panels = dashboard["panels"].as_array().expect("panels").iter();
    let queries = panels.flat_map(|panel| panel["targets"].as_array().expect("queries"));
    let mut metrics = BTreeSet::new();
    for query in queries {
        // The name of a metric precedes its labels.
        let query = query["expr"].as_str().expect("a query");
        for (at, _) in query.match_indices('{') {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let start = query[..at].rfind(|c| !is_name(c)).map_or(0, |start| start + 1);
            metrics.insert(query[start..at].to_owned());
        }
    }
    assert!(metrics.len() > 5, "{metrics:?}");
    metrics
}
