//! The handlebars templates of files that users edit. They are compiled into the program.
//!
//! Templates insert values as they are. A free text of a description must therefore be escaped for the format of the
//! file, either by the helper `yaml` in the template or before.

use std::sync::LazyLock;

use handlebars::{Handlebars, handlebars_helper, no_escape};
use serde_json::Value as Json;

use crate::yaml::scalar;

macro_rules! templates {
    ($($name:ident = $path:literal,)*) => {
        /// A template. The variants make it impossible to name one that does not exist.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the path says what it is")]
        pub(super) enum Template { $($name),* }

        impl Template {
            const ALL: &[Template] = &[$(Template::$name),*];

            /// Its path in `templates/`.
            fn path(self) -> &'static str {
                match self { $(Template::$name => $path),* }
            }

            fn source(self) -> &'static str {
                match self { $(Template::$name => include_str!(concat!("../../templates/", $path))),* }
            }
        }
    };
}

templates! {
    Admission = "src/kind/admission.rs.hbs",
    Agents = "AGENTS.md.hbs",
    CargoToml = "Cargo.toml.hbs",
    Conversions = "src/kind/conversions.rs.hbs",
    Chart = "deploy/chart/Chart.yaml.hbs",
    ChartHelpers = "deploy/chart/helpers.tpl.hbs",
    ChartNotes = "deploy/chart/NOTES.txt.hbs",
    Component = "deploy/component.yaml.hbs",
    Dockerfile = "Dockerfile.hbs",
    Dockerignore = "dockerignore.hbs",
    Gitattributes = "gitattributes.hbs",
    Gitignore = "gitignore.hbs",
    Kustomization = "deploy/kustomization.yaml.hbs",
    Lib = "src/lib.rs.hbs",
    MachineTest = "tests/machine.rs.hbs",
    Main = "src/main.rs.hbs",
    Object = "src/kind/object.rs.hbs",
    Readme = "README.md.hbs",
    Runbook = "docs/runbook.md.hbs",
    Shared = "src/shared.rs.hbs",
    States = "docs/states.md.hbs",
    Versions = "docs/versions.md.hbs",
    Workflow = "github/workflows/ci.yml.hbs",
}

static REGISTRY: LazyLock<Handlebars<'static>> = LazyLock::new(|| {
    let mut registry = Handlebars::new();
    registry.set_strict_mode(true);
    // The output is not HTML.
    registry.register_escape_fn(no_escape);
    handlebars_helper!(yaml: |text: str| scalar(text));
    registry.register_helper("yaml", Box::new(yaml));
    for template in Template::ALL {
        // Templates are part of the program, and a test compiles all of them.
        let compiled = registry.register_template_string(template.path(), template.source());
        compiled.expect("the template is well-formed");
    }
    registry
});

impl Template {
    /// The file, with these values inserted.
    pub fn render(self, values: &Json) -> String {
        // Rendering fails only if a value is missing, and tests render each template.
        REGISTRY
            .render(self.path(), values)
            .expect("the template has its values")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, fs, path::Path};

    #[test]
    fn every_file_in_templates_is_a_variant_and_every_variant_has_a_file() {
        fn collect(folder: &Path, found: &mut BTreeSet<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    collect(&path, found);
                } else if path.extension().is_some_and(|e| e == "hbs") {
                    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
                    found.insert(
                        path.strip_prefix(root)
                            .unwrap()
                            .to_str()
                            .unwrap()
                            .replace('\\', "/"),
                    );
                }
            }
        }
        let mut found = BTreeSet::new();
        collect(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("templates"),
            &mut found,
        );
        let named: BTreeSet<String> = Template::ALL
            .iter()
            .map(|template| template.path().to_owned())
            .collect();
        assert_eq!(found, named);
        LazyLock::force(&REGISTRY);
    }
}
