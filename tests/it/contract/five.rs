//! Five descriptions as one operator that is told what to do: every handler tells of its start, and then does what its
//! object's annotation says, or what dice say where there is none.

use crate::accept::documents;
use crate::cluster::watch::Watch;
use crate::cluster::{self, Cluster};
use crate::operator::{Crate, Operator, files};
use krator::graph::{EdgeKind, StateGraph};
use krator::model::{Description, Kind, Scope, State, StateId, StateKind};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The first names the operator.
const CASES: [&str; 5] = ["moose", "backup", "postgresql", "order", "helmrelease"];

/// What scripted handlers have in common; compiled into the operator.
const SCRIPT: &str = include_str!("five/script.rs");

/// The operator and where its objects live: a control plane with its kinds, those that it watches, and its rights.
pub struct Five {
    pub cluster: &'static Cluster,
    pub description: Description,
    binary: PathBuf,
    samples: Vec<Value>,
}

/// Built once in a run; it ends with this process. None without an API server.
pub fn prepared() -> Option<&'static Five> {
    static PREPARED: OnceLock<Five> = OnceLock::new();
    let assets = cluster::assets()?;
    Some(PREPARED.get_or_init(|| {
        let cluster: &'static Cluster = Box::leak(Box::new(Cluster::start(&assets)));
        let text = text();
        let checked = krator::check("krator.yaml", text.as_bytes());
        let description = checked.description.expect("good descriptions are good together");
        let krate = Crate::generate(&text, |dir| script(dir, &description));
        krate.install(cluster);
        install_others(cluster, &description);
        let binary = cluster.dir().join("five");
        krate.build_with(&binary, &["--features", "krator-runtime/faults"]);
        let sample = fs::read(krate.dir().join("deploy/sample.yaml")).expect("generated");
        let samples = documents(&sample);
        assert_eq!(samples.len(), description.kinds.len());
        Five {
            cluster,
            description,
            binary,
            samples,
        }
    }))
}

/// The descriptions in one file, with durations of tenths of a second.
fn text() -> String {
    let texts = CASES.map(|case| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("testdata/ok")
            .join(case)
            .join("spec.yaml");
        let text = fs::read_to_string(path).expect("a case has a description");
        let of_the_file = |line: &&str| {
            let is_first = case == CASES[0];
            is_first || !(line.starts_with("operator:") || line.starts_with("deploy:"))
        };
        let lines = text.lines().filter(of_the_file).map(quickened);
        lines.collect::<Vec<String>>().join("\n")
    });
    texts.join("\n---\n")
}

/// A line of a description whose times of the machine are short. Ten retries are over before a timeout is.
fn quickened(line: &str) -> String {
    let mut quick = line.to_owned();
    for (key, short) in [
        ("poll", "500ms"),
        ("after", "4s"),
        ("initial", "100ms"),
        ("max", "200ms"),
    ] {
        let Some(at) = quick.find(&format!("{key}: ")) else {
            continue;
        };
        let begin = at + key.len() + 2;
        let end = quick[begin..]
            .find([',', '}', ' '])
            .map_or(quick.len(), |end| begin + end);
        // A state may be called `initial`, and a field may tell a time.
        if krator::model::parse_duration(&quick[begin..end]).is_some() {
            quick.replace_range(begin..end, short);
        }
    }
    quick
}

