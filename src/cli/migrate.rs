//! `krator migrate`, which moves stored objects to one version of their kind.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};

use super::{NO_CARGO, crate_path, folder_of, read, sound};
use crate::text::printable;

/// Moves all stored objects to the version in which objects are stored now, so that a former one can be dropped
///
/// It builds the operator of the crate that contains the current folder, and runs it with `migrate` in the cluster that kubectl
/// is configured for. Every object is written once, as it is, and the CRD says then that no other version is stored. If it is
/// interrupted, the next run continues from there.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The kubeconfig of the cluster [default: $KUBECONFIG, or ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// How many objects to write in a second, at most
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// Further arguments of the operator, as in `krator migrate -- --registry-url URL`
    #[arg(last = true, value_name = "ARGUMENT")]
    own: Vec<OsString>,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let path = crate_path("migrate")?;
    if !sound(&read(&path)?)?.has_versions() {
        bail!(
            "there is nothing to migrate: `{}` has no `versions`, so all objects are stored in its only version",
            printable(&path.display().to_string())
        );
    }
    let mut cargo = Command::new("cargo");
    cargo.args([
        "run",
        "--quiet",
        "--",
        "migrate",
        "--rate",
        &args.rate.to_string(),
    ]);
    if let Some(kubeconfig) = &args.kubeconfig {
        // The operator runs in the folder of the crate.
        let kubeconfig = std::path::absolute(kubeconfig).context("cannot determine the current folder")?;
        cargo.arg("--kubeconfig").arg(kubeconfig);
    }
    cargo.args(&args.own);
    let status = cargo.current_dir(folder_of(&path)).status();
    let status = status.context(NO_CARGO)?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
