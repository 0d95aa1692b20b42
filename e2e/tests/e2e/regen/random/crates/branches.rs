//! A crate on two branches.

use super::{Mark, Member};
use crate::dice::Dice;
use crate::regen::random::edits;
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

impl Member {
    /// The folder of the crate.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The description.
    pub fn documents(&self) -> &[Json] {
        &self.documents
    }

    /// Formats the description as edits do, so that they change only the relevant lines.
    pub fn reformat(&mut self) {
        fs::write(self.dir.join("krator.yaml"), edits::text(&self.documents)).expect("writable");
        self.run(&[]);
    }

    /// The crate on a new branch, whose marks have other numbers than those of the other branch.
    pub fn after(&self, other: &Member) -> Member {
        let mut branch = self.clone();
        branch.marks.resize(
            other.marks.len(),
            Mark {
                of: None,
                names: None,
                is_deleted: true,
            },
        );
        branch
    }

    /// The crate after a merge with a branch that began [after](Member::after) this one, with this description.
    pub fn with(&self, other: &Member, documents: Vec<Json>) -> Member {
        let mut merged = other.clone();
        merged.documents = documents;
        for (mark, ours) in merged.marks.iter_mut().zip(&self.marks) {
            // The state of a line that both branches may have renamed is not tracked.
            *mark = ours.clone();
        }
        merged
    }

    /// Regenerates the crate. Returns the output of krator.
    pub fn bring_in_step(&mut self, args: &[&str]) -> String {
        self.run(args)
    }

    /// Writes a line into some handler, before a line of the user.
    pub fn write_somewhere(&mut self, dice: &mut Dice) {
        let Some(of) = self.some_state(dice) else { return };
        let path = self.handler(&of);
        let text = fs::read_to_string(&path).expect("a handler");
        let mut lines: Vec<&str> = text.lines().collect();
        let places: Vec<usize> = (0..lines.len())
            .filter(|at| lines[*at].starts_with("        let ") && lines[*at].contains("// mine "))
            .collect();
        let Some(at) = dice.pick(&places) else { return };
        let line = format!(
            "        let _ = {}; // mine {}",
            dice.below(100),
            self.new_mark(Some(of))
        );
        lines.insert(*at, &line);
        fs::write(&path, lines.join("\n") + "\n").expect("writable");
    }
}
