//! `krator graph --live`: the objects of a cluster in the states of the graph.

use anyhow::Context as _;

use crate::cli::cluster::{Cluster, Connection, Request, resource_path, unserved};
use crate::model::{Description, Scope};
use crate::population::Population;

/// Which objects are counted, if any.
#[derive(Debug, clap::Args)]
pub struct Live {
    /// With the number of objects in each state of the cluster, and the one that has been there longest
    #[arg(long)]
    live: bool,
    /// Only count objects in this namespace [default: all]
    #[arg(long, short, value_name = "NAMESPACE", requires = "live")]
    namespace: Option<String>,
    #[command(flatten)]
    connection: Connection,
}

/// The objects in their states, if `--live` is given.
pub fn population(args: &Live, description: &Description) -> anyhow::Result<Option<Population>> {
    if !args.live {
        return Ok(None);
    }
    let cluster = Cluster::connect(&args.connection).context("cannot use the kubeconfig")?;
    let answer = cluster
        .ask(Request::get("/version"))
        .context("the cluster does not answer")?;
    let now = answer
        .time
        .context("the API server sent no valid `Date` header")?;
    let objects = description.kinds.iter().map(|kind| {
        let resource = &kind.resource;
        let namespace = args
            .namespace
            .as_deref()
            .filter(|_| resource.scope.value == Scope::Namespaced);
        let (group, version, plural) = (
            resource.group.as_str(),
            resource.version.as_str(),
            resource.plural.as_str(),
        );
        let listed = cluster.list(&resource_path(group, version, plural, namespace));
        let listed = listed.with_context(|| format!("cannot list {}", resource.definition()))?;
        listed.with_context(|| {
            let why = unserved(&cluster, kind);
            why.unwrap_or_else(|| format!("the cluster does not list {}", resource.definition()))
        })
    });
    let objects = objects.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Some(Population::of(description, now, &objects)))
}
