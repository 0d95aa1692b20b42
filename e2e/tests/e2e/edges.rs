//! Values at the limits of every type, which the API server stores but Rust's types cannot represent: they do not end
//! the process, and no object with them is undecodable.

use crate::cluster;
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const DESCRIPTION: &str = r#"
krator: 1
operator: edge
resource: {group: edges.example.com, version: v1, kind: Edge}
types:
  Window:
    properties:
      from: date-time
      for: duration
    default: {from: "9999-12-31T23:59:59.999999999999Z", for: 2562047h47m16s}
spec:
  expires: {type: date-time, default: "9999-12-31T23:59:59Z"}
  precise: {type: date-time, default: "2026-01-01T00:00:00.123456789012Z"}
  every: {type: duration, default: 2562047h47m16s}
  window: Window
  windows: {type: list of Window, default: [{from: "0000-01-01T00:00:00Z", for: "0"}]}
  times: {type: map of date-time, default: {never: "9999-12-31T23:59:59Z"}}
  least: {type: integer, default: -9223372036854775808}
  most: {type: integer, default: 9223372036854775807}
  small: {type: int32, default: -2147483648}
  large: {type: number, default: 1.7976931348623157e308}
  tiny: {type: number, default: 5e-324}
  size: {type: quantity, default: 9223372036854775807E}
  port: {type: int-or-string, default: 2147483647}
  any: {type: any, default: 18446744073709551615}
  at: optional date-time
  after: optional duration
  lasts: optional list of duration
columns:
  - {name: Expires, path: .spec.expires}
  - {name: Every, path: .spec.every}
  - {name: Most, path: .spec.most}
  - {name: Large, path: .spec.large}
machine: {initial: Held}
states:
  Held:
    kind: ready
    wait: {watch: self, poll: .spec.every}
    timeout: {after: .spec.expires, to: Over}
  Kept:
    kind: ready
    timeout: {after: .spec.after, to: Over}
  Over:
    kind: ready
    next: [Kept]
    wait: {watch: self}
"#;

const OVER: &str = r#"use super::Over;
use crate::edge::prelude::*;

impl State for Over {
    async fn next(self, _: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
"#;

#[test]
fn nothing_that_a_server_stores_ends_the_process() {
    let Some(cluster) = &cluster::own(&[]) else { return };
    let krate = Crate::generate(DESCRIPTION, |dir: &Path| {
        for (file, name) in [("held", "Held"), ("over", "Over"), ("kept", "Kept")] {
            let handler = OVER.replace("Over", name);
            fs::write(dir.join(format!("src/edge/states/{file}.rs")), handler).expect("a generated folder");
        }
    });
    install(&krate, cluster);
    let binary = cluster.dir().join("edge");
    krate.build(&binary);
    let namespace = cluster.namespace("edges");
    let here = ["--namespace", namespace.as_str()];
    let times = [
        "9999-12-31T23:59:59Z",
        "0000-01-01T00:00:00Z",
        "2030-01-01T00:00:00.123456789012Z",
        "2030-01-01t00:00:00x5z",
        "2030-01-01T00:00:00-99:99",
    ];
    let durations = [
        "0",
        ".5ns",
        "99999999999999999999999999h",
        "1.50000000000000000000001s",
    ];
    let mut specs: Vec<Value> = vec![json!({})];
    for time in times {
        let window = json!({"from": time, "for": "1h"});
        specs.push(json!({"expires": time, "at": time, "window": window, "times": {"a": time}}));
    }
    for duration in durations {
        let window = json!({"from": "2026-01-01T00:00:00Z", "for": duration});
        specs.push(json!({"every": duration, "after": duration, "lasts": [duration], "windows": [window]}));
    }
    specs.push(
        json!({"least": i64::MAX, "most": i64::MIN, "small": i32::MAX, "large": f64::MIN, "tiny": -0.0}),
    );
    let names: Vec<String> = (0..specs.len()).map(|at| format!("edge-{at}")).collect();
    for (name, spec) in names.iter().zip(&specs) {
        let object = json!({
            "apiVersion": "edges.example.com/v1", "kind": "Edge", "metadata": {"name": name}, "spec": spec,
        });
        cluster.apply(&object.to_string(), &here);
    }
    let log = cluster.dir().join("edge.log");
    let mut operator = OperatorProcess::start(cluster, &binary, &[], &log);
    let _log = ShownOnPanic(&log);
    for name in &names {
        let wait = [
            "wait",
            "--for=condition=Ready",
            "--timeout=60s",
            &format!("edge/{name}"),
        ];
        cluster.kubectl(&[&wait[..], &here].concat());
    }
    // The server formats the printed columns itself.
    let table = cluster.kubectl(&[&["get", "edges"][..], &here].concat());
    assert_eq!(table.lines().count(), names.len() + 1, "{table}");
    assert!(operator.is_running());
    assert!(operator.terminate().success());
}
