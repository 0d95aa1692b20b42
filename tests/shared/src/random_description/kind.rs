//! Random kinds: the resource, its fields, and the other kinds that the operator uses.

use serde_json::{Map, Value, json};

use super::Size;
use super::machine::machine;
use super::names::{Names, text};
use super::resource::{FieldAt, collect, columns, resource};
use super::rules;
use super::schema::{Drawn, Place, Schemas, Shape, as_mapping};
use crate::dice::Dice;

/// The parts of a kind that its states may refer to.
pub struct Surroundings {
    pub conditions: Vec<String>,
    periods: Vec<String>,
    counts: Vec<String>,
    sources: Vec<String>,
    /// Fields of the spec whose changes may have their own rules.
    watched_fields: Vec<String>,
}

impl Surroundings {
    /// A duration, or the path of a field with one.
    pub fn period(&self, durations: &[&str], dice: &mut Dice) -> String {
        match dice.pick(&self.periods) {
            Some(path) if dice.one_in(3) => path.clone(),
            _ => (*dice.among(durations)).to_owned(),
        }
    }

    /// A number of entries, or the path of a field with one.
    pub fn times(&self, dice: &mut Dice) -> Value {
        match dice.pick(&self.counts) {
            Some(path) if dice.one_in(3) => json!(path),
            _ => json!(1 + dice.below(5)),
        }
    }

    /// `gate`. Its schedules are fixed, because random text fields do not contain schedules.
    pub fn gate(&self, dice: &mut Dice) -> Value {
        let mut during = json!({
            "schedule": *dice.among(&["0 22 * * MON-FRI", "*/15 3 1,15 * *", "30 1 * * 5#3"]),
            "duration": *dice.among(&["6h", "45m"]),
        });
        if dice.one_in(2) {
            during["timeZone"] = json!(*dice.among(&["UTC", "Europe/Berlin"]));
        }
        match dice.below(4) {
            0 => json!({"approval": "required"}),
            1 => json!({"approval": "required", "during": during}),
            _ => json!({"during": during}),
        }
    }

    /// `at` of a timeout.
    pub fn slots(&self, dice: &mut Dice) -> Value {
        let mut slots = json!({"schedule": *dice.among(&["0 3 * * *", "*/20 * * * SAT,SUN"])});
        if dice.one_in(2) {
            slots["startingDeadline"] = json!(*dice.among(&["1h", "90s"]));
        }
        if dice.one_in(2) {
            slots["timeZone"] = json!("America/New_York");
        }
        slots
    }

    /// `onSpecChange`, with reactions to single fields that equal the general one.
    pub fn on_spec_change(&self, reactions: &[Value], dice: &mut Dice) -> Value {
        let mut entries = Vec::new();
        let mut paths = self.watched_fields.clone();
        while !paths.is_empty() && dice.one_in(2) {
            let mut of = vec![paths.swap_remove(dice.below(paths.len()))];
            if !paths.is_empty() && dice.one_in(3) {
                of.push(paths.swap_remove(dice.below(paths.len())));
            }
            let of = if of.len() == 1 && dice.one_in(2) {
                json!(of[0])
            } else {
                json!(of)
            };
            entries.push(json!({"of": of, "to": dice.among(reactions)}));
        }
        let rest = dice.among(reactions).clone();
        if entries.is_empty() {
            return rest;
        }
        if !dice.one_in(4) {
            entries.push(rest);
        }
        json!(entries)
    }

    /// `wait`.
    pub fn wait(&self, polls: &[&str], dice: &mut Dice) -> Value {
        let mut wait = json!({});
        let watches = dice.one_in(2);
        if watches {
            let source = dice.among(&self.sources);
            wait["watch"] = if dice.one_in(2) {
                json!([source])
            } else {
                json!(source)
            };
        }
        if !watches || dice.one_in(2) {
            wait["poll"] = json!(self.period(polls, dice));
        }
        wait
    }
}

