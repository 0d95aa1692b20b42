//! Custom resources as objects of a machine.
use crate::{Edit, Object, ObjectStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{Resource, core::object::HasStatus};

impl<K> Object for K
where
    K: Resource<DynamicType = ()> + HasStatus<Status: ObjectStatus> + Clone + Send + Sync + 'static,
{
    type Status = <K as HasStatus>::Status;

    fn name(&self) -> &str {
        self.meta().name.as_deref().unwrap_or_default()
    }
    fn namespace(&self) -> &str {
        self.meta().namespace.as_deref().unwrap_or_default()
    }
    fn uid(&self) -> &str {
        self.meta().uid.as_deref().unwrap_or_default()
    }
    fn generation(&self) -> i64 {
        self.meta().generation.unwrap_or_default()
    }
    /// API servers count versions up, and since Kubernetes 1.35 they promise that they can be compared.
    fn version(&self) -> u64 {
        super::caches::version(self)
    }
    fn deleting(&self) -> bool {
        self.meta().deletion_timestamp.is_some()
    }
    fn has_finalizer(&self, name: &str) -> bool {
        self.meta().finalizers.iter().flatten().any(|f| f == name)
    }
    fn same_labels(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.meta(), other.meta());
        mine.labels == theirs.labels && mine.annotations == theirs.annotations
    }
    fn status(&self) -> Option<&Self::Status> {
        HasStatus::status(self)
    }
    fn edit(&mut self, edit: Edit<'_, Self::Status>) {
        let meta = self.meta_mut();
        match edit {
            Edit::Version(version) => meta.resource_version = Some(version.to_string()),
            Edit::Generation(generation) => meta.generation = Some(generation),
            Edit::Delete => meta.deletion_timestamp = Some(Time(jiff::Timestamp::now())),
            Edit::Finalizer(name, present) => {
                let finalizers = meta.finalizers.get_or_insert_default();
                finalizers.retain(|f| f != name);
                if present {
                    finalizers.push(name.to_owned());
                }
            }
            Edit::Status(status) => *self.status_mut() = Some(status),
        }
    }
}
