//! Tests that need a server, compile many crates or take minutes, in one binary, so that they are linked once and share one
//! API server. Everything that needs nothing but Rust and seconds is in `tests/it` of the repository.

use krator_tests::{
    block, case_file, code_case, descriptions, dice, documents, edit_case, graph_edges, hostile_names,
    hostile_texts, outputs, random_description, random_value, regenerate, unreadable, website, yaml,
};

// Not tests, but what tests need: a real API server, and watches of it.
mod cluster;
// What several tests use together.
mod joint;
// Installed and running operators.
mod operator;
// Operators whose handlers do what a test wants.
mod scripted_operator;

// The promises of the runtime, on a real API server, by the operator of the first example.
mod moose;
// Operators that run while somebody watches: `krator demo` and `krator dev`.
mod live;
// What an operator answers to probes.
mod probes;
// Replicas of an operator in memory, on a clock that jumps.
mod sim;
// Every overload of CEL, with random operands, here and on the API server.
mod calls;
// Quantities, as the library of Kubernetes reads them.
mod quantities;
// Handlers that block, and what they do not hold up.
mod blocking;
// What an operator counts, measures and shows, and who may read it.
mod metrics;
// Webhooks of a generated operator, on both API servers, and what goes on and heals without them.
mod webhooks;
// Faults that are planted beside an operator that runs, and what `krator doctor` says of them.
mod doctor;
// What `krator why` and `krator graph --live` say of objects that an operator leads.
mod why;
// Who approves that an object enters a state, and what.
mod approvals;
// A rollout to another description and back.
mod rollout;
// Which rights an operator uses, and which it has.
mod rights;
// An operator of two kinds, on a real API server.
mod karpenter;
// The example whose handlers are written: the life of a database, under `krator dev` and on a real API server.
mod database;
// The embedded API server and a real one answer alike, and kubectl prints the same of both.
mod conformance;
// Workloads of the embedded API server that become ready or fail.
mod workloads;
// Every kind of Kubernetes that descriptions may name, created, applied, watched and deleted on the embedded API server.
mod kinds;
// Operators that live the same lives on the embedded API server and on a real one.
mod lives;
// The promises of the runtime under faults, judged by an oracle.
mod contract;
// A krator that is built from its packages, and the CRD that an operator prints.
mod package;
// The commands and the handlers in the documents.
mod pages;
// What an API server does with stored objects after an edit.
mod compare;
// The crate of every good description passes its own checks.
mod crates;
// What is built for the tests of the other packages serves these too.
mod dependencies;
// Whether the tests of generated crates see defects of the runtime.
mod planted;
// The types of Kubernetes itself, and the file that the command has them in.
mod kubernetes_types;
// Handlers that use the types of a foreign kind.
mod schemas;
// What rules of a CRD and policies refuse, to whom, and in which words.
mod admission;
// Strings that some readers of YAML take for other types.
mod manifests;
// The chart, kustomize and `dist/install.yaml` bring the same objects, and alerts fire when they should.
mod deployed;
// The watches that wake a state, on a real API server.
mod watches;
// Values at the edges of every type, in objects and in defaults.
mod edges;
// Children of objects, on a real API server.
mod children;
// Generated manifests, and objects that break their schema, on a real API server.
mod accept;
// What krator and a real API server say of random descriptions and values.
mod differential;
// Texts and names with a special meaning, under the compiler and on a real API server.
mod injection;
// `krator gen` in crates that cargo judges.
mod regen;
// Hand-written code under the compiler.
mod code;
// Imported descriptions against the CRDs that they are from, on a real API server.
mod import;
// What is written in one version of a kind is read in all, on a real API server.
mod versions;
