//! The operator of NodeClaim and NodePool.
//!
//! [`node_claim::prelude`] explains how to write a handler. Declare your own modules in this file.
#![forbid(unsafe_code)]

#[rustfmt::skip]
pub mod types;
pub mod node_claim;
pub mod node_pool;
pub mod shared;

/// What the program prints for `--help`, `--version` and `crd`.
pub const ABOUT: krator_runtime::About = krator_runtime::About {
    name: env!("CARGO_PKG_NAME"),
    version: env!("CARGO_PKG_VERSION"),
    about: env!("CARGO_PKG_DESCRIPTION"),
    crd: include_str!("../deploy/crd.yaml"),
};