/// Replaces each handler by one that does as it is told.
fn script(dir: &Path, description: &Description) {
    let write = |path: &Path, text: &str| fs::write(path, text).expect("a generated folder");
    let replace = |path: &str, from: &str, to: &str| {
        let path = dir.join(path);
        let text = fs::read_to_string(&path).expect("generated");
        assert!(text.contains(from), "no {from:?} in {path:?} any more");
        write(&path, &text.replace(from, to));
    };
    write(&dir.join("src/script.rs"), SCRIPT);
    replace(
        "src/lib.rs",
        "pub mod shared;",
        "pub mod script;\npub mod shared;",
    );
    // The crate's tests have it; here its handlers need it too.
    replace("Cargo.toml", "[dev-dependencies]\n", "");
    let mut replaced = 0;
    for (path, text) in files(&dir.join("src")) {
        let text = String::from_utf8(text).expect("generated");
        let Some((_, rest)) = text.split_once("impl State for ") else {
            continue;
        };
        let name = rest.split(' ').next().unwrap_or_default();
        let module = path.components().next().expect("a kind's folder");
        let module = module.as_os_str().to_str().expect("a plain name");
        let of_module = |kind: &&Kind| {
            let folder = kind.resource.kind.as_str().to_lowercase();
            folder == module.replace('_', "")
        };
        let kind = description.kinds.iter().find(of_module).expect("a folder a kind");
        let state = kind.state(kind.state_named(name).expect("a handler a state"));
        write(&dir.join("src").join(&path), &handler(kind, state, module));
        replaced += 1;
    }
    let states: usize = description.kinds.iter().map(|kind| kind.states.len()).sum();
    assert_eq!(replaced, states, "a handler a state");
}

fn handler(kind: &Kind, state: &State, module: &str) -> String {
    let name = state.name.as_str();
    let nexts: Vec<&str> = state
        .next
        .iter()
        .map(|next| kind.state(next.to.value).name.as_str())
        .collect();
    let arms: Vec<String> = nexts
        .iter()
        .map(|next| format!("            Some({next:?}) => Transition::to({next}),\n"))
        .collect();
    let rest = match (state.may_stay(), nexts.first()) {
        (true, _) => "Transition::stay()".to_owned(),
        (false, Some(next)) => format!("Transition::to({next})"),
        (false, None) => "Transition::done()".to_owned(),
    };
    let kind_of = state.kind.value.as_str();
    let imports = [&[name], &nexts[..]].concat().join(", ");
    format!(
        "use super::{{{imports}}};\nuse crate::{module}::prelude::*;\n\n\
         impl State for {name} {{\n    \
             async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {{\n        \
                 Ok(match crate::script::way(cx, {name:?}, {kind_of:?}, &{nexts:?}, {may_stay}).await? {{\n\
                 {arms}            _ => {rest},\n        \
                 }})\n    \
             }}\n\
         }}\n",
        may_stay = state.may_stay(),
        arms = arms.concat(),
    )
}

/// The kinds that the operator looks at and that neither Kubernetes nor the description has.
fn install_others(cluster: &Cluster, description: &Description) {
    let owned = description
        .kinds
        .iter()
        .flat_map(|kind| &kind.owns)
        .map(|owned| &owned.kind.value);
    let watched = description
        .kinds
        .iter()
        .flat_map(|kind| &kind.watches)
        .map(|watch| &watch.kind.value);
    for kind in owned
        .chain(watched)
        .filter(|kind| !kind.has_type && kind.described.is_none())
    {
        let (plural, name) = (kind.plural.as_str(), kind.kind.as_str());
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{}", kind.group)},
            "spec": {
                "group": kind.group,
                "scope": "Namespaced",
                "names": {"kind": name, "plural": plural, "singular": name.to_lowercase()},
                "versions": [{
                    "name": kind.version, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                }],
            },
        });
        cluster.apply(&crd.to_string(), &[]);
    }
}

impl Five {
    /// A kind of the description.
    pub fn kind(&self, name: &str) -> &Kind {
        let mut kinds = self.description.kinds.iter();
        kinds
            .find(|kind| kind.resource.kind.as_str() == name)
            .expect("one of the five")
    }

    /// An object to be created: the sample of its kind, with a script, if it is not to throw dice.
    pub fn object(&self, kind: &Kind, namespace: &str, name: &str, script: Option<&str>) -> Value {
        let sample = self
            .samples
            .iter()
            .find(|sample| sample["kind"] == kind.resource.kind.as_str());
        let mut object = sample.expect("a sample a kind").clone();
        object["metadata"] = json!({"name": name, "namespace": namespace});
        if let Some(script) = script {
            object["metadata"]["annotations"] = json!({"script": script});
        }
        object
    }

