//! Paths that are built only when a problem is reported.

use crate::{Path, Segment};

/// A path during the traversal of a value, as a chain of steps.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At<'a> {
    Path(&'a Path),
    Field(&'a At<'a>, &'a str),
    Key(&'a At<'a>, &'a str),
    Index(&'a At<'a>, usize),
}

impl<'a> At<'a> {
    /// A field of the object at this place.
    pub(crate) fn field(&'a self, name: &'a str) -> Self {
        At::Field(self, name)
    }

    /// The value under a key of the map at this place.
    pub(crate) fn key(&'a self, name: &'a str) -> Self {
        At::Key(self, name)
    }

    /// An item of the list at this place.
    pub(crate) fn index(&'a self, index: usize) -> Self {
        At::Index(self, index)
    }

    /// The steps from the root, outermost first.
    fn segments(&self) -> Vec<Segment> {
        let (around, step) = match self {
            At::Path(path) => return path.segments().to_vec(),
            At::Field(around, name) => (around, Segment::Field((*name).to_string())),
            At::Key(around, name) => (around, Segment::Key((*name).to_string())),
            At::Index(around, index) => (around, Segment::Index(*index)),
        };
        let mut segments = around.segments();
        segments.push(step);
        segments
    }
}

impl From<&At<'_>> for Path {
    fn from(at: &At<'_>) -> Self {
        at.segments().into_iter().collect()
    }
}
