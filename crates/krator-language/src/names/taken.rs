//! Valid names that cannot be used because Rust, cargo, Windows or generated code reserves them.

use super::RustKindName;

/// The keywords of all editions of Rust, including reserved ones.
const KEYWORDS: &[&str] = &[
    "Self", "_", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self",
    "static", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// The names that a handler imports with the prelude of its kind, and those that generated code uses from the prelude of
/// Rust. A state, kind or type with one of these names would be ambiguous. Names that depend on the description, such as
/// `MooseSpec`, are checked by the rule name-collision.
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

/// The prelude of Rust, whose names handlers and generated code use without an import. A type with the name of a trait
/// would hide the trait and its methods.
pub const RUST_PRELUDE: &[&str] = &[
    "AsMut",
    "AsRef",
    "AsyncFn",
    "AsyncFnMut",
    "AsyncFnOnce",
    "Box",
    "Clone",
    "Copy",
    "Default",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
];

/// The names that the files of a kind import besides [`HANDLER_IMPORTS`].
pub(crate) const KIND_IMPORTS: &[&str] = &["Arc", "Object"];

/// The names that have a meaning in the handlers or the generated code of each kind, so that the types of other kinds
/// get other names.
pub fn taken_in_handlers() -> impl Iterator<Item = &'static str> {
    let lists = [
        HANDLER_IMPORTS,
        TYPE_IMPORTS,
        KIND_IMPORTS,
        RUST_PRELUDE,
        KEYWORDS,
    ];
    lists.into_iter().flatten().copied()
}

/// The constants and statics that are defined next to the states in the generated machine.
pub const MACHINE_STATICS: &[&str] = &["GRAPH", "RETRY", "STATES"];

/// The names that the generated module of a kind's types imports.
pub const TYPE_IMPORTS: &[&str] = &[
    "Default",
    "Deserialize",
    "MachineStatus",
    "ObjectStatus",
    "Serialize",
];

/// The Rust field of a generated status that contains the runtime's part of it. All other fields come from the
/// description or the API conventions.
pub const MACHINE_FIELD: &str = "machine_status";

/// The suffixes of generated types that are named after a kind.
pub const KIND_ENDINGS: &[&str] = &[
    "",
    "Spec",
    "Status",
    "Machine",
    "Memory",
    "State",
    "Operator",
    CONDITION_ENDING,
];

/// The suffix of the generated type of a kind's own conditions. Only kinds that have such conditions have the type.
pub const CONDITION_ENDING: &str = "Condition";

/// The names that Windows reserves for devices, with any extension.
const DEVICES: &[&str] = &[
    "aux", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con", "lpt1", "lpt2",
    "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul", "prn",
];

/// The crates of the standard library and the folders of cargo's target directory. Cargo cannot build a package with
/// such a name.
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

/// The dependencies of generated crates, of any version of krator.
const DEPENDENCIES: &[&str] = &[
    "anyhow",
    "chrono",
    "futures",
    "jiff",
    "k8s-openapi",
    "krator",
    "krator-machine",
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

/// Whether the name is a keyword of Rust.
pub fn is_rust_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// Whether Windows reserves the name for a device, so that no file can have it.
fn is_device(name: &str) -> bool {
    DEVICES.contains(&name.to_ascii_lowercase().as_str())
}

/// Why a module and its file cannot have the name, or `None` if they can.
pub fn unusable_module(module: &str) -> Option<&'static str> {
    match module {
        "self" | "super" | "crate" | "_" | "" => Some("this is a keyword of Rust"),
        "mod" => Some("its file would be `mod.rs`, which belongs to the parent module"),
        _ if is_device(module) => Some("Windows reserves this name for a device"),
        _ => None,
    }
}

/// Whether the name is a keyword of Rust, or a type that generated code has in scope.
pub fn is_taken(name: &str) -> bool {
    HANDLER_IMPORTS.contains(&name) || TYPE_IMPORTS.contains(&name) || is_rust_keyword(name)
}

/// The modules of the generated crate that do not belong to a kind.
const CRATE_MODULES: [&str; 9] = [
    "bin",
    "build",
    "generated",
    "krator_runtime",
    "lib",
    "main",
    "shared",
    "tests",
    "types",
];

/// Why a kind cannot have the name in Rust, or `None` if it can.
pub fn unusable_kind(name: &RustKindName) -> Option<&'static str> {
    let module = name.module();
    unusable_module(&module).or_else(|| {
        if CRATE_MODULES.contains(&module.as_str()) {
            Some("the generated crate has a module of this name")
        } else if is_taken(name.as_str()) || KIND_IMPORTS.contains(&name.as_str()) {
            Some("generated code uses this name for something else")
        } else {
            None
        }
    })
}

/// Why an operator cannot have the name, or `None` if it can.
pub fn unusable_operator(name: &str) -> Option<&'static str> {
    if is_rust_keyword(name) {
        Some("this is a keyword of Rust")
    } else if PACKAGES.contains(&name) {
        Some("cargo cannot build a package of this name")
    } else if DEPENDENCIES.contains(&name) {
        Some("the generated crate depends on a crate of this name")
    } else if is_device(name) {
        Some("Windows reserves this name for a device")
    } else {
        None
    }
}
