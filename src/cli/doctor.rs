//! `krator doctor`.

use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};

use super::cluster::{self, Connection};
use super::{FINDINGS, crate_path, folder_of, json_text, sound, stdout};
use crate::doctor::{Site, diagnose};
use crate::workspace::Workspace;

/// Says whether the operator of this crate can work in a cluster, and if not, why and what to do
///
/// It looks at the crate that contains the current folder and at the cluster of the kubeconfig, and changes nothing. The exit code
/// is 1 if something is wrong.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    connection: Connection,
    /// The namespace of the operator [default: that of deploy/deployment.yaml]
    #[arg(long, short, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let path = crate_path("doctor")?;
    let folder = folder_of(&path);
    let workspace = Workspace::open(folder)?;
    let mut description = sound(workspace.description())?.clone();
    // Conversions and bindings contain the namespace in which the operator is installed.
    description.namespace = cluster::operator_namespace(args.namespace.as_deref(), folder, &description);
    let description = &description;
    let site = Site {
        operator: description.operator.as_str().to_owned(),
        namespace: description.namespace.clone(),
        is_ahead: workspace.is_ahead(),
        former: workspace.former().cloned(),
    };
    let mut facts = cluster::survey(&args.connection, description, &site);
    facts.cargo = no_cargo();
    let diagnosis = diagnose(description, &site, &facts);
    let text = match args.json {
        true => json_text(&diagnosis.report())?,
        false => diagnosis.to_text(),
    };
    stdout().write_all(text.as_bytes())?;
    Ok(match diagnosis.is_sound() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(FINDINGS),
    })
}

/// The reason why cargo cannot be run, if it cannot.
fn no_cargo() -> Option<String> {
    let version = Command::new("cargo")
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    match version {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(error.to_string()),
    }
}
