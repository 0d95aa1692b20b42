//! What a real API server says of the manifests: it takes all of them to the letter, gives back what was written, and
//! refuses objects that are not of the schema.
//!
//! On a control plane of its own, since samples of a kind would be work for the operators of other tests.

use crate::cluster::{Cluster, say};
use krator::render::{Runtime, plan};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Texts that some YAML reader takes for something else.
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

fn cluster() -> Option<&'static Cluster> {
    static OWN: OnceLock<Cluster> = OnceLock::new();
    let Some(assets) = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from) else {
        say("manifests: skipped: KUBEBUILDER_ASSETS is not set");
        return None;
    };
    Some(OWN.get_or_init(|| Cluster::start(&assets)))
}

/// The folder with the manifests of a description.
fn written(cluster: &Cluster, case: &str, text: &str) -> PathBuf {
    let checked = krator::check("spec.yaml", text.as_bytes());
    let description = checked.description.expect("a description");
    let folder = cluster.dir().join(format!("manifests-{case}"));
    fs::create_dir(&folder).expect("a new folder");
    for (path, file) in plan(&description, &checked.source, &Runtime::Vendored).files() {
        if let Some(name) = path.strip_prefix("deploy/") {
            fs::write(folder.join(name), &file.contents).expect("a new file");
        }
    }
    folder
}

/// The documents of a file, as kubectl reads them: without the server's part.
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

/// Applies the manifests of a description, and gives its CRDs as the server has them beside what was written.
fn applied(cluster: &Cluster, folder: &Path) -> Vec<(Value, Value)> {
    let name = folder.to_str().expect("a plain name");
    cluster.kubectl(&["apply", "--server-side", "--validate=strict", "--kustomize", name]);
    let definitions = documents(cluster, &folder.join("crd.yaml")).into_iter();
    let both = definitions.map(|written| {
        let name = format!("crd/{}", written["metadata"]["name"].as_str().expect("a name"));
        cluster.kubectl(&["wait", "--for=condition=Established", &name, "--timeout=60s"]);
        let stored = cluster.kubectl(&["get", &name, "-o", "json"]);
        (
            written,
            serde_json::from_str(&stored).expect("kubectl writes JSON"),
        )
    });
    both.collect()
}

/// The first place where `stored` is not what was `written`; what the server adds is its own.
fn lost(written: &Value, stored: &Value, at: &str) -> Option<String> {
    match (written, stored) {
        (Value::Object(written), Value::Object(stored)) => written.iter().find_map(|(key, value)| {
            lost(
                value,
                stored.get(key).unwrap_or(&Value::Null),
                &format!("{at}.{key}"),
            )
        }),
        (Value::Array(written), Value::Array(stored)) if written.len() == stored.len() => {
            let mut items = written.iter().zip(stored).enumerate();
            items.find_map(|(index, (written, stored))| lost(written, stored, &format!("{at}[{index}]")))
        }
        _ => (written != stored).then(|| format!("{at}: {written} became {stored}")),
    }
}

#[test]
fn every_description_is_taken_to_the_letter_and_broken_objects_are_refused() {
    let Some(cluster) = cluster() else { return };
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ok");
    let mut count = 0;
    for entry in fs::read_dir(cases).expect("testdata/ok is there") {
        let entry = entry.expect("an entry");
        let case = entry.file_name().into_string().expect("a plain name");
        let text = fs::read_to_string(entry.path().join("spec.yaml")).expect("spec.yaml is there");
        let folder = written(cluster, &case, &text);
        let definitions = applied(cluster, &folder);
        for (written, stored) in &definitions {
            assert_eq!(lost(&written["spec"], &stored["spec"], ".spec"), None, "{case}");
        }
        let samples = documents(cluster, &folder.join("sample.yaml"));
        assert_eq!(samples.len(), definitions.len(), "{case}");
        for (sample, (definition, _)) in samples.iter().zip(&definitions) {
            cluster.apply(&sample.to_string(), &[]);
            let schema =
                &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
            let broken = broken(sample, schema);
            assert!(broken.len() >= 10, "{case}: {} broken objects", broken.len());
            refuse(cluster, &case, &broken);
        }
        count += 1;
    }
    assert!(count >= 12, "{count} cases");
}

