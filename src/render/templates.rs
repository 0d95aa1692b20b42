//! Files that people edit, as templates. `templates/` mirrors the tree that it generates.

use handlebars::Handlebars;
use serde::Serialize;

macro_rules! templates {
    ($($name:ident = $path:literal),* $(,)?) => {
        /// A template, by the file that it makes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "their paths tell")]
        pub enum Template {
            $($name,)*
        }

        impl Template {
            /// All of them.
            pub const ALL: &[Template] = &[$(Template::$name,)*];

            fn text(self) -> &'static str {
                match self {
                    $(Template::$name => include_str!(concat!("../../templates/", $path)),)*
                }
            }

            /// Its file below `templates/`.
            pub fn path(self) -> &'static str {
                match self {
                    $(Template::$name => $path,)*
                }
            }
        }
    };
}

templates! {
    CargoToml = "Cargo.toml.hbs",
    Lib = "src/lib.rs.hbs",
    Main = "src/main.rs.hbs",
    Object = "src/kind/object.rs.hbs",
    Shared = "src/shared.rs.hbs",
    MachineTest = "tests/machine.rs.hbs",
}

/// A template filled in. What it names must be there: a template never leaves a gap in silence.
pub fn render(template: Template, data: &impl Serialize) -> String {
    let mut handlebars = Handlebars::new();
    handlebars.set_strict_mode(true);
    handlebars.register_escape_fn(handlebars::no_escape);
    // Templates and their data are this crate's own, and every template is rendered by a test: a failure is a
    // bug, not an input.
    handlebars
        .render_template(template.text(), data)
        .expect("a template of ours")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, fs, path::Path};

    fn collect(folder: &Path, root: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("a folder of this package") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, root, found);
            } else if path.extension().is_some_and(|e| e == "hbs") {
                let relative = path.strip_prefix(root).expect("below the root");
                found.insert(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }

    #[test]
    fn every_template_is_known() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
        let mut found = BTreeSet::new();
        collect(&root, &root, &mut found);
        let known: BTreeSet<String> = Template::ALL.iter().map(|t| t.path().to_owned()).collect();
        assert_eq!(found, known);
    }
}
