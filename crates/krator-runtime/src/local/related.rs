//! Objects of other kinds, as tests see them.
use super::{Fixture, Handle};
use crate::{error::Result, machine::Machine, resource::Child};
use std::sync::Arc;

impl<M: Machine> Handle<M> {
    /// All objects of another kind, whether handlers applied or created them or the test did.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        self.0.others.all()
    }
    /// The last apply of each object of another kind that handlers applied.
    pub fn applied<K: Child>(&self) -> Vec<K> {
        self.0.others.applied()
    }
}

impl<M: Machine> Fixture<M> {
    /// All objects of another kind, whether handlers applied or created them or the test did.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        self.others.all()
    }
    /// The last apply of each object of another kind that the handler applied: the sent fields, with the metadata that
    /// the runtime adds.
    pub fn applied<K: Child>(&self) -> Vec<K> {
        self.others.applied()
    }
    /// Gives all objects of this kind the status that their controller writes after success, for the next call of a
    /// handler.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn make_ready<K: Child>(&self) {
        self.others.report::<K>(true);
    }
    /// Gives all objects of this kind the status that their controller writes after a permanent failure.
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
