//! Takes a backup of a set of namespaces, waits for the plugins that move the data, and closes it.
//!
//! [`backup::prelude`] explains how to write a handler. Declare your own modules in this file.
#![forbid(unsafe_code)]

pub mod backup;
pub mod shared;

/// What the program prints for `--help`, `--version` and `crd`.
pub const ABOUT: krator_runtime::About = krator_runtime::About {
    name: env!("CARGO_PKG_NAME"),
    version: env!("CARGO_PKG_VERSION"),
    about: env!("CARGO_PKG_DESCRIPTION"),
    crd: include_str!("../deploy/crd.yaml"),
};
