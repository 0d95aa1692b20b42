//! The tests that need nothing but Rust, in one binary, so that they are linked once. Whatever needs a server, compiles many
//! crates or takes minutes is in `e2e`.

use krator_tests::{
    block, case_file, code_case, descriptions, dice, documents, edit_case, graph_edges, hostile_names,
    hostile_texts, operator, outputs, random_crd, random_description, random_value, random_versions,
    regenerate, version_pair, website, yaml,
};

// A generated operator, built, tested and run on the embedded API server.
#[cfg(feature = "dev")]
mod first_operator;
// The verbs that look into a cluster, on the embedded API server.
#[cfg(feature = "cluster")]
mod cluster;
// The laws of conversions between versions.
mod versions;
// Histories of APIs that people use, as versions.
mod histories;
// The documents of this repository: their links, their picture and their lists of files.
mod repo_docs;
// What is said to be missing, and is.
mod claims;
// The code in the documents: commands, descriptions and handlers.
mod pages;
// The table of keys, the parser and the reference of the language, which agree with each other.
mod language;
// Whether random descriptions use the whole language.
mod language_coverage;
// Fixes of descriptions.
mod fixes;
// What editors ask about a text that is being written.
mod tolerant_tree;
// The language server, by a scripted client.
mod editor;
// The findings about descriptions with a mistake.
mod findings;
// What krator says of an edit.
mod compare;
// What krator says that an edit does to stored objects.
mod forecast;
// Descriptions that the API server refuses although an early krator accepted them.
mod found;
// The rules over graphs, against brute force.
mod graphs;
// Malicious and random descriptions.
mod hostile;
// Generated crates, compared with reviewed ones.
mod goldens;
// Kinds with a schema in a file of the description.
mod schemas;
// Generated code, which nothing that a server stores may end.
mod panics;
// What krator prints for programs, and its schemas.
#[cfg(feature = "cluster")]
mod printed;
// Random machines, each edge of them with each fault, in this process.
mod machines;
// Policies, and the rights that they ask for.
mod policies;
// The rooms of the crates, and which uses which.
mod layers;
// Texts and names of a description that have a special meaning in generated files.
mod injection;
// `krator gen` after edits of a description or of a crate.
mod regen;
// What `krator gen` accepted, which edits under `krator dev` do not change.
mod promise;
// Hand-written code, checked against its description.
mod code;
// The fields that clusters store, whose types never change.
mod stored;
// Commands that are used the wrong way.
mod usage;
// Descriptions from CRDs, and what they leave out.
mod import;
// What a new description begins with: `krator init` and the examples of `krator new`.
mod starters;
