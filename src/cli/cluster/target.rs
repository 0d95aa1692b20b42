//! The object that the arguments of a verb name.

use anyhow::{Context as _, bail};

use super::{Cluster, Connection, Request, Response, resource_path, unserved};
use crate::model::{Description, Kind, Scope};
use crate::text::printable;
use crate::why::kind_named;

/// The arguments that name an object.
#[derive(Debug, clap::Args)]
pub struct Target {
    /// The object: KIND/NAME, or KIND and NAME, or NAME in a crate of one kind; the kind by any name that kubectl takes
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    object: Vec<String>,
    /// The namespace of the object [default: that of the kubeconfig's context]
    #[arg(long, short, value_name = "NAMESPACE")]
    namespace: Option<String>,
    #[command(flatten)]
    connection: Connection,
}

/// An object of a kind, in a cluster.
pub struct Named<'d> {
    pub cluster: Cluster,
    pub kind: &'d Kind,
    pub namespace: Option<String>,
    pub name: &'d str,
}

impl Target {
    /// Resolves the arguments to an object of a described kind. This sends no request.
    ///
    /// # Errors
    ///
    /// If the arguments do not name an object of a described kind, or if no kubeconfig can be used.
    pub fn find<'d>(&'d self, description: &'d Description) -> anyhow::Result<Named<'d>> {
        let only = match &description.kinds[..] {
            [kind] => Some(kind.resource.kind.as_str()),
            _ => None,
        };
        let (kind, name) = match &self.object[..] {
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
                "`{}` is not the name of an object; name one as KIND/NAME",
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
        let cluster = Cluster::connect(&self.connection).context("cannot use the kubeconfig")?;
        let namespace = (kind.resource.scope.value == Scope::Namespaced).then(|| {
            self.namespace
                .clone()
                .unwrap_or_else(|| cluster.default_namespace().to_owned())
        });
        Ok(Named {
            cluster,
            kind,
            namespace,
            name,
        })
    }
}

impl Named<'_> {
    /// The object as the API server returns it.
    ///
    /// # Errors
    ///
    /// If there is no such object, or if it cannot be read.
    pub fn read(&self) -> anyhow::Result<Response> {
        let answer = self.cluster.ask(Request::get(self.path()));
        let answer = answer.context("the cluster does not answer")?;
        let place = self.namespace.as_deref();
        let place = place.map_or(String::new(), |namespace| {
            format!(" in the namespace `{}`", printable(namespace))
        });
        let called = format!("{} `{}`{place}", self.kind.resource.definition(), self.name);
        match answer.code {
            200..300 => Ok(answer),
            404 => {
                bail!(unserved(&self.cluster, self.kind).unwrap_or_else(|| format!("there is no {called}")))
            }
            _ => bail!("{called} cannot be read: {}", answer.message()),
        }
    }

    /// The path of the object in the API.
    pub fn path(&self) -> String {
        format!("{}/{}", self.path_of_all(self.namespace.as_deref()), self.name)
    }

    /// The path of all objects of its kind in the API, in one namespace or in all.
    pub fn path_of_all(&self, namespace: Option<&str>) -> String {
        let resource = &self.kind.resource;
        let (group, version, plural) = (&resource.group, &resource.version, &resource.plural);
        resource_path(group.as_str(), version.as_str(), plural.as_str(), namespace)
    }
}

fn kinds(description: &Description) -> String {
    let kinds = description.kinds.iter().map(|kind| kind.resource.kind.as_str());
    kinds.collect::<Vec<_>>().join(", ")
}
