//! All integration tests, in one binary, so that they are linked once and share one API server.

// The API server that tests run against, and what they see of it. Its own tests are here too.
mod cluster;
// Test cases that are one file each. Its own tests are here too.
mod case_file;
// Random numbers that are the same in each run.
mod dice;
// Generated crates: building one, and running its operator. No tests of behaviour.
mod operator;

// A promise of the moose operator on a real API server.
mod moose;
// Two kinds in one operator, on a real API server.
mod karpenter;
// The promises of the runtime under faults, judged by an oracle.
mod contract;
// What depends on how things were built: a krator from its packages, and what an operator has inside.
mod package;
// The files that people read first, held to what is there.
mod house;
// What krator finds wrong with descriptions.
mod findings;
// What an edit breaks, as krator says and as an API server does.
mod compare;
// The rules over graphs, against brute force.
mod graphs;
// Descriptions that mean no good.
mod hostile;
// What is written for a description, held to what was read.
mod goldens;
// Every good description's crate, and cargo's opinion of it.
mod crates;
// Whether the tests of generated crates see a defect of the runtime.
mod planted;
// Texts that some reader of YAML takes for something else.
mod manifests;
// The rooms of both crates, and which uses which.
mod layers;
// What wakes a state.
mod watches;
// Objects that an operator makes for its own.
mod children;
// What is written for clusters, judged by a real API server.
mod accept;
// Texts and names that would mean something else in the files that they get into.
mod injection;
// Crates that are brought in step with an edited description.
mod regen;
// What people wrote, held against their description.
mod code;
