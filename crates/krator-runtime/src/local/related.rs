//! Objects of other kinds, as tests see them.
use super::{Fixture, Handle};
use crate::{error::Result, machine::Machine, resource::Child};
use std::sync::Arc;

impl<M: Machine> Handle<M> {
    /// All objects of another kind: those that handlers applied or created, and those that the test created.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        self.0.others.all()
    }
    /// The objects of another kind that handlers applied, as each was applied last.
    pub fn applied<K: Child>(&self) -> Vec<K> {
        self.0.others.applied()
    }
}

impl<M: Machine> Fixture<M> {
    /// All objects of another kind: those that handlers applied or created, and those that the test created.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        self.others.all()
    }
    /// The objects of another kind that the handler applied, as each was applied last: what it sent, with the metadata
    /// that the runtime adds.
    pub fn applied<K: Child>(&self) -> Vec<K> {
        self.others.applied()
    }
    /// Gives all objects of this kind the status that their controller writes when it has succeeded, for the next call
    /// of a handler.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn make_ready<K: Child>(&self) {
        self.others.report::<K>(true);
    }
    /// Gives all objects of this kind the status that their controller writes when it has failed for good.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn fail<K: Child>(&self) {
        self.others.report::<K>(false);
    }
    /// Creates or replaces an object of another kind, for the handler to find.
    ///
    /// # Errors
    ///
    /// If the object cannot be written as JSON.
    pub fn put<K: Child>(&self, object: &K) -> Result<()> {
        self.others.put(object)
    }
}
