//! Reads the stored objects of a cluster, to count those that an edit breaks.

use crate::compare::{Census, Comparison, Listed, resources};
use crate::model::Description;
#[cfg(feature = "cluster")]
use clap::ValueEnum;

#[cfg(feature = "cluster")]
pub use super::cluster::stored;

/// An additional source that an edit is compared with.
#[cfg(feature = "cluster")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// The objects of the cluster that the kubeconfig names, which is $KUBECONFIG or ~/.kube/config
    Cluster,
}

/// Lists the stored objects of a resource, which is named as `moose.v1.animals.com`, page by page.
pub type Stored<'a> = &'a dyn Fn(&str, &mut dyn FnMut(&Listed)) -> anyhow::Result<()>;

/// Takes a census of the stored objects: which of them an edit breaks, and how the operator continues with all of them.
pub fn count(
    comparison: &Comparison,
    old: &Description,
    new: &Description,
    stored: Stored<'_>,
) -> anyhow::Result<Vec<Census>> {
    resources(old, new)
        .iter()
        .map(|resource| {
            let mut census = Census::new(resource);
            stored(&resource.name, &mut |page| {
                census.add(comparison, [old, new], resource, page);
            })?;
            Ok(census)
        })
        .collect()
}
