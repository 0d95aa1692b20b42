//! The operator of Door.
#![forbid(unsafe_code)]

pub mod door;
mod hinges;
pub mod shared;

/// What the program says of itself.
pub const ABOUT: krator_runtime::About = krator_runtime::About {
    name: env!("CARGO_PKG_NAME"),
    version: env!("CARGO_PKG_VERSION"),
    about: env!("CARGO_PKG_DESCRIPTION"),
    crd: include_str!("../deploy/crd.yaml"),
};
