//! What a test does to objects of other kinds, in place of the watches of a cluster.
use super::links::Linked;
use crate::{error::Result, local::Handle, resource::Child, world::Change};
use std::any::TypeId;

impl<M: Linked> Handle<M> {
    /// Creates or replaces an object of a kind that the operator owns or watches, as another client or a controller
    /// would: a child that has made progress, or an object that the spec refers to. A state that waits for it runs
    /// again. In a test, every object of a watched kind concerns the object under test.
    ///
    /// # Errors
    ///
    /// If the object cannot be written as JSON.
    pub fn put<K: Child>(&self, object: &K) -> Result<()> {
        self.others.put(object)?;
        self.notify::<K>();
        Ok(())
    }
    /// Removes an object of another kind. A state that waits for it runs again.
    pub fn remove<K: Child>(&self, object: &K) {
        self.others.remove(object);
        self.notify::<K>();
    }
    fn notify<K: Child>(&self) {
        let links = M::links();
        let of_kind = links.iter().filter(|link| link.of == TypeId::of::<K>());
        let changes = of_kind.map(|link| Change {
            names: link.names(),
            child: None,
        });
        self.mailbox.post(|mail| mail.changes.extend(changes));
    }
}
