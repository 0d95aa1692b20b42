//! The Helm chart: the same manifests, with some values in `values.yaml`.
//!
//! Manifests are rendered with a mark in place of such a value, and the mark is replaced by a Helm expression in the
//! text of the manifest. Any other `{{` in the text is escaped.

use serde_json::{Map, Value as Json, json};

use super::{Part, parts};
use crate::model::Description;
use crate::plan::Ownership::{Generated, Merged};
use crate::plan::Plan;
use crate::policies::FormerMoves;
use crate::render::deploy::{FIRST_VERSION, METRICS_PORT, Settings};
use crate::render::templates::Template;
use crate::yaml;

/// The path of the chart in a crate.
const CHART: &str = "deploy/chart";

/// The replacement for a line whose value is a mark.
enum Meaning {
    /// The value of the field is this expression.
    Value(String),
    /// The field is present if this value is not empty.
    Field(&'static str),
    /// The line is replaced by these lines, with its indentation.
    Lines(String),
}

/// The marks of one chart. No text of the description contains them.
struct Marks(String);

impl Marks {
    /// Marks that do not occur in the text.
    fn beside(text: &str) -> Self {
        let mut mark = "helm-value-".to_owned();
        while text.contains(&mark) {
            mark.insert_str(0, "x-");
        }
        Self(mark)
    }

    fn of(&self, name: &str) -> Json {
        format!("{}{name}", self.0).into()
    }

    /// The meaning of a mark.
    fn meaning(name: &str, operator: &str) -> Option<Meaning> {
        let value = |text: &str| Meaning::Value(format!("{{{{ {text} }}}}"));
        Some(match name {
            "replicas" => value(".Values.manager.replicas"),
            "image" => value(&format!("include \"{operator}.image\" . | quote")),
            "pull-policy" => value(".Values.manager.image.pullPolicy"),
            "metrics-port" => value(".Values.metrics.port"),
            "pull-secrets" => Meaning::Field(".Values.manager.imagePullSecrets"),
            "env" => Meaning::Field(".Values.manager.env"),
            "resources" => Meaning::Field(".Values.manager.resources"),
            "node-selector" => Meaning::Field(".Values.manager.nodeSelector"),
            "tolerations" => Meaning::Field(".Values.manager.tolerations"),
            "affinity" => Meaning::Field(".Values.manager.affinity"),
            "metrics" => Meaning::Lines(
                "{{- if .Values.metrics.enabled }}\n- --metrics-bind-address=:{{ .Values.metrics.port }}\n{{- end }}".to_owned(),
            ),
            "args" => Meaning::Lines("{{- range .Values.manager.args }}\n- {{ . | quote }}\n{{- end }}".to_owned()),
            "keep" => Meaning::Lines("{{- if .Values.crd.keep }}\nhelm.sh/resource-policy: keep\n{{- end }}".to_owned()),
            "labels" => Meaning::Lines(format!("{{{{- include \"{operator}.labels\" . | nindent INDENT }}}}")),
            _ => return None,
        })
    }

    fn settings(&self) -> Settings {
        Settings {
            replicas: self.of("replicas"),
            image: self.of("image"),
            pull_policy: self.of("pull-policy"),
            pull_secrets: self.of("pull-secrets"),
            metrics: self.of("metrics"),
            metrics_port: self.of("metrics-port"),
            args: self.of("args"),
            env: self.of("env"),
            resources: self.of("resources"),
            node_selector: self.of("node-selector"),
            tolerations: self.of("tolerations"),
            affinity: self.of("affinity"),
        }
    }

    /// Adds the marks that only charts have: labels of Helm, and the annotation that keeps definitions.
    fn add_to(&self, object: &mut Json) {
        let metadata = &mut object["metadata"];
        metadata["labels"][format!("{}labels", self.0)] = Json::Null;
        if object["kind"] == "CustomResourceDefinition" {
            object["metadata"]["annotations"][format!("{}keep", self.0)] = Json::Null;
        }
    }

