//! Tests that need a server, compile many crates or take minutes, in one binary, so that they are linked once and share
//! one API server. Tests that need only Rust and seconds are in `tests/it` of the repository.

use krator_tests::{
    block, case_file, code_case, descriptions, dice, documents, edit_case, graph_edges, hostile_names,
    hostile_texts, outputs, random_description, random_value, regenerate, unreadable, website, yaml,
};

// Not tests, but their fixtures: a real API server, and watches of it.
mod cluster;
// Fixtures that several tests share.
mod joint;
// Installed and running operators.
mod operator;
// Operators whose handlers follow the scripts of tests.
mod scripted_operator;

// The promises of the runtime on a real API server, with the operator of the first example.
mod moose;
// Operators under `krator demo` and `krator dev`.
mod live;
// The answers of an operator to probes.
mod probes;
// Replicas of an operator in memory, with a simulated clock.
mod sim;
// Every overload of CEL with random operands, in this repository and on the API server.
mod calls;
// Quantities, compared with the library of Kubernetes.
mod quantities;
// Handlers that block their thread, and must not delay others.
mod blocking;
// The metrics and pages of an operator, and who may read them.
mod metrics;
// Webhooks of a generated operator on both API servers, and failures of these webhooks.
mod webhooks;
// Faults that are planted beside a running operator, and the report of `krator doctor`.
mod doctor;
// The output of `krator why` and `krator graph --live` for objects of an operator.
mod why;
// Approvals of entries into states.
mod approvals;
// A rollout to another description and back.
mod rollout;
// The rights that an operator uses, and those that it has.
mod rights;
// An operator of two kinds, on a real API server.
mod karpenter;
// The example with written handlers: the life of a database, under `krator dev` and on a real API server.
mod database;
// The embedded API server and a real one answer alike, and the output of kubectl is the same for both.
mod conformance;
// Workloads of the embedded API server that become ready or fail.
mod workloads;
// Every builtin kind that descriptions may name, created, applied, watched and deleted on the embedded API server.
mod kinds;
// Operators whose objects have the same histories on the embedded API server and on a real one.
mod lives;
// The promises of the runtime under faults, judged by an oracle.
mod contract;
// A krator that is built from its packages, and the CRD that an operator prints.
mod package;
// The commands and the handlers in the pages of the documentation.
mod pages;
// The effects of an edit on stored objects in an API server.
mod compare;
// The crate of every good description passes its own checks.
mod crates;
// The build for the tests of the other packages also serves these tests.
mod dependencies;
// Whether the tests of generated crates detect defects of the runtime.
mod planted;
// The types of Kubernetes itself, and the file in which the command has them.
mod kubernetes_types;
// Handlers that use the types of a foreign kind.
mod schemas;
// Refusals by rules of a CRD and by policies: for which users, and with which messages.
mod admission;
// Strings that some YAML parsers read as other types.
mod manifests;
// The chart, kustomize and `dist/install.yaml` contain the same objects, and alerts fire when they should.
mod deployed;
// The watches that requeue objects in a state, on a real API server.
mod watches;
// Values at the limits of every type, in objects and in defaults.
mod edges;
// Children of objects, on a real API server.
mod children;
// Generated manifests, and objects that violate their schema, on a real API server.
mod accept;
// Random descriptions and values: krator compared with a real API server.
mod differential;
// Texts and names with a special meaning, under the compiler and on a real API server.
mod injection;
// `krator gen` in crates that cargo compiles.
mod regen;
// Hand-written code under the compiler.
mod code;
// Imported descriptions compared with their original CRDs, on a real API server.
mod import;
// Objects that are written in one version of a kind are read in all versions, on a real API server.
mod versions;
