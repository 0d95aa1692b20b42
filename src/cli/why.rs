//! `krator why`.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::cluster::{self, Cluster, Connection};
use super::{crate_path, folder_of, json_text, read, sound, stdout};
use crate::model::{Description, Scope};
use crate::text::printable;
use crate::why::{explain, kind_named};

/// Says why an object is in its state, what it waits for, and when that is due
///
/// The description is that of the crate that contains the current folder, and the object is in the cluster of the kubeconfig.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The object: KIND/NAME, or KIND and NAME, or NAME in a crate of one kind; the kind by any name that kubectl takes
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    object: Vec<String>,
    /// The namespace of the object [default: that of the kubeconfig's context]
    #[arg(long, short, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// The namespace of the operator [default: that of deploy/deployment.yaml]
    #[arg(long, value_name = "NAMESPACE")]
    operator_namespace: Option<String>,
    #[command(flatten)]
    connection: Connection,
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let path = crate_path("why")?;
    let checked = read(&path)?;
    let description = sound(&checked)?;
    let only = match &description.kinds[..] {
        [kind] => Some(kind.resource.kind.as_str()),
        _ => None,
    };
    let (kind, name) = match &args.object[..] {
        [kind, name] => (kind.as_str(), name.as_str()),
        [one, ..] => match (one.split_once('/'), only) {
            (Some(both), _) => both,
            (None, Some(kind)) => (kind, one.as_str()),
            (None, None) => bail!(
                "name an object as KIND/NAME: the kinds are {}",
                kinds(description)
            ),
        },
        [] => bail!("name an object as KIND/NAME"),
    };
    let is_name_char = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
    if name.is_empty() || !name.chars().all(is_name_char) {
        bail!(
            "`{}` is no name of an object; name one as KIND/NAME",
            printable(name)
        );
    }
    let Some(kind) = kind_named(description, kind) else {
        bail!(
            "krator.yaml has no kind `{}`; it has {}",
            printable(kind),
            kinds(description)
        );
    };
    let home = cluster::operator_namespace(args.operator_namespace.as_deref(), folder_of(&path), description);
    let cluster = Cluster::connect(&args.connection).context("cannot use the kubeconfig")?;
    let namespace = (kind.resource.scope.value == Scope::Namespaced).then(|| {
        args.namespace
            .clone()
            .unwrap_or_else(|| cluster.default_namespace().to_owned())
    });
    let facts = cluster::examine(&cluster, description, kind, namespace.as_deref(), name, &home)?;
    let why = explain(description, kind, &facts);
    let text = match args.json {
        true => json_text(&why.report())?,
        false => why.to_text(),
    };
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn kinds(description: &Description) -> String {
    let kinds = description.kinds.iter().map(|kind| kind.resource.kind.as_str());
    kinds.collect::<Vec<_>>().join(", ")
}
