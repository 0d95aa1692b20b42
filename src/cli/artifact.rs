//! `krator gen crd` and similar commands, each of which prints one generated file.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::model::Extra;
use crate::render::{self, Runtime};
use anyhow::Context as _;
use clap::Subcommand;

use super::read_sound;

/// A generated file that can be printed by itself.
#[derive(Debug, Subcommand)]
pub enum Artifact {
    /// Print the CustomResourceDefinition
    Crd(Args),
    /// Print the ServiceAccount, the roles and their bindings
    Rbac(Args),
    /// Print the Deployment
    Deploy(Args),
    /// Print all manifests in one file
    Install(Args),
    /// Print the Dockerfile
    Dockerfile(Args),
    /// Print an object of each kind
    Sample(Args),
}

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The description; `-` reads it from stdin; by default krator.yaml in this folder or a parent
    spec: Option<PathBuf>,
}

impl Artifact {
    fn path_and_args(&self) -> (&'static str, &Args) {
        match self {
            Artifact::Crd(args) => ("deploy/crd.yaml", args),
            Artifact::Rbac(args) => ("deploy/rbac.yaml", args),
            Artifact::Deploy(args) => ("deploy/deployment.yaml", args),
            Artifact::Install(args) => (Extra::Install.place(), args),
            Artifact::Dockerfile(args) => ("Dockerfile", args),
            Artifact::Sample(args) => ("deploy/sample.yaml", args),
        }
    }
}

pub fn run(artifact: &Artifact) -> anyhow::Result<ExitCode> {
    let (path, args) = artifact.path_and_args();
    let (source, mut description) = read_sound(args.spec.as_deref())?;
    // The file is printed even if the crate does not keep it.
    description.deploy.extras.insert(Extra::Install);
    let plan = render::plan(&description, &source, &Runtime::Vendored);
    let file = plan
        .get(path)
        .with_context(|| format!("`{path}` is not a generated file"))?;
    super::stdout().write_all(file.contents.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