    /// A manifest as a template of Helm.
    fn template(&self, text: &str, operator: &str) -> String {
        let mut out = String::new();
        for line in text.replace("{{", "{{ \"{{\" }}").lines() {
            let indent = &line[..line.len() - line.trim_start().len()];
            let marked = line.trim_start().split_once(&self.0);
            let meaning = marked.and_then(|(key, name)| {
                Some((key, Self::meaning(name.trim_end_matches(": null"), operator)?))
            });
            match meaning {
                Some((key, Meaning::Value(value))) => out.push_str(&format!("{indent}{key}{value}\n")),
                Some((key, Meaning::Field(value))) => {
                    let (key, nested) = (key.trim_end(), indent.len() + 2);
                    out.push_str(&format!(
                        "{indent}{{{{- with {value} }}}}\n{indent}{key}\n\
                         {indent}  {{{{- toYaml . | nindent {nested} }}}}\n{indent}{{{{- end }}}}\n"
                    ));
                }
                Some((_, Meaning::Lines(lines))) => {
                    for line in lines.replace("INDENT", &indent.len().to_string()).lines() {
                        out.push_str(&format!("{indent}{line}\n"));
                    }
                }
                None => out.push_str(&format!("{line}\n")),
            }
        }
        out.replace(&format!("{}namespace", self.0), "{{ .Release.Namespace }}")
    }
}

/// The value that enables a part, if it can be disabled.
fn condition(part: &Part) -> Option<&'static str> {
    Some(match part.file {
        "crd" => "crd.enabled",
        "metrics-service" => "metrics.enabled",
        "network-policy" => "networkPolicy.enabled",
        "certificates" => "certManager.enabled",
        _ if part.optional == Some("monitoring") => "prometheus.enabled",
        _ => return None,
    })
}

/// Adds the chart. `installed` is the text of all manifests.
pub(super) fn add(plan: &mut Plan, description: &Description, former: &FormerMoves, installed: &str) {
    let marks = Marks::beside(installed);
    let operator = description.operator.as_str();
    let mut marked = description.clone();
    marked.namespace = format!("{}namespace", marks.0);
    let mut files = Vec::new();
    for part in parts(&marked, former, &marks.settings()) {
        // Helm creates the namespace.
        if part.file == "namespace" {
            continue;
        }
        files.push(part.file);
        let objects = part.objects.iter().cloned().map(yaml::bare);
        let objects: Vec<Json> = objects
            .map(|mut object| {
                marks.add_to(&mut object);
                object
            })
            .collect();
        let mut text = marks.template(&yaml::documents(&objects), operator);
        if let Some(condition) = condition(&part) {
            text = format!("{{{{- if .Values.{condition} }}}}\n{text}{{{{- end }}}}\n");
        }
        let owner = match part.owner {
            Generated => {
                text = format!("{}{text}", super::HEADER);
                Generated
            }
            _ => Merged,
        };
        plan.add(format!("{CHART}/templates/{}.yaml", part.file), owner, text);
    }
    let values = values(description, |file| files.contains(&file));
    let schema = serde_json::to_string_pretty(&schema(&values)).expect("its keys are texts");
    plan.add(format!("{CHART}/values.yaml"), Merged, yaml::commented(values));
    plan.add(format!("{CHART}/values.schema.json"), Merged, schema + "\n");
    let about = description
        .doc
        .as_ref()
        .map(|doc| doc.value.split_whitespace().collect::<Vec<_>>().join(" "));
    let data = json!({
        "operator": operator,
        "version": FIRST_VERSION,
        "app": tag_of(description).unwrap_or(FIRST_VERSION),
        "about": about.as_deref().unwrap_or("A Kubernetes operator"),
        "kinds": description.kinds.iter().map(|kind| kind.resource.definition()).collect::<Vec<_>>(),
    });
    for (file, template) in [
        ("Chart.yaml", Template::Chart),
        ("templates/_helpers.tpl", Template::ChartHelpers),
        ("templates/NOTES.txt", Template::ChartNotes),
    ] {
        plan.add(format!("{CHART}/{file}"), Merged, template.render(&data));
    }
}

