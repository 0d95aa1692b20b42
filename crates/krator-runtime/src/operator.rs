//! The part of an operator that its author writes beside the machine: the memory of its objects.
use crate::{
    error::Result,
    machine::{Machine, ManifestOf, SharedOf},
};
use std::{future::Future, sync::Arc};

/// The operator of one kind. It makes the memory that its objects begin with. You write it, in `object.rs`.
///
/// ```
#[doc = include_str!("doc/website.txt")]
#[doc = include_str!("doc/publish.txt")]
/// #[derive(Default)]
/// struct WebsiteOperator {
///     sites: Arc<Sites>,
/// }
///
/// impl Operator for WebsiteOperator {
///     type Machine = WebsiteMachine;
///
///     async fn initialize_object_state(&self, website: &Website) -> Result<WebsiteMemory> {
///         if website.spec.replicas == 0 {
///             return Err(Error::permanent("a website has at least one replica"));
///         }
///         Ok(WebsiteMemory::default())
///     }
///
///     async fn shared_state(&self) -> Arc<Sites> {
///         Arc::clone(&self.sites)
///     }
/// }
/// ```
pub trait Operator: Sized + Send + Sync + 'static {
    /// The machine that drives the objects.
    type Machine: Machine;

    /// Makes the memory of an object. It is called before the first handler of a new object runs, and once for each
    /// object after a restart.
    ///
    /// # Errors
    ///
    /// Any error. It is handled like an error of the handler that was about to run.
    fn initialize_object_state(
        &self,
        manifest: &ManifestOf<Self::Machine>,
    ) -> impl Future<Output = Result<<Self::Machine as Machine>::ObjectState>> + Send;

    /// Makes the state that all objects share. It is called once, when the operator starts.
    fn shared_state(&self) -> impl Future<Output = Arc<SharedOf<Self::Machine>>> + Send;
}