/// Other kinds that a namespaced object may own, with whether they are builtin.
const OWNED: &[&str] = &[
    "core/v1.ConfigMap",
    "core/v1.Secret",
    "core/v1.Service",
    "apps/v1.Deployment",
    "apps/v1.StatefulSet",
    "batch/v1.Job",
    "core/v1.Pod",
    "core/v1.PersistentVolumeClaim",
    "networking.k8s.io/v1.Ingress",
    "policy/v1.PodDisruptionBudget",
    "cert-manager.io/v1.Certificate",
    "example.org/v1beta1.Widget",
];

const WATCHED: &[&str] = &[
    "core/v1.Node",
    "core/v1.ConfigMap",
    "core/v1.Namespace",
    "storage.k8s.io/v1.StorageClass",
    "core/v1.Pod",
    "apps/v1.ReplicaSet",
    "example.org/v1.Gadget",
    "karpenter.k8s.aws/v1.EC2NodeClass",
];

const KINDS: &[&str] = &[
    "Moose",
    "Herd",
    "Forest",
    "Marsh",
    "Wolf",
    "EC2Fleet",
    "DBCluster",
    "HTTPRoute",
    "Fox",
    "Policy",
    "Box1",
    "Gateway",
    "Lynx",
    "Cherry",
    "K",
    "Local",
    "Error",
    "States",
];

/// A kind as a document, without the keys of the first document.
pub fn kind(
    size: Size,
    schemas: &mut Schemas,
    types: &Names,
    described: &mut Vec<(String, String, bool)>,
    dice: &mut Dice,
) -> Map<String, Value> {
    let place = Place {
        depth: size.depth,
        count: 1,
        is_field: true,
        has_former: true,
    };
    let mut spec_names = Names::default();
    spec_names.take("validations");
    let spec = schemas.further_fields(place, true, &mut spec_names, dice);
    let mut status_names = Names::default();
    for taken in [
        "state",
        "phase",
        "message",
        "entry",
        "stateEnteredTime",
        "attempts",
        "entries",
        "ask",
        "firedTimeouts",
        "observedGeneration",
        "lastHandledRequest",
        "conditions",
        "machineStatus",
    ] {
        status_names.take(taken);
    }
    let status = schemas.further_fields(place, true, &mut status_names, dice);
    let mut found = Vec::new();
    collect(".spec", &spec, true, false, &mut found);
    collect(".status", &status, true, false, &mut found);

    let mut document = Map::new();
    let name = loop {
        let name = (*dice.among(KINDS)).to_owned();
        if types.clone().take(&name) && described.iter().all(|(_, other, _)| *other != name) {
            break name;
        }
    };
    let group = *dice.among(&["animals.com", "a.b", "deep.group.example.com"]);
    let is_cluster = dice.one_in(3);
    described.push((format!("{group}/v1.{name}"), name.clone(), is_cluster));
    if dice.one_in(2) {
        document.insert("doc".into(), json!(text(dice)));
    }
    document.insert(
        "resource".into(),
        resource(group, &name, is_cluster, &found, dice),
    );

    let mut spec_node: Map<String, Value> = spec
        .iter()
        .map(|(name, field)| (name.clone(), field.node.clone()))
        .collect();
    let mut frozen = Vec::new();
    changes(".spec", &spec, &mut spec_node, &mut frozen);
    if dice.one_in(3) {
        let whole = Drawn {
            node: Value::Null,
            shape: Shape::Object(spec.clone()),
            value: None,
            may_be_absent: false,
            nullable: false,
            bounded: false,
        };
        let rules = rules::rules(&whole, true, dice);
        if !rules.is_empty() {
            spec_node.insert("validations".into(), rules.into());
        }
    }
    let by_name = schemas
        .named
        .iter()
        .filter(|(_, drawn)| matches!(drawn.shape, Shape::Object(_)) && !drawn.nullable);
    let by_name: Vec<&String> = by_name.map(|(name, _)| name).collect();
    match dice.pick(&by_name).filter(|_| dice.one_in(10)) {
        Some(name) => {
            // Paths into `.spec` would differ from those of the type.
            found.retain(|field| field.path.starts_with(".status"));
            document["resource"]
                .as_object_mut()
                .expect("a mapping")
                .retain(|key, _| !["scale", "selectableFields"].contains(&key.as_str()));
            let optional = if dice.one_in(3) { "optional " } else { "" };
            document.insert("spec".into(), json!(format!("{optional}{name}")));
        }
        None => {
            document.insert("spec".into(), Value::Object(spec_node));
        }
    }
    if !status.is_empty() {
        let status = status
            .iter()
            .map(|(name, field)| (name.clone(), field.node.clone()))
            .collect();
        document.insert("status".into(), Value::Object(status));
    }
    if dice.one_in(2) {
        document.insert("columns".into(), columns(&found, dice));
    }
    let mut condition_names = Names::default();
    for standard in ["Ready", "Reconciling", "Stalled", "Paused"] {
        condition_names.take(standard);
    }
    let conditions: Vec<String> = (0..dice.below(4)).map(|_| condition_names.pascal(dice)).collect();
    if !conditions.is_empty() {
        let written = conditions
            .iter()
            .map(|name| (name.clone(), json!(text(dice))))
            .collect();
        document.insert("conditions".into(), Value::Object(written));
    }
    let mut sources = vec!["self".to_owned()];
    others(&mut document, is_cluster, &found, described, &mut sources, dice);
    if dice.one_in(8) {
        document.insert(
            "allow".into(),
            json!({"duplicate-phase": "users see fewer phases"}),
        );
    }
    let paths = |wanted: fn(&Shape) -> bool| -> Vec<String> {
        let found = found
            .iter()
            .filter(|field| !field.is_in_list && wanted(&field.shape));
        found.map(|field| field.path.clone()).collect()
    };
    let around = Surroundings {
        conditions,
        periods: paths(|shape| matches!(shape, Shape::Duration | Shape::DateTime | Shape::Integer)),
        counts: paths(|shape| matches!(shape, Shape::Integer)),
        sources,
        watched_fields: {
            let mut paths = paths(|_| true);
            paths.retain(|path| path.starts_with(".spec.") && !frozen.contains(path));
            paths
        },
    };
    let mut state_names = types.clone();
    for (_, kind, _) in described.iter() {
        for ending in ["", "Spec", "Status", "Machine", "State", "Operator"] {
            state_names.take(&format!("{kind}{ending}"));
        }
    }
    document.extend(machine(size.states, &mut state_names, &around, dice));
    if let Some(admission) = admission(&document) {
        document.insert("admission".into(), admission);
    }
    if document["machine"]["deletion"].is_string() {
        outlive(document.get_mut("owns"), dice);
    }
    document
}

