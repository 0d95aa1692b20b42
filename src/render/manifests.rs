//! All manifests of an operator, as values. Kustomize, Helm and `dist/install.yaml` are three renderings of them.

mod chart;
mod dashboard;
mod monitoring;
mod objectives;

pub(super) mod alert;
pub(super) mod alerts;

use serde_json::{Value as Json, json};

use super::deploy::{self, Settings};
use super::templates::Template;
use super::{crd, rbac, webhooks, yaml};
use crate::model::{Description, Extra};
use crate::plan::Ownership::{self, Generated, Seeded};
use crate::plan::Plan;
use crate::policies::{self, FormerMoves};

/// Objects that are applied together.
struct Part {
    /// The name of the file that has them.
    file: &'static str,
    /// What the objects are for, as the label `app.kubernetes.io/component` has it.
    component: &'static str,
    /// Where not every cluster has or wants them, the component of kustomize that they are.
    optional: Option<&'static str>,
    /// The key that asks for them.
    extra: Option<Extra>,
    /// Who owns the file of kustomize.
    owner: Ownership,
    /// What the file of its owner says first.
    intro: String,
    objects: Vec<Json>,
}

/// The label of all objects of an operator.
const NAME: &str = "app.kubernetes.io/name";

/// The label that says what an object is for.
const COMPONENT: &str = "app.kubernetes.io/component";

impl Part {
    fn path(&self) -> String {
        match self.optional {
            Some(component) => format!("deploy/components/{component}/{}.yaml", self.file),
            None => format!("deploy/{}.yaml", self.file),
        }
    }
}

/// All parts that a description needs, in the order in which they are applied.
fn parts(description: &Description, former: &FormerMoves, settings: &Settings) -> Vec<Part> {
    let operator = description.operator.as_str();
    let part = |file, component, owner, objects| Part {
        file,
        component,
        optional: None,
        extra: None,
        owner,
        intro: String::new(),
        objects,
    };
    let mut parts = vec![
        part(
            "namespace",
            "namespace",
            Seeded,
            vec![deploy::namespace(description)],
        ),
        part("crd", "api", Generated, crd::crd(description)),
        part("rbac", "rbac", Generated, rbac::rbac(description)),
        part(
            "policies",
            "admission",
            Generated,
            policies::policies(description, former),
        ),
        part(
            "deployment",
            "manager",
            Seeded,
            vec![deploy::deployment(description, settings)],
        ),
        part(
            "disruption-budget",
            "manager",
            Seeded,
            vec![deploy::disruption_budget(description)],
        ),
        Part {
            intro: format!(
                "# For Prometheus: metrics over TLS under /metrics. Reading them needs the ClusterRole {operator}-metrics-reader.\n\
                 # For people: a page with the objects in each state under /, and its data under /state. They need {operator}-state-reader.\n"
            ),
            ..part(
                "metrics-service",
                monitoring::METRICS,
                Seeded,
                vec![deploy::metrics_service(description, settings)],
            )
        },
        part("webhooks", "webhooks", Generated, webhooks::webhooks(description)),
        Part {
            optional: Some("network-policy"),
            extra: Some(Extra::NetworkPolicy),
            intro:
                "# Who may reach the operator. Label the namespace of Prometheus with `metrics: enabled`.\n"
                    .to_owned(),
            ..part(
                "network-policy",
                "manager",
                Seeded,
                vec![deploy::network_policy(description)],
            )
        },
        Part {
            optional: Some("cert-manager"),
            intro: "# The certificates of the webhooks, by cert-manager: https://cert-manager.io\n"
                .to_owned(),
            ..part(
                "certificates",
                "webhooks",
                Seeded,
                deploy::certificates(description),
            )
        },
    ];
    parts.extend(monitoring::parts(description));
    let extras = &description.deploy.extras;
    parts.retain(|part| !part.objects.is_empty() && part.extra.is_none_or(|extra| extras.contains(&extra)));
    for part in &mut parts {
        for object in &mut part.objects {
            label(object, operator, part.component);
        }
    }
    parts
}

/// Gives an object the recommended labels, and its pods, if it makes any.
fn label(object: &mut Json, operator: &str, component: &str) {
    let recommended = [(NAME, operator), (COMPONENT, component)];
    for place in ["/metadata", "/spec/template/metadata"] {
        let Some(metadata) = object.pointer_mut(place) else {
            continue;
        };
        for (label, value) in recommended {
            metadata["labels"][label] = value.into();
        }
    }
}

/// Adds the files of all renderings.
pub(super) fn add(plan: &mut Plan, description: &Description, former: &FormerMoves) {
    let settings = Settings::of(description);
    let parts = parts(description, former, &settings);
    let mut listed = Vec::new();
    let mut optional = Vec::new();
    for part in &parts {
        let text = match part.owner {
            Generated => format!("{}{}", yaml::HEADER, yaml::documents(&part.objects)),
            Ownership::Seeded | Ownership::Merged => {
                let documents: Vec<String> = part.objects.iter().cloned().map(yaml::commented).collect();
                format!("{}{}", part.intro, documents.join("---\n"))
            }
        };
        let path = part.path();
        match part.optional {
            Some(component) => optional.push((component, format!("{}.yaml", part.file))),
            None => listed.push(format!("{}.yaml", part.file)),
        }
        plan.add(path, part.owner, text);
    }
    let mut components: Vec<&str> = optional.iter().map(|(component, _)| *component).collect();
    components.dedup();
    for component in &components {
        let files = optional.iter().filter(|(of, _)| of == component);
        let files: Vec<&String> = files.map(|(_, file)| file).collect();
        let text = Template::Component.render(&json!({"files": files}));
        plan.add(
            format!("deploy/components/{component}/kustomization.yaml"),
            Seeded,
            text,
        );
    }
    let (name, tag, digest) = match &description.deploy.image {
        Some(image) => image.value.parts(),
        None => (description.operator.as_str(), Some(deploy::FIRST_VERSION), None),
    };
    let kustomization = Template::Kustomization.render(&json!({
        "resources": listed,
        "components": components,
        "image": name,
        "tag": tag,
        "digest": digest,
    }));
    plan.add("deploy/kustomization.yaml", Seeded, kustomization);
    let extras = &description.deploy.extras;
    let [has_chart, has_install] = [Extra::Chart, Extra::Install].map(|extra| extras.contains(&extra));
    if !has_chart && !has_install {
        return;
    }
    let install = install(parts);
    if has_chart {
        chart::add(plan, description, former, &install);
    }
    if has_install {
        plan.add(Extra::Install.place(), Generated, install);
    }
}

/// `dist/install.yaml`: all manifests but those that not every cluster has or wants.
fn install(parts: Vec<Part>) -> String {
    let installed = parts.into_iter().filter(|part| part.optional.is_none());
    let installed: Vec<Json> = installed
        .flat_map(|part| part.objects.into_iter().map(yaml::bare))
        .collect();
    format!("{}{INSTALL}{}", yaml::HEADER, yaml::documents(&installed))
}

/// The second line of `dist/install.yaml`.
const INSTALL: &str = "# Everything in one file: kubectl apply --server-side -f dist/install.yaml. What you have changed in deploy/ is not in it:\n\
                       # kubectl kustomize deploy writes a file that has it.\n";
