//! `krator gen`, which prints one artifact, or else brings a crate in step.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::ValueEnum;
use krator::render::{self, Runtime};

use super::{read_sound, regenerate};

/// Brings the crate around you in step with its krator.yaml, or prints one part of what is generated
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print this part, and write nothing
    artifact: Option<Artifact>,
    /// The description of an artifact; krator.yaml in this folder or a parent by default
    spec: Option<PathBuf>,
    #[command(flatten)]
    flags: regenerate::Flags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Artifact {
    /// The CustomResourceDefinition
    Crd,
    /// ServiceAccount, roles and their bindings
    Rbac,
    /// The Deployment
    Deploy,
    /// The Dockerfile
    Dockerfile,
    /// An object of each kind
    Sample,
}

impl Artifact {
    fn path(self) -> &'static str {
        match self {
            Artifact::Crd => "deploy/crd.yaml",
            Artifact::Rbac => "deploy/rbac.yaml",
            Artifact::Deploy => "deploy/deployment.yaml",
            Artifact::Dockerfile => "Dockerfile",
            Artifact::Sample => "deploy/sample.yaml",
        }
    }
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(artifact) = args.artifact else {
        return regenerate::run(&args.flags);
    };
    if args.flags.is_any() {
        bail!("an artifact is only printed: it goes without `--check`, `--diff` and their like");
    }
    let (source, description) = match read_sound(args.spec.as_deref())? {
        Ok(sound) => sound,
        Err(code) => return Ok(code),
    };
    let plan = render::plan(&description, &source, &Runtime::Vendored);
    let file = plan.get(artifact.path());
    // Every plan has these files; a test goes through all artifacts.
    let contents = file.map(|file| file.contents.as_str()).unwrap_or_default();
    std::io::stdout().lock().write_all(contents.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
