//! Runs databases of one pod each, backs them up on a schedule and before they are deleted, and restores backups on approval.
//!
//! [`database::prelude`] explains how to write a handler. Declare your own modules in this file.
#![forbid(unsafe_code)]

pub mod backup;
mod children;
pub mod database;
mod jobs;
pub mod restore;
mod schedule;
pub mod shared;

/// What the program prints for `--help`, `--version` and `crd`.
pub const ABOUT: krator_runtime::About = krator_runtime::About {
    name: env!("CARGO_PKG_NAME"),
    version: env!("CARGO_PKG_VERSION"),
    about: env!("CARGO_PKG_DESCRIPTION"),
    crd: include_str!("../deploy/crd.yaml"),
};
