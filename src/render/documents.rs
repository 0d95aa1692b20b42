//! Documents and settings of the repository: README, AGENTS.md, state diagram, runbook, CI workflow, image, settings of git.

mod markdown;
mod runbook;
mod versions;

pub use runbook::runbook;
pub use versions::versions;

use serde_json::{Value as Json, json};

use super::deploy::FIRST_VERSION;
use super::diagram::mermaid;
use super::templates::Template;
use crate::model::{Certificates, Description, Extra, Kind};
use markdown::paragraph;

/// The version of Rust that generated crates are tested with, which their CI and their image are built with.
const RUST: &str = "1.95.0";

/// The package of this krator in a registry, if any: on crates.io, an older library has the name `krator`.
const PACKAGE: Option<&str> = None;

/// The values of the templates of documents, settings, and the manifests that no key of the description changes.
pub(crate) fn values(description: &Description) -> Json {
    let operator = description.operator.as_str();
    let kinds = &description.kinds[..];
    let asks_for = |extra| description.deploy.extras.contains(&extra);
    json!({
        "operator": operator,
        "namespace": description.namespace,
        "deletes": kinds.iter().any(|kind| kind.machine.deletion.is_some()),
        "scales": kinds.iter().any(|kind| kind.resource.scale.is_some()),
        "has_policies": kinds.iter().any(Kind::has_policies),
        "doc": description.doc.as_ref().map(|doc| paragraph(&doc.value)).unwrap_or_default(),
        "version": FIRST_VERSION,
        "rust": RUST,
        "krator": crate::record::VERSION,
        "package": PACKAGE,
        // A placeholder where there are several kinds.
        "folder": match kinds {
            [kind] => kind.resource.rust_name.module(),
            _ => "<kind>".to_owned(),
        },
        "webhooks": description.has_webhooks(),
        "mounted": description.deploy.certificates == Certificates::Mounted,
        "chart": asks_for(Extra::Chart),
        "install": asks_for(Extra::Install),
        "monitoring": asks_for(Extra::Monitoring),
        "components": asks_for(Extra::Monitoring) || asks_for(Extra::NetworkPolicy),
        "versions": description.kinds.iter().any(|kind| !kind.versions.is_empty()),
        "shares_types": super::shares_types(description),
        "kinds": kinds.iter().map(|kind| introduced(description, kind)).collect::<Vec<_>>(),
    })
}

/// `docs/states.md`: the state diagram. It is a file of its own because krator rewrites it when the graph changes.
pub fn states(description: &Description) -> String {
    Template::States.render(&json!({
        "operator": description.operator.as_str(),
        "diagram": mermaid(description),
        "kinds": description.kinds.iter().map(explained).collect::<Vec<_>>(),
    }))
}

/// A kind as the README presents it.
fn introduced(description: &Description, kind: &Kind) -> Json {
    let resource = &kind.resource;
    // The documentation of the first kind may be that of the operator, which is in the README anyway.
    let own_doc = kind
        .doc
        .as_ref()
        .filter(|doc| description.doc.as_ref() != Some(doc));
    json!({
        "kind": resource.kind.as_str(),
        "resource": resource.definition(),
        "doc": own_doc.map(|doc| paragraph(&doc.value)).unwrap_or_default(),
    })
}

/// The documented states of a kind.
fn explained(kind: &Kind) -> Json {
    let states = kind.states.iter().filter_map(|state| {
        let doc = paragraph(&state.doc.as_ref()?.value);
        Some(json!({"name": state.name.as_str(), "doc": doc}))
    });
    json!({
        "kind": kind.resource.kind.as_str(),
        "states": states.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{documents, from};

    fn documents_with(text: &str) -> String {
        let text = json!(text);
        let description = from(&format!(
            "krator: 1\ndoc: {text}\nresource: {{group: example.com, version: v1, kind: Thing}}\nspec: {{}}\n\
             machine: {{initial: A}}\n\
             states: {{A: {{doc: {text}, next: [{{to: B, when: {text}}}]}}, B: {{kind: ready, message: {text}}}}}\n"
        ));
        Template::Readme.render(&values(&description)) + &states(&description)
    }

    #[test]
    fn no_text_of_a_description_changes_the_structure_of_documents() {
        // Equal for documents with the same number of lines that begin in the same way.
        let skeleton = |text: &str| {
            let starts = text.lines().map(|line| line.chars().take(2).collect::<String>());
            (starts.collect::<Vec<_>>(), text.matches("```").count())
        };
        for text in [
            "words\n\n    code\n\n```\nfence\n```",
            "words\n\n# heading\n- item\n---\n===",
            "wo<script>x</script>",
            "words | a | b |",
            "wo[a](javascript:x) ![b](c)",
            "words\"]\n    click A call x()",
            "words {{operator}} ${{ secrets.X }} $(X) \\",
        ] {
            let written = documents_with(text);
            assert_eq!(
                skeleton(&written),
                skeleton(&documents_with("words")),
                "{written}"
            );
            for harm in ["javascript:", "<script", "${{", "\n    click"] {
                assert!(!written.contains(harm), "{harm:?} in {written}");
            }
        }
    }

    fn workflow(package: Option<&str>) -> Json {
        let mut values = values(&crate::render::testing::described(""));
        values["package"] = json!(package);
        documents(&Template::Workflow.render(&values)).remove(0)
    }

    #[test]
    fn the_workflow_has_only_the_right_to_read() {
        assert_eq!(workflow(PACKAGE)["permissions"], json!({"contents": "read"}));
    }

    /// Runs the workflow step that installs krator with these variables of the repository. Returns the arguments of
    /// cargo, the output for GitHub, and the log.
    #[expect(
        clippy::disallowed_methods,
        reason = "the script of the workflow is for a shell, and writes files"
    )]
    fn install(package: Option<&str>, git: &str, revision: &str) -> [String; 3] {
        let workflow = workflow(package);
        let steps = workflow["jobs"]["krator"]["steps"].as_array().expect("steps");
        let step = steps
            .iter()
            .find(|step| step["id"] == "krator")
            .expect("the step");
        let script = step["run"].as_str().expect("a script");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (told, output) = (folder.path().join("told"), folder.path().join("output"));
        let ran = std::process::Command::new("bash")
            .args([
                "-ec",
                &format!("cargo() {{ echo \"$*\" > \"$TOLD\"; }}\n{script}"),
            ])
            .env("TOLD", &told)
            .env("GITHUB_OUTPUT", &output)
            .env("KRATOR_GIT", git)
            .env("KRATOR_REV", revision)
            .output()
            .expect("bash runs");
        assert!(ran.status.success());
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        [
            read(told),
            read(output),
            String::from_utf8_lossy(&ran.stdout).into_owned(),
        ]
        .map(|text| text.trim().to_owned())
    }

    #[test]
    fn the_workflow_builds_krator_from_its_sources_until_it_is_published() {
        let [told, output, _] = install(None, "https://git.example.com/krator", "v0.7.0");
        assert_eq!(
            told,
            "install --locked --git https://git.example.com/krator --rev v0.7.0 krator"
        );
        assert_eq!(output, "installed=true");
        let [told, output, log] = install(None, "", "");
        assert!(told.is_empty() && output.is_empty());
        assert!(
            log.starts_with("::notice::krator gen --check was skipped"),
            "{log}"
        );
        let [told, output, _] = install(Some("krator-cli"), "", "");
        assert_eq!(
            told,
            concat!("install --locked krator-cli@", env!("CARGO_PKG_VERSION"))
        );
        assert_eq!(output, "installed=true");
    }
}