fn tag_of(description: &Description) -> Option<&str> {
    description.deploy.image.as_ref()?.value.parts().1
}

/// `values.yaml`, with a comment for each group.
fn values(description: &Description, has: impl Fn(&str) -> bool) -> Json {
    let settings = Settings::of(description);
    let image = description.deploy.image.as_ref();
    let (repository, tag, digest) = image.map_or(
        (description.operator.as_str(), Some(FIRST_VERSION), None),
        |image| image.value.parts(),
    );
    let mut values = Map::new();
    let manager = json!({
        "replicas": settings.replicas,
        "image": {"repository": repository, "tag": tag.unwrap_or_default(), "digest": digest.unwrap_or_default(), "pullPolicy": settings.pull_policy},
        "imagePullSecrets": settings.pull_secrets,
        "args": settings.args,
        "env": settings.env,
        "resources": settings.resources,
        "nodeSelector": settings.node_selector,
        "tolerations": settings.tolerations,
        "affinity": settings.affinity,
    });
    values.insert("manager".to_owned(), manager);
    let mut add = |key: &str, about: &str, value: Json| yaml::comment(&mut values, key, about, value);
    add(
        "crd",
        "Whether the chart installs the CustomResourceDefinitions, and whether it keeps them, with all objects, when it is uninstalled.",
        json!({"enabled": true, "keep": true}),
    );
    add(
        "metrics",
        "Metrics over TLS, for subjects with the ClusterRole of metrics readers.",
        json!({"enabled": true, "port": METRICS_PORT}),
    );
    for (file, key, about) in [
        (
            "monitor",
            "prometheus",
            "For clusters with the Prometheus operator.",
        ),
        (
            "network-policy",
            "networkPolicy",
            "Whether only namespaces with the label `metrics: enabled` can reach the metrics.",
        ),
        ("certificates", "certManager", "For clusters with cert-manager."),
    ] {
        if has(file) {
            add(key, about, json!({"enabled": false}));
        }
    }
    Json::Object(values)
}

/// `values.schema.json`: the existing values with their types. Values of Kubernetes types are not described, because
/// Kubernetes validates them.
fn schema(values: &Json) -> Json {
    let mut schema = typed(&yaml::bare(values.clone()), 0);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    for (at, bounds) in [
        ("/properties/manager/properties/replicas", json!({"minimum": 0})),
        (
            "/properties/metrics/properties/port",
            json!({"minimum": 1024, "maximum": 65535}),
        ),
        (
            "/properties/manager/properties/image/properties/pullPolicy",
            json!({"enum": ["Always", "IfNotPresent", "Never"]}),
        ),
    ] {
        if let (Some(Json::Object(field)), Json::Object(bounds)) = (schema.pointer_mut(at), bounds) {
            field.extend(bounds);
        }
    }
    schema
}

fn typed(value: &Json, depth: usize) -> Json {
    match value {
        Json::Object(fields) if depth < 2 || fields.contains_key("repository") => {
            let properties: Map<String, Json> = fields
                .iter()
                .map(|(key, value)| (key.clone(), typed(value, depth + 1)))
                .collect();
            // Users may add their own values beside those of krator.
            let mut schema = json!({"type": "object", "properties": properties});
            if depth > 0 {
                schema["additionalProperties"] = false.into();
            }
            schema
        }
        Json::Object(_) => json!({"type": "object"}),
        Json::Array(_) => json!({"type": "array"}),
        Json::Number(_) => json!({"type": "integer"}),
        Json::Bool(_) => json!({"type": "boolean"}),
        Json::String(_) | Json::Null => json!({"type": "string"}),
    }
}
