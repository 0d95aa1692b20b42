//! One operator of five descriptions, whose handlers do what a test wants: each records its start, and then does what the
//! annotation `script` of its object says, or what dice say where there is no script.

use crate::accept::documents;
use crate::cluster::watch::Watch;
use crate::cluster::{self, Cluster};
use crate::operator::{Crate, OperatorProcess, files};
use krator::graph::{EdgeKind, StateGraph};
use krator::model::{Description, Kind, Scope, State, StateId, StateKind};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The descriptions, by their folders in `testdata/ok/`. The first one names the operator.
const CASES: [&str; 5] = ["moose", "backup", "postgresql", "order", "helmrelease"];

/// What the handlers have in common. It is compiled into the operator.
const SCRIPT: &str = include_str!("scripted_operator/script.rs");

/// The operator and where its objects live: a control plane that has its kinds, the kinds that it watches, and its rights.
pub struct ScriptedOperator {
    pub cluster: &'static Cluster,
    pub description: Description,
    binary: PathBuf,
    samples: Vec<Value>,
}

/// The scripted operator, which is built once in a test run. Its control plane ends with this process. None without an
/// API server.
pub fn prepared() -> Option<&'static ScriptedOperator> {
    static PREPARED: OnceLock<ScriptedOperator> = OnceLock::new();
    cluster::assets()?;
    Some(PREPARED.get_or_init(|| {
        let cluster = cluster::own(&[]).expect("there are binaries");
        let text = joined_descriptions();
        let checked = krator::check("krator.yaml", text.as_bytes());
        let description = checked.description.expect("good descriptions are good together");
        let krate = Crate::generate(&text, |dir| replace_handlers(dir, &description));
        krate.install(cluster);
        install_foreign_kinds(cluster, &description);
        let binary = cluster.dir().join("scripted-operator");
        krate.build_with(&binary, &["--features", "krator-runtime/faults"]);
        let sample = fs::read(krate.dir().join("deploy/sample.yaml")).expect("generated");
        let samples = documents(&sample);
        assert_eq!(samples.len(), description.kinds.len());
        ScriptedOperator {
            cluster,
            description,
            binary,
            samples,
        }
    }))
}

/// The descriptions in one file, with their durations shortened.
fn joined_descriptions() -> String {
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
        let lines = text.lines().filter(of_the_file).map(with_short_durations);
        lines.collect::<Vec<String>>().join("\n")
    });
    texts.join("\n---\n")
}

/// A line of a description, with polls, timeouts and backoffs shortened so that a test need not wait for them. Ten retries
/// still take less time than a timeout.
fn with_short_durations(line: &str) -> String {
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
        // Only durations are replaced: a state may be called `initial`, and a period may be read from a field.
        if krator::model::parse_duration(&quick[begin..end]).is_some() {
            quick.replace_range(begin..end, short);
        }
    }
    quick
}

/// Replaces each generated handler by one that follows the script of its object.
fn replace_handlers(dir: &Path, description: &Description) {
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
    // The dependencies of the crate's tests become dependencies of its handlers.
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
        let kind = description
            .kinds
            .iter()
            .find(of_module)
            .expect("a folder for each kind");
        let state = kind.state(kind.state_named(name).expect("a handler for each state"));
        write(&dir.join("src").join(&path), &handler(kind, state, module));
        replaced += 1;
    }
    let states: usize = description.kinds.iter().map(|kind| kind.states.len()).sum();
    assert_eq!(replaced, states, "each state has one handler");
}

/// The source of a state's handler. `script::next_state` names the state to go to, and the handler turns that into a
/// transition, whose type names the state; it falls back to staying, the first edge, or being done.
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
                 Ok(match crate::script::next_state(cx, {name:?}, {kind_of:?}, &{nexts:?}, {may_stay}).await? {{\n\
                 {arms}            _ => {rest},\n        \
                 }})\n    \
             }}\n\
         }}\n",
        may_stay = state.may_stay(),
        arms = arms.concat(),
    )
}

/// Installs CRDs for the kinds that the operator owns or watches and that neither Kubernetes nor the description defines.
fn install_foreign_kinds(cluster: &Cluster, description: &Description) {
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

impl ScriptedOperator {
    /// A kind of the description.
    pub fn kind(&self, name: &str) -> &Kind {
        let mut kinds = self.description.kinds.iter();
        kinds
            .find(|kind| kind.resource.kind.as_str() == name)
            .expect("a kind of the five descriptions")
    }

    /// An object to be created: the sample of its kind. With a script, its handlers follow that, else they throw dice.
    pub fn object(&self, kind: &Kind, namespace: &str, name: &str, script: Option<&str>) -> Value {
        let sample = self
            .samples
            .iter()
            .find(|sample| sample["kind"] == kind.resource.kind.as_str());
        let mut object = sample.expect("a sample for each kind").clone();
        object["metadata"] = json!({"name": name, "namespace": namespace});
        if let Some(script) = script {
            object["metadata"]["annotations"] = json!({"script": script});
        }
        object
    }

    /// A merge patch of an object's spec, a different one for each number. None for a kind whose spec may not change.
    pub fn change(&self, kind: &Kind, number: usize) -> Option<String> {
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

    /// Starts the operator for a namespace, with these arguments. It injects `faults`, and its handlers record their starts
    /// in `files.starts`.
    pub fn start(
        &self,
        namespace: &str,
        files: &Files,
        faults: &Value,
        arguments: &[&str],
    ) -> OperatorProcess {
        self.start_with(
            namespace,
            files,
            arguments,
            &[("KRATOR_FAULTS", &faults.to_string())],
        )
    }

    /// Starts the operator for a namespace, with these arguments and environment variables.
    pub fn start_with(
        &self,
        namespace: &str,
        files: &Files,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> OperatorProcess {
        let starts = files.starts.to_str().expect("a plain name");
        OperatorProcess::start_with(
            self.cluster,
            &self.binary,
            &[&["run", "--namespace", namespace], arguments].concat(),
            &files.log,
            &[&[("KRATOR_STARTS", starts)], variables].concat(),
        )
    }
}

/// The files that the operators of a test write.
pub struct Files {
    pub log: PathBuf,
    /// The starts of handlers, one a line: entry, state, uid of the object and process ID.
    pub starts: PathBuf,
}

impl Files {
    /// The files of a test of this name.
    pub fn new(cluster: &Cluster, test: &str) -> Files {
        Files {
            log: cluster.dir().join(format!("{test}.log")),
            starts: cluster.dir().join(format!("{test}.starts")),
        }
    }

    /// The starts of handlers that were recorded so far.
    pub fn handler_starts(&self) -> String {
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

/// What has to be done so that an object comes to a state.
#[derive(Clone, Default)]
pub struct Route {
    /// The script that its handlers have to follow.
    pub script: String,
    /// Whether its spec has to be changed, once the object is at rest.
    pub is_changed: bool,
    /// Whether the object has to be deleted.
    pub is_deleted: bool,
}

/// The shortest path to a state among those that need no limit to be passed and no restart. None when there is none.
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
