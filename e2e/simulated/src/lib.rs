//! The operator of the contract tests. `build.rs` renders it.
#![allow(
    missing_docs,
    clippy::match_single_binding,
    reason = "a program writes the handlers, and generated crates need no docs for each item"
)]

include!(concat!(env!("OUT_DIR"), "/src/lib.rs"));

/// Its description.
pub const DESCRIPTION: &str = include_str!(concat!(env!("OUT_DIR"), "/krator.yaml"));
/// Its manifests, apart from the definitions in [`ABOUT`].
pub const MANIFESTS: [&str; 3] = [
    include_str!(concat!(env!("OUT_DIR"), "/deploy/rbac.yaml")),
    include_str!(concat!(env!("OUT_DIR"), "/deploy/policies.yaml")),
    include_str!(concat!(env!("OUT_DIR"), "/deploy/sample.yaml")),
];

/// The operator with all its kinds, without its surroundings.
pub fn runtime() -> krator_runtime::OperatorRuntime {
    krator_runtime::OperatorRuntime::new("scripted-operator")
        .operator(moose::MooseOperator::default())
        .operator(backup::BackupOperator::default())
        .operator(postgresql::PostgresqlOperator::default())
        .operator(order::OrderOperator::default())
        .operator(helm_release::HelmReleaseOperator::default())
        .handlers(krator_runtime::Handlers::OneThread)
        .health_probe_bind_address("0")
        .metrics_bind_address("0")
}
