//! `krator why`.

use std::io::Write as _;
use std::process::ExitCode;

use super::cluster::{self, Target};
use super::{crate_path, folder_of, json_text, read, sound, stdout};
use crate::why::explain;

/// Says why an object is in its state, what it waits for, and when that is due
///
/// The description is that of the crate that contains the current folder, and the object is in the cluster of the kubeconfig.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// The namespace of the operator [default: that of deploy/deployment.yaml]
    #[arg(long, value_name = "NAMESPACE")]
    operator_namespace: Option<String>,
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let path = crate_path("why")?;
    let checked = read(&path)?;
    let description = sound(&checked)?;
    let home = cluster::operator_namespace(args.operator_namespace.as_deref(), folder_of(&path), description);
    let named = args.target.find(description)?;
    let facts = cluster::examine(&named, description, &home)?;
    let why = explain(description, named.kind, &facts);
    let text = match args.json {
        true => json_text(&why.report())?,
        false => why.to_text(),
    };
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