/// Offers all at once; none may get through.
fn refuse(cluster: &Cluster, case: &str, broken: &[(String, Value)]) {
    let objects: Vec<String> = broken.iter().map(|(_, object)| object.to_string()).collect();
    let args = ["create", "--dry-run=server", "--validate=strict", "-f", "-"];
    let errors = cluster
        .try_kubectl("admin", &args, &objects.join("\n---\n"))
        .expect_err("all are broken");
    // The refusal of an unknown field does not say whose it is.
    let refused = errors
        .lines()
        .filter(|line| line.starts_with("Error from server"))
        .count();
    let taken = broken
        .iter()
        .filter(|(_, object)| !errors.contains(&object["metadata"]["name"].to_string()));
    let taken: Vec<&str> = taken.map(|(what, _)| what.as_str()).collect();
    assert_eq!(
        refused,
        broken.len(),
        "{case}: one was taken of {taken:?}\n{errors}"
    );
}

/// The sample with one thing wrong at a time, and what that is.
fn broken(sample: &Value, schema: &Value) -> Vec<(String, Value)> {
    let mut specs = vec![
        ("spec is a text".to_owned(), json!("x")),
        ("spec is a list".to_owned(), json!([])),
        ("spec is nothing".to_owned(), Value::Null),
    ];
    let with = |field: &str, value: Value| {
        let mut spec = sample["spec"].clone();
        spec[field] = value;
        spec
    };
    specs.push(("a field is unknown".to_owned(), with("noSuchField", json!(1))));
    for field in schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        let mut spec = sample["spec"].clone();
        spec.as_object_mut().and_then(|fields| fields.remove(field));
        specs.push((format!("{field} is missing"), spec));
    }
    for (field, schema) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        for value in wrong(schema) {
            specs.push((format!("{field} is {value}"), with(field, value)));
        }
    }
    // Ten or a few more are enough, from all over the schema.
    let step = (specs.len() / 10).max(1);
    let objects = specs
        .into_iter()
        .step_by(step)
        .enumerate()
        .map(|(index, (what, spec))| {
            let mut object = sample.clone();
            object["spec"] = spec;
            object["metadata"]["name"] = format!("broken-{index}-x").into();
            (what, object)
        });
    objects.collect()
}

/// Values that are not of the schema.
fn wrong(schema: &Value) -> Vec<Value> {
    let mut values = match schema["type"].as_str() {
        // Not a list: the API server takes an empty one for a date-time.
        Some("string") => vec![json!(7), json!({}), json!(true)],
        Some("integer") => vec![json!("x"), json!(1.5), json!([]), json!(true)],
        Some("number") => vec![json!("x"), json!({}), json!([])],
        Some("boolean") => vec![json!("x"), json!(1), json!({})],
        Some("array") => vec![json!("x"), json!(1), json!({})],
        Some("object") => vec![json!("x"), json!(1), json!([])],
        _ if schema["x-kubernetes-int-or-string"] == true => vec![json!(true), json!({})],
        _ => Vec::new(),
    };
    if schema["enum"].is_array() {
        values.push(json!("no such value"));
    }
    if let Some(least) = schema["minimum"].as_f64() {
        values.push(json!(least - 1.0));
    }
    if let Some(most) = schema["maximum"].as_f64() {
        values.push(json!(most + 1.0));
    }
    values
}

#[test]
fn texts_that_look_like_something_else_stay_texts() {
    let Some(cluster) = cluster() else { return };
    let words = json!(AMBIGUOUS);
    // As JSON, which is YAML: each text is quoted and means itself.
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
    let deployment = cluster.kubectl(&["get", "deployment", "on", "--namespace", "on", "-o", "json"]);
    let deployment: Value = serde_json::from_str(&deployment).expect("kubectl writes JSON");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        container["resources"]["requests"],
        json!({"cpu": "1", "memory": "1e3"})
    );
}
