//! Paths in a schema or a value, in the notation of the API server.

use serde_json::Value as Json;
use std::fmt;

/// One step of a [`Path`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A field, written `.name`.
    Field(String),
    /// A key of a map, written `[name]`.
    Key(String),
    /// An item of a list, written `[0]`.
    Index(usize),
}

/// A path in a schema or a value, such as `properties[spec].x-kubernetes-validations[0].rule`. The API server calls it
/// a field path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Path(Vec<Segment>);

impl Path {
    /// The path of the root.
    pub fn root() -> Self {
        Path::default()
    }

    /// The steps from the root.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The path of the parent; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (_, parent) = self.0.split_last()?;
        Some(Path(parent.to_vec()))
    }

    /// The part of a value at this path.
    #[must_use]
    pub fn find<'a>(&self, value: &'a Json) -> Option<&'a Json> {
        self.0.iter().try_fold(value, |value, segment| match segment {
            Segment::Field(name) | Segment::Key(name) => value.get(name),
            Segment::Index(index) => value.get(index),
        })
    }

    /// The path of a field of the object at this path.
    #[must_use]
    pub fn field(&self, name: impl Into<String>) -> Self {
        self.clone().step(Segment::Field(name.into()))
    }

    /// The path of the value under a key of the map at this path.
    #[must_use]
    pub fn key(&self, name: impl Into<String>) -> Self {
        self.clone().step(Segment::Key(name.into()))
    }

    /// The path of an item of the list at this path.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.clone().step(Segment::Index(index))
    }

    fn step(mut self, segment: Segment) -> Self {
        self.0.push(segment);
        self
    }
}

impl From<&Path> for Path {
    fn from(path: &Path) -> Self {
        path.clone()
    }
}

impl FromIterator<Segment> for Path {
    fn from_iter<T: IntoIterator<Item = Segment>>(segments: T) -> Self {
        Path(segments.into_iter().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if at == 0 => f.write_str(name)?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Key(name) => write!(f, "[{name}]")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
