//! Operators of several descriptions, whose handlers follow the scripts of tests: each records its start, and then
//! follows the annotation `script` of its object, or random choices without a script.

mod handlers;
mod recipe;
mod route;
mod scripted;

pub use recipe::Text;
pub use route::{Action, Route, route};

use crate::cluster::watch::Watch;
use crate::cluster::{self, Cluster};
use crate::joint::Joint;
use crate::operator::{Crate, OperatorProcess, install};
use crate::yaml::documents;
use krator::model::{Description, Kind, ObjectKind, Scope, State};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The recipe for an operator.
pub struct Recipe {
    /// Its description.
    pub text: Text,
    /// The first statements of a state's handler, in Rust.
    pub first: fn(&Kind, &State) -> String,
    /// Builds the crate as a binary.
    pub build: fn(&Crate, &Path),
}

/// The operator of the contract tests, with injected faults.
const CONTRACT: Recipe = Recipe {
    text: recipe::CONTRACT,
    first: scripted::says_which_run,
    build: Crate::build_with_faults,
};

/// A built operator, for any number of clusters.
pub struct Program {
    pub description: Description,
    binary: PathBuf,
    samples: Vec<Value>,
}

/// The scripted operator and its cluster: a control plane with its kinds, the kinds that it watches, and its rights.
pub struct ScriptedOperator {
    pub cluster: Cluster,
    pub program: Program,
}

/// The scripted operator of the contract tests, shared by concurrent tests. None without an API server.
pub fn prepared() -> Option<Arc<ScriptedOperator>> {
    static PREPARED: Joint<ScriptedOperator> = Joint::new();
    PREPARED.get(|| {
        let cluster = cluster::own(&[])?;
        let (program, krate) = Program::build(&CONTRACT, cluster.dir());
        program.install(&krate, &cluster);
        Some(ScriptedOperator { cluster, program })
    })
}

impl Program {
    /// Generates the operator, and builds it in a folder.
    pub fn build(recipe: &Recipe, folder: &Path) -> (Program, Crate) {
        let text = recipe.text.joined(krator_tests::root());
        let checked = krator::check("krator.yaml", text.as_bytes());
        let description = checked.description.expect("good descriptions are good together");
        let krate = Crate::generate(&text, |dir| handlers::replace(dir, &description, recipe.first));
        let sample = fs::read(krate.dir().join("deploy/sample.yaml")).expect("generated");
        let samples = documents(&sample);
        assert_eq!(samples.len(), description.kinds.len());
        let binary = folder.join(recipe.text.operator);
        (recipe.build)(&krate, &binary);
        let program = Program {
            description,
            binary,
            samples,
        };
        (program, krate)
    }

    /// Installs the operator's kinds, the kinds that it owns or watches, and its rights.
    pub fn install(&self, krate: &Crate, cluster: &Cluster) {
        install(krate, cluster);
        for definition in foreign_kinds(&self.description) {
            cluster.apply(&definition.to_string(), &[]);
        }
    }

    /// A new object: the sample of its kind. Without a script, its handlers choose at random.
    pub fn object(&self, kind: &Kind, namespace: &str, name: &str, script: Option<&str>) -> Value {
        let sample = self
            .samples
            .iter()
            .find(|sample| sample["kind"] == kind.resource.kind.as_str());
        let mut object = sample.expect("a sample for each kind").clone();
        object["metadata"] = json!({"name": name});
        if kind.resource.scope.value == Scope::Namespaced {
            object["metadata"]["namespace"] = namespace.into();
        }
        if let Some(script) = script {
            object["metadata"]["annotations"] = json!({"script": script});
        }
        object
    }

    /// A merge patch of an object's spec, which differs for each number. None for a kind whose spec must not change.
    pub fn change(&self, kind: &Kind, number: usize) -> Option<String> {
        change(kind, number)
    }

    /// Starts the operator in a cluster for a namespace, with these arguments and environment variables.
    pub fn start(
        &self,
        cluster: &Cluster,
        namespace: &str,
        files: &Files,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> OperatorProcess {
        let starts = files.starts.to_str().expect("a plain name");
        OperatorProcess::start_with(
            cluster,
            &self.binary,
            &[&["run", "--namespace", namespace], arguments].concat(),
            &files.log,
            &[&[("KRATOR_STARTS", starts)], variables].concat(),
        )
    }
}

/// A merge patch of an object's spec, which differs for each number. None for a kind whose spec must not change.
pub fn change(kind: &Kind, number: usize) -> Option<String> {
    let spec = match kind.resource.kind.as_str() {
        "AnalysisRun" => json!({"ttlAfterCompletion": format!("{}h", 1 + number % 100)}),
        "Backup" => json!({"ttl": format!("{}h", 1 + number % 100)}),
        "BareMetalHost" => {
            json!({"bmc": {"address": format!("ipmi://{number}"), "credentialsName": "bmc"}})
        }
        "ClusterExternalSecret" => json!({"namespaces": [format!("n{number}")]}),
        "CronJob" => json!({"startingDeadlineSeconds": number}),
        "ExternalSecret" => json!({"secretStore": format!("store-{number}")}),
        "HelmRelease" => json!({"interval": format!("{}m", 1 + number % 50)}),
        "Memcached" => json!({"size": 2 + number % 2}),
        "Moose" => json!({"weight": 400 + number % 100}),
        "NodePool" => json!({"replicas": number}),
        "Postgresql" => json!({"numberOfInstances": number % 100}),
        "Rollout" => json!({"revisionHistoryLimit": number}),
        "TaskRun" => json!({"statusMessage": format!("message {number}")}),
        _ if kind.resource.group.as_str() == "t.example.com" => json!({"x": number.to_string()}),
        _ => return None,
    };
    Some(json!({"spec": spec}).to_string())
}

/// CRDs for the kinds that the operator owns or watches, if neither Kubernetes nor the description defines them.
pub fn foreign_kinds(description: &Description) -> Vec<Value> {
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
    let foreign = owned
        .chain(watched)
        .filter(|kind| !kind.has_type && kind.described.is_none());
    let definition = |kind: &ObjectKind| {
        let (plural, name) = (kind.plural.as_str(), kind.kind.as_str());
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        json!({
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
        })
    };
    foreign.map(definition).collect()
}

impl ScriptedOperator {
    /// A kind of the description.
    pub fn kind(&self, name: &str) -> &Kind {
        let mut kinds = self.program.description.kinds.iter();
        kinds
            .find(|kind| kind.resource.kind.as_str() == name)
            .expect("a kind of the descriptions")
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
            &self.cluster,
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
        self.program
            .start(&self.cluster, namespace, files, arguments, variables)
    }
}

/// The files that the operators of a test write.
pub struct Files {
    pub log: PathBuf,
    /// The starts of handlers, one per line: entry, state, uid of the object and process ID.
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

    /// The recorded starts of handlers so far.
    pub fn handler_starts(&self) -> String {
        fs::read_to_string(&self.starts).unwrap_or_default()
    }

    /// The number of handlers that a process has started.
    pub fn starts_of(&self, process: u32) -> usize {
        let process = format!(" {process}");
        let starts = self.handler_starts();
        starts.lines().filter(|line| line.ends_with(&process)).count()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the operator's log\n{}", cluster::tail(&self.log));
        }
    }
}
