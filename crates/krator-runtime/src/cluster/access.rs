//! What handlers may ask of the cluster: what the description grants, and no more, or it does not compile.
use super::Place;
use crate::{Context, Machine, Object as _};
use kube::{Api, Resource};

/// The description gives this machine's operator rights on `K`. Generated.
#[diagnostic::on_unimplemented(
    message = "the operator has no access to `{K}`",
    label = "no rights on `{K}`",
    note = "add the kind to `owns`, `watches` or `access` in krator.yaml, then run `krator gen`"
)]
pub trait Grants<K>: Machine {}

impl<M: Machine> Context<'_, M> {
    /// Objects of a kind, in this object's namespace; of the whole cluster where one of them has none.
    ///
    /// # Panics
    ///
    /// In a test without a cluster.
    pub fn api<K: Resource<DynamicType = (), Scope: Place>>(&self) -> Api<K>
    where
        M: Grants<K>,
    {
        // A mistake of a test, never a state of an operator: there the client is always set.
        let client = self.client.cloned().expect("there is no cluster here");
        <K::Scope as Place>::api(client, self.manifest().namespace())
    }
}