/// `admission` of kinds with many states, which protects the first one unless it is final. Random numbers would change
/// the results of all later ones.
fn admission(document: &Map<String, Value>) -> Option<Value> {
    let (machine, states) = (&document["machine"], document["states"].as_object()?);
    let first = machine["initial"].as_str()?;
    if states.len() % 2 == 1 {
        return Some(json!({"transitions": true}));
    }
    let mut admission = json!({"status": "operator", "transitions": true});
    if states[first]["kind"] != "final" && machine["deletion"] != first {
        admission["protect"] = json!({"states": [first]});
    }
    Some(admission)
}

/// Makes some owned kinds outlive the deletion path.
fn outlive(owns: Option<&mut Value>, dice: &mut Dice) {
    for owned in owns.and_then(Value::as_array_mut).into_iter().flatten() {
        let deletion = dice.pick(&["owner", "last", "keep"]).copied();
        if let Some(deletion) = deletion.filter(|_| dice.one_in(2)) {
            if let Value::String(kind) = owned {
                *owned = json!({"kind": kind});
            }
            owned["deletion"] = json!(deletion);
        }
    }
}

/// Restricts the changes of some fields, by their names: random numbers would change the results of all later ones.
/// `frozen` gets the paths of the immutable ones.
fn changes(path: &str, fields: &[(String, Drawn)], nodes: &mut Map<String, Value>, frozen: &mut Vec<String>) {
    // Transition rules do not support all names in paths.
    let is_in_cel = |c: char| c.is_ascii_alphanumeric() || "_.-/".contains(c);
    let is_written =
        |name: &str| name.chars().all(is_in_cel) && !name.starts_with(|c: char| c.is_ascii_digit());
    for (name, field) in fields.iter().filter(|(name, _)| is_written(name)) {
        let Some(node) = nodes.get_mut(name) else { continue };
        let (path, chosen) = (format!("{path}.{name}"), name.len() % 4);
        if let (Shape::Object(fields), Some(Value::Object(inner))) =
            (&field.shape, node.get_mut("properties"))
        {
            changes(&path, fields, inner, frozen);
        }
        let values: Vec<&str> = match node.get("enum").and_then(Value::as_array) {
            Some(values) => values.iter().filter_map(Value::as_str).collect(),
            None => Vec::new(),
        };
        let is_plain = matches!(
            field.shape,
            Shape::String | Shape::Boolean | Shape::Integer | Shape::Enum
        );
        let (key, value) = match (chosen, values.as_slice()) {
            (0 | 1, [first, rest @ ..]) => ("transition", json!({*first: rest})),
            (0, _) if is_plain => ("immutable", json!(true)),
            (1, _) if is_plain => ("onceSet", json!(true)),
            _ => continue,
        };
        if key == "immutable" {
            frozen.push(path);
        }
        let mut mapping = as_mapping(node);
        mapping.insert(key.to_owned(), value);
        *node = Value::Object(mapping);
    }
}

