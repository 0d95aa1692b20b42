//! Collects problems. Each module of the acceptance adds methods for its checks.

use crate::{Path, Problem, ProblemKind};

#[derive(Default)]
pub(super) struct Problems(pub(super) Vec<Problem>);

impl Problems {
    pub(super) fn add(&mut self, path: &Path, kind: ProblemKind, detail: impl Into<String>) {
        self.0.push(Problem::new(path, kind, detail));
    }

    pub(super) fn forbidden(&mut self, path: &Path, keyword: &str, detail: &str) {
        self.add(&path.field(keyword), ProblemKind::Forbidden, detail);
    }
}
