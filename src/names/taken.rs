//! Names that are names, and yet cannot be used.

/// Keywords of Rust, reserved ones too, all editions.
const KEYWORDS: &[&str] = &[
    "Self", "_", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self",
    "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// What a handler has in scope by the prelude of its kind, and what generated code says by the prelude of Rust: a
/// state, a kind or a type of that name would be another thing there. Names that belong to one description, such as
/// `MooseSpec`, are the rules' matter.
pub const HANDLER_IMPORTS: &[&str] = &[
    "Box",
    "Context",
    "Err",
    "None",
    "ObjectState",
    "Ok",
    "Operator",
    "Option",
    "Result",
    "SharedState",
    "Some",
    "State",
    "String",
    "Transition",
    "Vec",
];

/// Statics that stand beside the states in the generated machine.
pub const MACHINE_STATICS: &[&str] = &["GRAPH", "STATES"];

/// What the file of a kind's types imports.
pub const TYPE_IMPORTS: &[&str] = &[
    "Default",
    "Deserialize",
    "MachineStatus",
    "ObjectStatus",
    "Serialize",
];

/// The machine's part of a generated status; the only name in a status that the language does not give.
pub const MACHINE_FIELD: &str = "machine_status";

/// What the code of a kind names after it.
pub const KIND_ENDINGS: &[&str] = &["", "Spec", "Status", "Machine", "State", "Operator"];

/// Names that Windows keeps for devices, with any extension.
const DEVICES: &[&str] = &[
    "aux", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con", "lpt1", "lpt2",
    "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul", "prn",
];

/// Crates of the standard library and folders of cargo's; a package of that name does not build.
const PACKAGES: &[&str] = &[
    "alloc",
    "core",
    "proc-macro",
    "std",
    "test",
    "build",
    "deps",
    "examples",
    "incremental",
];

/// What a generated crate depends on, in any version of krator.
const DEPENDENCIES: &[&str] = &[
    "anyhow",
    "chrono",
    "futures",
    "jiff",
    "k8s-openapi",
    "krator",
    "krator-runtime",
    "kube",
    "kube-client",
    "kube-core",
    "kube-derive",
    "kube-runtime",
    "rand",
    "rcgen",
    "rustls",
    "schemars",
    "serde",
    "serde-json",
    "serde-yaml",
    "tempfile",
    "thiserror",
    "tokio",
    "tracing",
    "tracing-subscriber",
    "yaml-serde",
];

/// Whether Rust keeps the word for itself.
pub fn is_rust_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Whether Windows keeps the word for a device, as a file of any extension.
pub fn is_device(name: &str) -> bool {
    DEVICES.contains(&name.to_ascii_lowercase().as_str())
}

/// Why a module (and its file) cannot have the name, if it cannot.
pub fn unusable_module(module: &str) -> Option<&'static str> {
    match module {
        "self" | "super" | "crate" | "_" | "" => Some("Rust keeps the word for itself"),
        "mod" => Some("its file would be `mod.rs`, which is the folder's own"),
        _ if is_device(module) => Some("Windows keeps the word for a device"),
        _ => None,
    }
}

/// Why an operator cannot have the name, if it cannot.
pub fn unusable_operator(name: &str) -> Option<&'static str> {
    if is_rust_keyword(name) {
        Some("Rust keeps the word for itself")
    } else if PACKAGES.contains(&name) {
        Some("cargo cannot build a package of that name")
    } else if DEPENDENCIES.contains(&name) {
        Some("the generated crate depends on a crate of that name")
    } else if is_device(name) {
        Some("Windows keeps the word for a device")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_generated_crates_are_taken() {
        let lock: toml_edit::DocumentMut = include_str!("../../templates/Cargo.lock").parse().unwrap();
        let packages = lock["package"].as_array_of_tables().unwrap();
        let generated = packages
            .iter()
            .find(|package| package["name"].as_str() == Some("generated-operator"))
            .unwrap();
        let dependencies: Vec<&str> = generated["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|dependency| dependency.as_str()?.split(' ').next())
            .collect();
        assert!(dependencies.contains(&"krator-runtime"));
        for dependency in dependencies {
            // An operator has no `_` in its name; to rustc the crates are one all the same.
            let name = dependency.replace('_', "-");
            assert!(unusable_operator(&name).is_some(), "{name}");
        }
    }
}
