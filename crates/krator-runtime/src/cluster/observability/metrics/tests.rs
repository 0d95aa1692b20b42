use super::*;
use crate::graph::{Objective, Policy};
use jiff::Timestamp;

const STATES: [Policy<'static>; 2] = [Policy::new("Roam").needs_approval(), Policy::new("Eat")];
const OBJECTIVES: [Objective; 1] = [Objective::new(StateId(0), StateId(1), Duration::from_secs(60))];
const GRAPH: Graph<'static> =
    Graph::new(&STATES, StateId(0), None, "animals.com/moose").objectives(&OBJECTIVES);

fn of_moose(metrics: &Metrics) -> Arc<KindMetrics> {
    metrics.of_kind("animals.com".into(), "Moose".into(), &GRAPH)
}

/// Asserts that the metrics have these samples; `K` stands for the labels of the kind.
fn assert_samples(metrics: &Metrics, samples: &[&str]) {
    let rendered = metrics.render().expect("text");
    for sample in samples {
        let sample = sample.replace('K', r#"group="animals.com",kind="Moose""#);
        assert!(
            rendered.lines().any(|line| line == sample),
            "no {sample} in\n{rendered}"
        );
    }
}

#[test]
fn an_object_is_counted_in_one_state_or_as_parked() {
    let metrics = Metrics::new();
    let kind = of_moose(&metrics);
    let (roams, eats) = (
        r#"krator_objects{K,state="Roam"}"#,
        r#"krator_objects{K,state="Eat"}"#,
    );
    let assert_counts = |roam: i64, eat: i64, parked: i64| {
        let samples = [
            format!("{roams} {roam}"),
            format!("{eats} {eat}"),
            format!("krator_parked_objects{{K}} {parked}"),
        ];
        assert_samples(&metrics, &samples.each_ref().map(String::as_str));
    };
    assert_counts(0, 0, 0);
    let mut one = Counted::new(Arc::clone(&kind), Some(StateId(0)));
    let two = Counted::new(Arc::clone(&kind), None);
    assert_counts(1, 0, 1);
    one.is_at(Some(StateId(1)));
    one.is_at(Some(StateId(1)));
    assert_counts(0, 1, 1);
    drop((one, two));
    assert_counts(0, 0, 0);
}

#[test]
fn what_a_look_at_all_objects_says_is_shown_where_it_is_known() {
    let metrics = Metrics::new();
    let kind = of_moose(&metrics);
    let name = "krator_state_oldest_entry_timestamp_seconds";
    let (roam, eat) = (
        format!(r#"{name}{{K,state="Roam"}} 1800000000"#),
        format!(r#"{name}{{K,state="Eat"}} 0"#),
    );
    let has = || metrics.render().expect("text").contains(&format!("{name}{{"));
    assert!(!has(), "nobody has looked yet");
    let since = Timestamp::from_second(1_800_000_000).expect("a time");
    let roaming = Measures {
        oldest: Some(since),
        waiting: 7,
    };
    kind.set_measures(Some(&[roaming, Measures::default()]));
    let waiting = r#"krator_gate_waiting{K,state="Roam"} 7"#;
    assert_samples(&metrics, &[&roam, &eat, waiting]);
    let rendered = metrics.render().expect("text");
    assert_eq!(
        rendered.matches("krator_gate_waiting{").count(),
        1,
        "Eat has no gate"
    );
    kind.set_measures(None);
    assert!(!has(), "what is known no longer is left out");
}

#[test]
fn runs_are_counted_by_how_they_end() {
    let metrics = Metrics::new();
    let kind = of_moose(&metrics);
    let ran = |millis: Option<u64>, end| {
        kind.ran(StateId(1), millis.map(Duration::from_millis), end);
    };
    ran(Some(500), RunEnd::Done);
    ran(Some(1500), RunEnd::Interrupted);
    ran(Some(2000), RunEnd::Failed(Class::Blocked));
    ran(None, RunEnd::Failed(Class::Permanent));
    kind.busy(7);
    let roamed = r#"krator_handler_duration_seconds_count{K,state="Roam"} 0"#;
    assert_samples(
        &metrics,
        &[
            roamed,
            r#"krator_handler_duration_seconds_count{K,state="Eat"} 3"#,
            r#"krator_handler_duration_seconds_sum{K,state="Eat"} 4.0"#,
            r#"krator_handler_errors_total{K,state="Eat",class="blocked"} 1"#,
            r#"krator_handler_errors_total{K,state="Eat",class="permanent"} 1"#,
            r#"controller_runtime_reconcile_total{controller="moose",result="success"} 1"#,
            r#"controller_runtime_reconcile_total{controller="moose",result="requeue"} 1"#,
            r#"controller_runtime_reconcile_total{controller="moose",result="error"} 2"#,
            r#"controller_runtime_reconcile_errors_total{controller="moose"} 2"#,
            r#"controller_runtime_reconcile_time_seconds_count{controller="moose"} 3"#,
            r#"workqueue_depth{name="moose"} 7"#,
        ],
    );
}

#[test]
fn measurements_are_counted_by_their_result() {
    let metrics = Metrics::new();
    let kind = of_moose(&metrics);
    let counts = |result: &str, count: u32| {
        format!(r#"krator_objective_total{{K,objective="Roam-Eat",result="{result}"}} {count}"#)
    };
    assert_samples(
        &metrics,
        &[&counts("met", 0), &counts("missed", 0), &counts("abandoned", 0)],
    );
    kind.measured((0, Measured::Missed));
    kind.measured((0, Measured::Missed));
    kind.measured((0, Measured::Abandoned));
    assert_samples(
        &metrics,
        &[&counts("met", 0), &counts("missed", 2), &counts("abandoned", 1)],
    );
}
