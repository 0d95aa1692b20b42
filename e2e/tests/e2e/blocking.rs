//! Handlers that block their thread must not delay other handlers, probes or the end of the process.

use crate::cluster::{self, until};
use crate::operator::{Crate, OperatorProcess, PROBES, ShownOnPanic, install};
use crate::probes::{get, logged_address};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const DESCRIPTION: &str = "
krator: 1
operator: gatekeeper
resource: {group: gates.example.com, version: v1, kind: Visitor}
spec: {blocks: boolean}
machine: {initial: Come}
states:
  Come: {next: [Block, Rest]}
  Block: {next: [Rest]}
  Rest: {kind: ready}
";

const COME: &str = "use super::{Block, Come, Rest};
use crate::visitor::prelude::*;

impl State for Come {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(match cx.manifest().spec.blocks {
            true => Transition::to(Block),
            false => Transition::to(Rest),
        })
    }
}
";

/// The handler writes a file to report that it blocks, and then blocks its thread until another file exists.
const BLOCK: &str = r#"use super::{Block, Rest};
use crate::visitor::prelude::*;
use std::{fs, path::PathBuf, thread, time::Duration};

impl State for Block {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let gate = PathBuf::from(std::env::var("IT_GATE").context("IT_GATE")?);
        fs::write(gate.join(cx.name()), "")?;
        while !gate.join("open").exists() {
            thread::sleep(Duration::from_millis(20));
        }
        Ok(Transition::to(Rest))
    }
}
"#;

const HELD: usize = 20;
const OTHERS: usize = 100;

#[test]
fn handlers_that_block_hold_up_nothing_but_their_state() {
    let Some(cluster) = &cluster::own(&[]) else { return };
    let krate = Crate::generate(DESCRIPTION, |dir: &Path| {
        let states = dir.join("src/visitor/states");
        fs::write(states.join("come.rs"), COME).expect("a crate of our own");
        fs::write(states.join("block.rs"), BLOCK).expect("a crate of our own");
    });
    install(&krate, cluster);
    let binary = cluster.dir().join("gatekeeper");
    krate.build(&binary);
    let namespace = cluster.namespace("gates");
    let (gate, log) = (cluster.dir().join("gate"), cluster.dir().join("gatekeeper.log"));
    fs::create_dir(&gate).expect("a folder of our own");
    let _log = ShownOnPanic(&log);
    let start = || {
        let probes = format!("{PROBES}=127.0.0.1:0");
        let lease = "--leader-elect-resource-namespace=gatekeeper-system";
        let args = ["--namespace", &namespace, "--leader-elect", lease, &probes];
        let variables = [("IT_GATE", gate.to_str().expect("a plain name"))];
        OperatorProcess::start_with(cluster, &binary, &args, &log, &variables)
    };
    let create = |name: &str, count: usize, blocks: bool| {
        let visitors = (0..count).map(|number| {
            let metadata = json!({"name": format!("{name}-{number}"), "namespace": namespace});
            json!({"apiVersion": "gates.example.com/v1", "kind": "Visitor", "metadata": metadata, "spec": {"blocks": blocks}})
        });
        let list = json!({"apiVersion": "v1", "kind": "List", "items": visitors.collect::<Vec<_>>()});
        cluster.apply(&list.to_string(), &[]);
    };
    let at_rest = |name: &str| {
        let list = cluster.kubectl(&["get", "visitors", "--namespace", &namespace, "--output=json"]);
        let list: Value = serde_json::from_str(&list).expect("kubectl writes JSON");
        let visitors = list["items"].as_array().into_iter().flatten();
        let of_name = |visitor: &&Value| {
            let own = visitor["metadata"]["name"].as_str().unwrap_or_default();
            own.starts_with(name) && visitor["status"]["state"] == "Rest"
        };
        visitors.filter(of_name).count()
    };

    create("held", HELD, true);
    let operator = start();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    until("handlers block as many threads as they may", || {
        let blocked = fs::read_dir(&gate).expect("a folder of our own").count();
        (blocked == processors.min(HELD)).then_some(())
    });
    create("other", OTHERS, false);
    until("the others are where they want to be", || {
        (at_rest("other") == OTHERS).then_some(())
    });
    assert_eq!(at_rest("held"), 0);
    let address = logged_address(|| fs::read_to_string(&log).unwrap_or_default(), "serving probes");
    assert_eq!(get(&address, "/livez"), (200, "ok\n".to_owned()));

    // Blocked handlers do not delay the end of the process either, and the next process runs them again.
    assert_eq!(operator.terminate().code(), Some(0));
    fs::write(gate.join("open"), "").expect("a folder of our own");
    let operator = start();
    until("the gate is open", || (at_rest("held") == HELD).then_some(()));
    assert_eq!(operator.terminate().code(), Some(0));
}
