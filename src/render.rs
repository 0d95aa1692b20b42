//! The files of a generated crate, from the model. It does no input or output.

pub mod cargo;
pub mod crd;
pub mod deploy;
pub mod diagram;
pub mod documents;
pub mod manifests;
pub mod rbac;
pub mod rust;
pub mod sample;
pub mod webhooks;

mod templates;
#[cfg(test)]
mod testing;

use crate::{
    finding::Source,
    model::{Description, Kind},
    plan::{
        Ownership::{Generated, Merged, Seeded},
        Plan,
    },
    policies::FormerMoves,
    text::normalized,
};
use rust::handlers;
use semver::VersionReq;
use serde_json::json;
use templates::Template;

pub(crate) use cargo::followed as followed_runtime;

/// The source of a generated crate's runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runtime {
    /// The vendored runtime, in the crate's folder `vendor/`.
    Vendored,
    /// The runtime in this folder.
    Path(String),
    /// A version in a registry that meets this requirement. Tools such as Dependabot can then update it.
    Version(VersionReq),
}

impl std::str::FromStr for Runtime {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            None if text == "vendored" => Ok(Runtime::Vendored),
            Some(("path", folder)) if !folder.is_empty() => Ok(Runtime::Path(folder.to_owned())),
            Some(("version", requirement)) => match VersionReq::parse(requirement) {
                Ok(requirement) if cargo::is_met(&requirement) => Ok(Runtime::Version(requirement)),
                Ok(_) => Err("the version of the runtime that this krator generates for is not among these"),
                Err(_) => Err("a version such as `version=0.7`, or a requirement as in Cargo.toml"),
            },
            _ => Err("one of `vendored`, `path=DIR` and `version=REQUIREMENT`"),
        }
    }
}

/// All files of the crate of a description. `source` is the text of the description, which becomes `krator.yaml`.
pub fn plan(description: &Description, source: &Source, runtime: &Runtime) -> Plan {
    plan_with(description, source, runtime, &FormerMoves::new())
}

/// The same, with the moves of former descriptions, which policies still allow.
pub(crate) fn plan_with(
    description: &Description,
    source: &Source,
    runtime: &Runtime,
    former: &FormerMoves,
) -> Plan {
    let mut plan = Plan::default();
    plan.add("krator.yaml", Seeded, normalized(source.text()));
    for (path, text) in &description.schema_files {
        plan.add(path, Seeded, normalized(text));
    }
    plan.add("Cargo.toml", Merged, cargo::manifest_of(description, runtime));
    plan.add(
        "Cargo.lock",
        Merged,
        cargo::lock_of(&description.operator.value, runtime),
    );
    if *runtime == Runtime::Vendored {
        cargo::vendor(&mut plan);
    }
    add_crate_root(&mut plan, description);
    for kind in &description.kinds {
        add_kind(&mut plan, description, kind);
    }
    manifests::add(&mut plan, description, former);
    add_surroundings(&mut plan, description);
    plan
}

/// The path of the operator's Deployment.
pub const DEPLOYMENT: &str = "deploy/deployment.yaml";

/// The path of the runbook.
const RUNBOOK: &str = "docs/runbook.md";

/// The plan of a new crate together with its generation record, which the next run of krator reads.
pub fn with_record(mut plan: Plan, source: &Source) -> Plan {
    for (path, contents) in crate::record::GenerationRecord::of(&plan).render(&normalized(source.text())) {
        plan.add(path, Generated, contents);
    }
    plan
}

/// The files around the code: samples, the image, CI and documents.
fn add_surroundings(plan: &mut Plan, description: &Description) {
    plan.add("deploy/sample.yaml", Seeded, sample::sample(description));
    plan.add("docs/states.md", Generated, documents::states(description));
    plan.add(RUNBOOK, Generated, documents::runbook(description));
    if let Some(versions) = documents::versions(description) {
        plan.add("docs/versions.md", Generated, versions);
    }
    let values = documents::values(description);
    for (path, template) in [
        ("Dockerfile", Template::Dockerfile),
        (".dockerignore", Template::Dockerignore),
        (".gitignore", Template::Gitignore),
        (".gitattributes", Template::Gitattributes),
        ("README.md", Template::Readme),
        ("AGENTS.md", Template::Agents),
        (".github/workflows/ci.yml", Template::Workflow),
    ] {
        plan.add(path, Seeded, template.render(&values));
    }
}

/// Whether `types` of the description become a module that several kinds share. A single kind contains them in its own
/// module.
fn shares_types(description: &Description) -> bool {
    description.kinds.len() > 1 && !description.types.is_empty()
}

