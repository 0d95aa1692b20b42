//! The highest costs of expressions, by the estimate of the API server.

mod call_cost;
mod coster;
mod range;
mod sizes;

use std::cell::RefCell;
use std::collections::BTreeSet;

use sizes::Sizes;

use crate::check::Checked;
use crate::syntax::tree::Node;
use crate::{DeclType, Path};

/// An estimate of the highest cost of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// The cost in the units of the API server, in which reading a variable costs one. It saturates at [`u64::MAX`].
    pub max: u64,
    /// The unbounded parts that affect the estimate, as paths in the schema.
    pub unbounded: BTreeSet<Path>,
}

/// Estimates the cost of an expression. The variables have the type `root`, which is at `path` in the schema.
pub(crate) fn estimate(
    expression: &Node,
    checked: &Checked,
    root: &DeclType,
    path: &Path,
    as_if_bounded: Option<&Path>,
) -> Cost {
    let sizes = Sizes {
        root,
        path,
        as_if_bounded,
        unbounded: RefCell::default(),
    };
    let max = coster::cost(expression, checked, &sizes).max;
    Cost {
        max,
        unbounded: sizes.unbounded.into_inner(),
    }
}