/// `owns`, `watches` and `access`.
fn others(
    document: &mut Map<String, Value>,
    is_cluster: bool,
    found: &[FieldAt],
    described: &[(String, String, bool)],
    sources: &mut Vec<String>,
    dice: &mut Dice,
) {
    let mut owned: Vec<&str> = OWNED.iter().copied().filter(|_| dice.one_in(5)).collect();
    if !owned.is_empty() {
        sources.extend(["owned".to_owned(), owned[0].to_owned()]);
        // A kind of this file may be owned, too, if the scopes are compatible.
        if let Some((other, _, other_is_cluster)) = dice.pick(&described[..described.len() - 1])
            && (is_cluster || !other_is_cluster)
        {
            owned.push(other);
        }
        let owned: Vec<Value> = owned
            .iter()
            .map(|kind| match kind.split_once(".Widget") {
                Some(_) if dice.one_in(2) => {
                    json!({"kind": kind, "plural": "widgetry", "scope": "Namespaced"})
                }
                Some(_) => json!({"kind": kind, "plural": "widgetry"}),
                None => json!(kind),
            })
            .collect();
        document.insert("owns".into(), owned.into());
    }
    let watched: Vec<&str> = WATCHED.iter().copied().filter(|_| dice.one_in(5)).collect();
    let names: Vec<&FieldAt> = found
        .iter()
        .filter(|field| matches!(field.shape, Shape::String | Shape::Enum))
        .collect();
    let mut watches = Vec::new();
    for kind in watched {
        let mut watch = json!({"kind": kind});
        match (dice.below(4), dice.pick(&names)) {
            (0, Some(field)) => watch["by"] = json!(field.path),
            (1, _) => watch["by"] = json!(".metadata.labels.animals\\.com/herd"),
            (2, _) => watch["label"] = json!("example.com/app"),
            _ => watch["all"] = json!(true),
        }
        if watch.get("by").is_some() && (is_cluster || dice.one_in(3)) {
            let by_field = dice
                .pick(&names)
                .filter(|field| !field.is_in_list && dice.one_in(2));
            watch["namespace"] = by_field.map_or(json!("kube-system"), |field| json!(field.path));
        }
        if kind.starts_with("example.org") {
            watch["plural"] = json!("gadgetry");
            if dice.one_in(2) {
                watch["scope"] = json!("Namespaced");
            }
        }
        sources.push(kind.to_owned());
        watches.push(watch);
    }
    if !watches.is_empty() {
        sources.push("watched".to_owned());
        document.insert("watches".into(), watches.into());
    }
    if dice.one_in(3) {
        let access = json!([
            {"kind": "core/v1.Node", "scope": "Cluster", "verbs": ["get", "list"]},
            {"kind": "core/v1.Pod", "verbs": ["create"], "resource": *dice.among(&["pods/eviction", "pods/log", "bindings"])},
        ]);
        document.insert("access".into(), access);
    }
}