fn add_crate_root(plan: &mut Plan, description: &Description) {
    let crate_name = description.operator.value.crate_ident();
    // In rustfmt's order.
    let mut kinds: Vec<_> = description.kinds.iter().collect();
    kinds.sort_by_key(|kind| kind.resource.rust_name.value.module());
    let imported: Vec<_> = kinds
        .into_iter()
        .map(|kind| {
            let names = rust::KindNames::of(kind);
            json!({"kind": kind.resource.rust_name.value.as_str(), "module": names.module.to_string()})
        })
        .collect();
    let mut modules: Vec<String> = description
        .kinds
        .iter()
        .map(|kind| format!("pub mod {};", rust::KindNames::of(kind).module))
        .collect();
    modules.push("pub mod shared;".to_owned());
    if shares_types(description) {
        modules.push("#[rustfmt::skip]\npub mod types;".to_owned());
        plan.add("src/types.rs", Generated, rust::types::common_types(description));
    }
    // In rustfmt's order, for which `r#` does not count.
    modules.sort_by_key(|module| module.replace("r#", ""));
    let data = json!({
        "operator": description.operator.value.as_str(),
        "crate": crate_name,
        "about": rust::about(description),
        "imported": imported,
        // The documentation of the crate links to one of its kinds. Links have no `r#` before keywords.
        "module": description.kinds.first().map(|kind| kind.resource.rust_name.value.module()),
        "modules": modules,
        "start": start(description),
    });
    // These are merged because each kind has a line in them.
    plan.add("src/lib.rs", Merged, Template::Lib.render(&data));
    plan.add("src/main.rs", Merged, Template::Main.render(&data));
    plan.add("src/shared.rs", Seeded, Template::Shared.render(&data));
}

/// The expression that runs the operators, as rustfmt formats it.
fn start(description: &Description) -> String {
    let calls = description.kinds.iter();
    let calls: Vec<String> = calls
        .map(|kind| format!(".operator({}Operator::default())", kind.resource.rust_name.value))
        .collect();
    let body = match &calls[..] {
        // rustfmt keeps up to 60 characters of arguments on the line of the call.
        [call] if "&ABOUT, |runtime| runtime".len() + call.len() <= 60 => {
            return format!("krator_runtime::main(&ABOUT, |runtime| runtime{call})");
        }
        [call] => format!("runtime{call}"),
        calls => format!("runtime\n            {}", calls.join("\n            ")),
    };
    format!("krator_runtime::main(&ABOUT, |runtime| {{\n        {body}\n    }})")
}

fn add_kind(plan: &mut Plan, description: &Description, kind: &Kind) {
    let module = kind.resource.rust_name.value.module();
    let at = |path: &str| format!("src/{module}/{path}");
    plan.add(at("mod.rs"), Generated, rust::kind_module(kind));
    plan.add(at("generated/mod.rs"), Generated, rust::generated_module(kind));
    plan.add(
        at("generated/machine.rs"),
        Generated,
        rust::machine::machine(description, kind),
    );
    plan.add(
        at("generated/kinds.rs"),
        Generated,
        rust::kinds::kinds(description, kind),
    );
    plan.add(at("generated/prelude.rs"), Generated, rust::prelude(kind));
    if let Some(tests) = rust::tests(kind) {
        plan.add(at("generated/tests.rs"), Generated, tests);
    }
    plan.add(
        at("generated/types.rs"),
        Generated,
        rust::types::types(description, kind, true),
    );
    for version in &kind.versions {
        let types = rust::types::types(description, &kind.in_version(version), false);
        plan.add(
            at(&format!("generated/{}.rs", version.name.value)),
            Generated,
            types,
        );
    }
    if let Some(versions) = crate::versions::of(description, kind) {
        // The keys are strings, so serialization cannot fail.
        let text = serde_json::to_string_pretty(&versions).expect("JSON");
        plan.add(at("generated/versions.json"), Generated, text + "\n");
        let specs = crate::versions::specs(description, kind);
        plan.add(at("generated/specs.json"), Generated, specs);
    }
    plan.add(at("states/mod.rs"), Generated, handlers::states_module(kind));
    for state in &kind.states {
        let file = handlers::handler_file(kind, state);
        plan.add(file, Seeded, handlers::handler(kind, state));
    }
    let name = kind.resource.rust_name.value.as_str();
    let memory = rust::memory_type(kind).to_string();
    let data = json!({"kind": name, "initialize": handlers::initialize(name, &memory), "memory": memory});
    plan.add(at("object.rs"), Seeded, Template::Object.render(&data));
    if !kind.webhooks.is_empty() {
        plan.add(at("admission.rs"), Seeded, handlers::admission(kind));
    }
    if kind.has_functions() {
        let functions = rust::conversions::conversions(description, kind);
        plan.add(at("conversions.rs"), Seeded, functions);
    }
    let test = handlers::machine_test(description, kind);
    plan.add(format!("tests/{module}.rs"), Seeded, test);
}
