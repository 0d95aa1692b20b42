//! Objects of machines outside of Kubernetes.
use crate::{
    machine::{Edit, Object},
    status::{MachineStatus, ObjectStatus},
};
use std::collections::BTreeMap;

/// An object in memory, for machines without Kubernetes: the spec that its handlers read, its status, and the metadata
/// that a machine uses.
///
/// ```
/// use krator_runtime::LocalObject;
///
/// struct Order {
///     cups: u32,
/// }
///
/// let order: LocalObject<Order> = LocalObject::new("table 7", Order { cups: 2 });
/// assert_eq!(order.spec.cups, 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LocalObject<Spec = (), Status = ()> {
    /// Its name.
    pub name: String,
    /// Its labels. A state that watches the object itself runs again when they change.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// Its spec.
    pub spec: Spec,
    /// Its status; `None` until the machine has written one.
    pub status: Option<LocalStatus<Status>>,
    generation: i64,
    version: u64,
    deleting: bool,
    finalizers: Vec<String>,
}

/// The status of a [`LocalObject`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalStatus<Fields = ()> {
    /// The fields that handlers set.
    pub fields: Fields,
    /// The fields that the machine sets.
    pub machine: MachineStatus,
}

impl<Spec, Status> LocalObject<Spec, Status> {
    /// A new object.
    pub fn new(name: impl Into<String>, spec: Spec) -> Self {
        Self {
            name: name.into(),
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            spec,
            status: None,
            generation: 1,
            version: 1,
            deleting: false,
            finalizers: Vec::new(),
        }
    }
}

impl<Fields> ObjectStatus for LocalStatus<Fields>
where
    Fields: Clone + Default + PartialEq + Send + Sync + 'static,
{
    fn machine(&self) -> &MachineStatus {
        &self.machine
    }
    fn machine_mut(&mut self) -> &mut MachineStatus {
        &mut self.machine
    }
}

impl<Spec, Status> Object for LocalObject<Spec, Status>
where
    Spec: Clone + Send + Sync + 'static,
    Status: Clone + Default + PartialEq + Send + Sync + 'static,
{
    type Status = LocalStatus<Status>;

    fn name(&self) -> &str {
        &self.name
    }
    fn namespace(&self) -> &str {
        ""
    }
    fn uid(&self) -> &str {
        &self.name
    }
    fn generation(&self) -> i64 {
        self.generation
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn deleting(&self) -> bool {
        self.deleting
    }
    fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers.iter().any(|finalizer| finalizer == name)
    }
    fn same_labels(&self, other: &Self) -> bool {
        (&self.labels, &self.annotations) == (&other.labels, &other.annotations)
    }
    fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.get(name).map(String::as_str)
    }
    fn status(&self) -> Option<&Self::Status> {
        self.status.as_ref()
    }
    fn edit(&mut self, edit: Edit<'_, Self::Status>) {
        match edit {
            Edit::Version(version) => self.version = version,
            Edit::Generation(generation) => self.generation = generation,
            Edit::Delete => self.deleting = true,
            Edit::Finalizer(name, true) => self.finalizers.push(name.to_owned()),
            Edit::Finalizer(name, false) => self.finalizers.retain(|finalizer| finalizer != name),
            Edit::Annotation(name, value) => {
                self.annotations.insert(name.to_owned(), value.to_owned());
            }
            Edit::Status(status) => self.status = Some(status),
        }
    }
}
