//! Names that change with the description.

use super::{Code, InFile};
use crate::model::Description;
use std::collections::BTreeMap;

/// What changed its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renames {}

impl Renames {
    /// x
    pub fn between(_former: &Description, _now: &Description) -> Self {
        Renames::default()
    }
}

/// x
#[derive(Debug, Default)]
pub struct Renamed {
    /// x
    pub files: BTreeMap<String, (String, String)>,
    /// x
    pub reports: Vec<InFile>,
}

/// x
pub fn rename(_former: &Code<'_>, _renames: &Renames) -> Renamed {
    Renamed::default()
}
