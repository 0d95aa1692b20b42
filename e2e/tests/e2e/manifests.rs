//! Strings that some YAML parsers read as other types, on a real API server: they stay strings.

use crate::cluster::{self, Cluster};
use krator::render::{Runtime, plan};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Strings that some YAML parser reads as another type if they are not quoted.
const AMBIGUOUS: [&str; 28] = [
    "on",
    "Off",
    "yes",
    "NO",
    "y",
    "n",
    "true",
    "null",
    "~",
    "",
    "1e3",
    "0o7",
    "017",
    "0x1F",
    "0b1",
    "12:30",
    "1_000",
    ".5",
    ".inf",
    "=",
    "<<",
    "2001-12-14",
    "---",
    "{{x}}",
    "back\\",
    " x ",
    "a\nb\n",
    "a: b #c",
];

/// Writes the manifests of a description into a folder.
fn written(cluster: &Cluster, case: &str, text: &str) -> PathBuf {
    let checked = krator::check("spec.yaml", text.as_bytes());
    let description = checked.description.expect("a description");
    let folder = cluster.dir().join(format!("manifests-{case}"));
    fs::create_dir(&folder).expect("a new folder");
    for (path, file) in plan(&description, &checked.source, &Runtime::Vendored).files() {
        if let Some(name) = path.strip_prefix("deploy/") {
            let at = folder.join(name);
            fs::create_dir_all(at.parent().expect("it is in the folder")).expect("a new folder");
            fs::write(at, &file.contents).expect("a new file");
        }
    }
    folder
}

/// The documents of a file as kubectl reads them, without defaults of a server.
fn documents(cluster: &Cluster, file: &Path) -> Vec<Value> {
    let file = file.to_str().expect("a plain name");
    let args = [
        "create",
        "--dry-run=client",
        "--validate=false",
        "-f",
        file,
        "-o",
        "json",
    ];
    let text = cluster.kubectl(&args);
    let documents = serde_json::Deserializer::from_str(&text).into_iter();
    documents
        .map(|document| document.expect("kubectl writes JSON"))
        .collect()
}

/// Applies manifests, and returns their CRDs, each as written and as stored.
fn applied(cluster: &Cluster, folder: &Path) -> Vec<(Value, Value)> {
    let name = folder.to_str().expect("a plain name");
    cluster.kubectl(&["apply", "--server-side", "--validate=strict", "--kustomize", name]);
    let definitions = documents(cluster, &folder.join("crd.yaml")).into_iter();
    let both = definitions.map(|written| {
        let name = format!("crd/{}", written["metadata"]["name"].as_str().expect("a name"));
        cluster.wait_established(&[&name]);
        let stored = cluster.kubectl(&["get", &name, "-o", "json"]);
        (
            written,
            serde_json::from_str(&stored).expect("kubectl writes JSON"),
        )
    });
    both.collect()
}

#[test]
fn strings_that_look_like_other_types_stay_strings() {
    let Some(cluster) = cluster::shared() else { return };
    let words = json!(AMBIGUOUS);
    // The description is JSON, which is YAML with quotes around all strings.
    let fields: Map<String, Value> = (0..AMBIGUOUS.len())
        .map(|index| {
            (
                format!("f{index}"),
                json!({"enum": words, "default": AMBIGUOUS[index]}),
            )
        })
        .collect();
    let text = format!(
        "krator: 1\noperator: 'on'\ndoc: {doc}\n\
         resource: {{group: words.example.com, version: v1, kind: 'Null', plural: 'no', singular: 'y', \
         shortNames: ['off'], categories: ['yes']}}\n\
         spec: {fields}\nmachine: {{initial: 'On'}}\n\
         states: {{'On': {{kind: ready, doc: {doc}, message: {doc}}}}}\n\
         deploy: {{resources: {{requests: {{cpu: '1', memory: '1e3'}}}}}}\n",
        doc = json!("on: {{x}}\n---\n`${{ secrets.X }}` $(X) <b> \"'\\"),
        fields = Value::Object(fields),
    );
    let folder = written(cluster, "words", &text);
    let definitions = applied(cluster, &folder);
    let (_, stored) = &definitions[0];
    let schema = &stored["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    for (index, text) in AMBIGUOUS.iter().enumerate() {
        let field = &schema["properties"]["spec"]["properties"][format!("f{index}")];
        assert_eq!((&field["default"], &field["enum"]), (&json!(text), &words));
    }
    let sample = fs::read_to_string(folder.join("sample.yaml")).expect("it was written");
    cluster.apply(&sample, &[]);
    let object = cluster.kubectl(&["get", "no.words.example.com", "null-sample", "-o", "json"]);
    let object: Value = serde_json::from_str(&object).expect("kubectl writes JSON");
    for (index, text) in AMBIGUOUS.iter().enumerate() {
        assert_eq!(object["spec"][format!("f{index}")], json!(text));
    }
    let deployment = cluster.kubectl(&[
        "get",
        "deployment",
        "on",
        "--namespace",
        "on-system",
        "-o",
        "json",
    ]);
    let deployment: Value = serde_json::from_str(&deployment).expect("kubectl writes JSON");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        container["resources"]["requests"],
        json!({"cpu": "1", "memory": "1e3"})
    );
}
