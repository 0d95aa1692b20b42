//! All integration tests, in one binary, so that they are linked once and share one API server.

// Not tests, but what tests need. The first two have tests of their own.
// A real API server, and watches of it.
mod cluster;
// Test cases that are one file each.
mod case_file;
// Random numbers that are the same in each run.
mod dice;
// Random descriptions that use the whole language.
mod random_description;
// Generated crates, and running operators.
mod operator;
// Operators whose handlers do what a test wants.
mod scripted_operator;

// The promises of the runtime, on a real API server, by the operator of the first example.
mod moose;
// Operators that run while somebody watches: `krator demo` and `krator dev`.
#[cfg(feature = "dev")]
mod live;
// What an operator answers to probes.
mod probes;
// What an operator counts, measures and shows, and who may read it.
mod metrics;
// A rollout to another description and back.
mod rollout;
// Which rights an operator uses, and which it has.
mod rights;
// An operator of two kinds, on a real API server.
mod karpenter;
// Operators that live the same lives on the embedded API server and on a real one.
mod lives;
// The promises of the runtime under faults, judged by an oracle.
mod contract;
// A krator that is built from its packages, and the CRD that an operator prints.
mod package;
// The documents of this repository: their links, their picture and their lists of files.
mod repo_docs;
// The code in the documents: commands, descriptions and handlers.
#[cfg(feature = "dev")]
mod pages;
// The table of keys, the parser and the reference of the language, which agree with each other.
mod language;
// Fixes of descriptions.
mod fixes;
// The language server, by a scripted client.
mod editor;
// The findings about descriptions with a mistake.
mod findings;
// What an edit breaks: what krator says, and what an API server does.
mod compare;
// Descriptions that the API server refuses although an early krator accepted them.
mod found;
// The rules over graphs, against brute force.
mod graphs;
// Malicious and random descriptions.
mod hostile;
// Generated crates, compared with reviewed ones.
mod goldens;
// The crate of every good description passes its own checks.
mod crates;
// Whether the tests of generated crates see defects of the runtime.
mod planted;
// The types of Kubernetes itself, and the file that the command has them in.
mod kubernetes_types;
// Kinds with a schema in a file of the description.
mod schemas;
// Random machines, driven through their generated tests in this process.
mod machines;
// Strings that some readers of YAML take for other types.
mod manifests;
// The rooms of both crates, and which uses which.
mod layers;
// The watches that wake a state, on a real API server.
mod watches;
// Children of objects, on a real API server.
mod children;
// Generated manifests, and objects that break their schema, on a real API server.
mod accept;
// What krator and a real API server say of random descriptions and values.
mod differential;
// Texts and names of a description that have a special meaning in generated files.
mod injection;
// `krator gen` after edits of a description or of a crate.
mod regen;
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
