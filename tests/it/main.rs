//! The tests that need only Rust, in one binary, so that they are linked once. Tests that need a server, compile many
//! crates or take minutes are in `e2e`.

use krator_tests::{
    block, case_file, code_case, descriptions, dice, documents, edit_case, graph_edges, hostile_names,
    hostile_texts, operator, outputs, random_crd, random_description, random_value, random_versions,
    regenerate, version_pair, website, yaml,
};

// A generated operator, built, tested and run on the embedded API server.
#[cfg(feature = "dev")]
mod first_operator;
// The subcommands that read a cluster, on the embedded API server.
#[cfg(feature = "cluster")]
mod cluster;
// The laws of conversions between versions.
mod versions;
// Histories of widely used APIs, as versions.
mod histories;
// The documents of this repository: their links, their picture and their lists of files.
mod repo_docs;
// Statements about missing features, which must be true.
mod claims;
// The code in the documents: commands, descriptions and handlers.
mod pages;
// The table of keys, the parser and the reference of the language, which agree with each other.
mod language;
// Whether random descriptions use the whole language.
mod language_coverage;
// Fixes of descriptions.
mod fixes;
// The requests of editors about an incomplete text.
mod tolerant_tree;
// The language server, with a scripted client.
mod editor;
// The findings in descriptions with a mistake.
mod findings;
// krator's report on an edit.
mod compare;
// krator's forecast of the effects of an edit on stored objects.
mod forecast;
// Descriptions that the API server refuses although an early krator accepted them.
mod found;
// The rules over graphs, against brute force.
mod graphs;
// Malicious and random descriptions.
mod hostile;
// Generated crates, compared with reviewed ones.
mod goldens;
// Kinds whose schema is in a file of the description.
mod schemas;
// Generated code, which must not panic for any stored object.
mod panics;
// The output of krator for programs, and its schemas.
#[cfg(feature = "cluster")]
mod printed;
// Random machines: each edge with each fault, in this process.
mod machines;
// Policies, and the rights that they need.
mod policies;
// The rooms of the crates, and the uses between them.
mod layers;
// Texts and names of a description that have a special meaning in generated files.
mod injection;
// `krator gen` after edits of a description or of a crate.
mod regen;
// The description that `krator gen` accepted, which edits under `krator dev` do not change.
mod promise;
// Hand-written code, checked against its description.
mod code;
// The fields that clusters store, whose types never change.
mod stored;
// Wrong uses of commands.
mod usage;
// Descriptions from CRDs, and their omissions.
mod import;
// The first description of a user: `krator init` and the examples of `krator new`.
mod starters;