    /// A change of an object's spec, another one for each number; none for a kind whose spec never changes.
    pub fn change(&self, kind: &Kind, number: u64) -> Option<String> {
        let spec = match kind.resource.kind.as_str() {
            "Moose" => json!({"weight": 400 + number % 100}),
            "Backup" => json!({"ttl": format!("{}h", 1 + number % 100)}),
            "Postgresql" => json!({"numberOfInstances": number % 100}),
            "HelmRelease" => json!({"interval": format!("{}m", 1 + number % 50)}),
            _ => return None,
        };
        Some(json!({"spec": spec}).to_string())
    }

    /// Creates objects.
    pub fn create(&self, objects: &[Value]) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        self.cluster.apply(&list.to_string(), &[]);
    }

    /// Watches the objects of a kind in a namespace.
    pub fn watch(&self, kind: &Kind, namespace: &str) -> Watch {
        assert_eq!(kind.resource.scope.value, Scope::Namespaced);
        let (group, version) = (kind.resource.group.as_str(), kind.resource.version.as_str());
        let plural = kind.resource.plural.as_str();
        Watch::start(
            self.cluster,
            &format!("/apis/{group}/{version}/namespaces/{namespace}/{plural}"),
        )
    }

    /// Starts the operator for a namespace. Its handlers write of their starts into `starts`.
    pub fn start(&self, namespace: &str, files: &Files, faults: &Value) -> Operator {
        let starts = files.starts.to_str().expect("a plain name");
        let faults = faults.to_string();
        Operator::start_with(
            self.cluster,
            &self.binary,
            &["run", "--namespace", namespace],
            &files.log,
            &[("KRATOR_FAULTS", &faults), ("KRATOR_STARTS", starts)],
        )
    }
}

/// Where an operator of a test leaves its traces.
pub struct Files {
    pub log: PathBuf,
    /// Starts of handlers, a line each: entry, state, uid and process.
    pub starts: PathBuf,
}

impl Files {
    /// For a test of this name.
    pub fn new(cluster: &Cluster, test: &str) -> Files {
        Files {
            log: cluster.dir().join(format!("{test}.log")),
            starts: cluster.dir().join(format!("{test}.starts")),
        }
    }

    /// What handlers have told so far.
    pub fn told(&self) -> String {
        fs::read_to_string(&self.starts).unwrap_or_default()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the operator's log\n{}", cluster::tail(&self.log));
        }
    }
}

/// How an object comes to a state.
#[derive(Clone, Default)]
pub struct Route {
    /// What its handlers are to do.
    pub script: String,
    /// Whether its spec has to be changed, once it is at rest.
    pub is_changed: bool,
    /// Whether it has to be deleted.
    pub is_deleted: bool,
}

/// The shortest way to a state that does without limits and restarts.
pub fn route(kind: &Kind, to: StateId) -> Option<Route> {
    let graph = StateGraph::of(kind);
    let name = |id: StateId| kind.state(id).name.as_str();
    let mut routes = vec![(kind.machine.initial.value, Route::default())];
    let mut at = 0;
    while let Some((here, route)) = routes.get(at).cloned() {
        if here == to {
            return Some(route);
        }
        let rests = matches!(kind.state(here).kind.value, StateKind::Ready | StateKind::Failed);
        for step in graph.leaving(here) {
            let directive = match step.edge.kind {
                EdgeKind::Next => name(step.to),
                EdgeKind::Timeout => "hang",
                EdgeKind::Retry => "fail",
                EdgeKind::SpecChange if rests => "stay",
                EdgeKind::Deletion | EdgeKind::OnDelete => "stay",
                EdgeKind::Limit | EdgeKind::SpecChange | EdgeKind::Resume => continue,
            };
            if routes.iter().all(|(known, _)| *known != step.to) {
                let next = Route {
                    script: format!("{}{}>{directive},", route.script, name(here)),
                    is_changed: route.is_changed || step.edge.kind == EdgeKind::SpecChange,
                    is_deleted: route.is_deleted || step.edge.kind.is_deletion(),
                };
                routes.push((step.to, next));
            }
        }
        at += 1;
    }
    None
}
