//! The findings of a crate while it is edited: each is shown once when it appears, and not again after every edit.

use std::collections::BTreeSet;
use std::io::stderr;
use std::path::Path;

use crate::catalog::Severity;
use crate::cli::{Output, show};
use crate::regen::FileFinding;
use crate::workspace::Workspace;

/// The findings that were shown and still exist.
#[derive(Default)]
pub struct Findings {
    /// The file, the rule and the message of each. The position is left out, because it changes with each line written
    /// above it.
    shown: BTreeSet<(String, &'static str, String)>,
}

impl Findings {
    /// Shows the findings of `krator check` for the crate of a description, except those that were shown before or are
    /// in `reported`.
    ///
    /// # Errors
    ///
    /// If a file that the crate compiles cannot be read.
    pub fn show(&mut self, description: &Path, reported: &[FileFinding]) -> anyhow::Result<()> {
        let workspace = Workspace::open(description.parent().unwrap_or(Path::new("")))?;
        let mut there = BTreeSet::new();
        for file in workspace.findings()? {
            for finding in &file.findings {
                if finding.rule.severity == Severity::Info {
                    continue;
                }
                let key = (
                    file.source.name().to_owned(),
                    finding.rule.name,
                    finding.message.clone(),
                );
                let is_reported = reported.iter().any(|reported| reported.finding == *finding);
                if !is_reported && !self.shown.contains(&key) {
                    show(&file.source, [finding], &mut Output(stderr()))?;
                }
                there.insert(key);
            }
        }
        self.shown = there;
        Ok(())
    }
}
