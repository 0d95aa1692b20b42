//! The manifests for platform teams: the chart, kustomize and `dist/install.yaml` contain the same objects, for every
//! description. Helm and kubectl render them.

mod alerts;
mod helm;

use crate::cluster::{assets, say};
use crate::descriptions::cases;
use crate::dice::{Dice, number};
use crate::random_description::{Size, describe};
use crate::yaml::documents;
use krator::model::Extra;
use krator::render::{Runtime, plan};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Kind, namespace and name.
type Key = (String, String, String);
type Objects = BTreeMap<Key, Value>;

/// Labels that a chart adds to the objects of kustomize. It also adds the annotation that keeps a definition.
const LABELS: [&str; 4] = [
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "app.kubernetes.io/version",
    "helm.sh/chart",
];
const KEPT: &str = "helm.sh/resource-policy";

/// Optional parts, which not every cluster supports: the component of kustomize, and the value of the chart.
const COMPONENTS: [(&str, &str); 3] = [
    ("network-policy", "networkPolicy.enabled"),
    ("monitoring", "prometheus.enabled"),
    ("cert-manager", "certManager.enabled"),
];

/// A command that checks generated files. None, with a message, if it is missing.
pub(super) fn tool(name: &str) -> Option<PathBuf> {
    let path = assets()?.join(name);
    if !path.exists() {
        say(&format!("{name}: skipped: {} is not there", path.display()));
    }
    path.exists().then_some(path)
}

/// Runs a command and returns what it prints.
fn run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout).expect("it prints text")
}

fn by_name(objects: Vec<Value>) -> Objects {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let named = objects
        .into_iter()
        .filter(|object| !object.is_null())
        .map(|object| {
            let metadata = &object["metadata"];
            let key = (
                text(&object["kind"]),
                text(&metadata["namespace"]),
                text(&metadata["name"]),
            );
            (key, object)
        });
    named.collect()
}

/// The manifests of a description, in a folder.
struct Deployed {
    dir: tempfile::TempDir,
    namespace: String,
}

impl Deployed {
    fn new(text: &str) -> Option<Self> {
        let checked = krator::check("krator.yaml", text.as_bytes());
        let mut description = checked.sound()?.clone();
        description.deploy.extras = Extra::ALL.into();
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (path, file) in plan(&description, &checked.source, &Runtime::Vendored).files() {
            if path.starts_with("deploy/") || path.starts_with("dist/") {
                let at = dir.path().join(path);
                fs::create_dir_all(at.parent().expect("it is in the folder")).expect("our own folder");
                fs::write(at, &file.contents).expect("our own folder");
            }
        }
        Some(Self {
            dir,
            namespace: description.namespace.clone(),
        })
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// Whether the description has this component.
    fn has(&self, component: &str) -> bool {
        self.path("deploy/components").join(component).is_dir()
    }

    /// The objects of kustomize with these components, without the namespace, which Helm creates itself.
    fn kustomized(&self, kubectl: &Path, components: &[&str]) -> Objects {
        let path = self.path("deploy/kustomization.yaml");
        let plain = fs::read_to_string(&path).expect("generated");
        let mut uncommented = plain.clone();
        for component in components {
            let line = format!("#   - components/{component}\n");
            assert!(plain.contains(&line), "{plain}");
            uncommented = uncommented.replace(&line, &line[1..]);
        }
        if !components.is_empty() {
            uncommented = uncommented.replace("# components:", "components:");
        }
        fs::write(&path, uncommented).expect("our own file");
        let printed = run(Command::new(kubectl).arg("kustomize").arg(self.path("deploy")));
        fs::write(&path, plain).expect("our own file");
        let mut objects = by_name(documents(printed.as_bytes()));
        objects.retain(|(kind, ..), _| kind != "Namespace");
        objects
    }

    /// The objects of the chart with these values, without the additions of charts.
    fn templated(&self, helm: &Path, values: &[&str]) -> Objects {
        let mut command = Command::new(helm);
        command
            .args(["template", "release", "--namespace", &self.namespace])
            .arg(self.path("deploy/chart"));
        for value in values {
            command.arg("--set").arg(format!("{value}=true"));
        }
        let mut objects = by_name(documents(run(&mut command).as_bytes()));
        for (key, object) in &mut objects {
            let labels = object["metadata"]["labels"].as_object_mut().expect("labels");
            for label in LABELS {
                assert!(labels.remove(label).is_some(), "{key:?} has no label {label}");
            }
            let annotations = object
                .pointer_mut("/metadata/annotations")
                .and_then(Value::as_object_mut);
            let kept = annotations.and_then(|annotations| annotations.remove(KEPT));
            assert_eq!(
                kept.is_some(),
                key.0 == "CustomResourceDefinition",
                "{key:?} is kept"
            );
        }
        objects
    }
}

fn assert_same(left: &Objects, right: &Objects, what: &str) {
    let keys = |objects: &Objects| objects.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(left), keys(right), "{what}");
    for (key, object) in left {
        assert_eq!(object, &right[key], "{key:?} of {what}");
    }
}

#[test]
fn the_chart_and_the_single_file_bring_what_kustomize_brings() {
    let (Some(kubectl), Some(helm)) = (tool("kubectl"), tool("helm")) else {
        return;
    };
    let mut texts: Vec<String> = cases()
        .values()
        .map(|case| fs::read_to_string(case.join("spec.yaml")).expect("a case has a description"))
        .collect();
    let mut dice = Dice::new(number("KRATOR_SEED", 1));
    texts.extend((0..number("KRATOR_CHARTS", 12)).map(|_| describe(&mut dice, Size::LARGE)));
    let mut tried = 0;
    for text in texts {
        let Some(deployed) = Deployed::new(&text) else {
            continue;
        };
        tried += 1;
        let plain = deployed.kustomized(&kubectl, &[]);
        let mut installed = by_name(documents(
            &fs::read(deployed.path("dist/install.yaml")).expect("generated"),
        ));
        installed.retain(|(kind, ..), _| kind != "Namespace");
        assert_same(&plain, &installed, &format!("dist/install.yaml:\n{text}"));
        assert_same(
            &plain,
            &deployed.templated(&helm, &[]),
            &format!("the chart:\n{text}"),
        );
        let there = COMPONENTS
            .into_iter()
            .filter(|(component, _)| deployed.has(component));
        let (components, values): (Vec<_>, Vec<_>) = there.unzip();
        for (component, value) in components.iter().zip(&values) {
            let with = deployed.kustomized(&kubectl, &[component]);
            assert!(with.len() > plain.len(), "{component}");
            let templated = deployed.templated(&helm, &[value]);
            assert_same(&with, &templated, &format!("the chart with {value}:\n{text}"));
        }
        let all = deployed.kustomized(&kubectl, &components);
        assert_same(
            &all,
            &deployed.templated(&helm, &values),
            &format!("the whole chart:\n{text}"),
        );
    }
    assert!(tried > 20, "{tried} descriptions have manifests");
}
