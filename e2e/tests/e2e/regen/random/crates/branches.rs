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

    /// Writes the description as edits write it, so that they change only the lines that they are about.
    pub fn reformat(&mut self) {
        fs::write(self.dir.join("krator.yaml"), edits::text(&self.documents)).expect("writable");
        self.run(&[]);
    }

    /// The crate on a branch from here, whose lines have other numbers than those of another branch.
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
            // Nobody keeps track of the state of a line that both branches may have renamed.
            *mark = ours.clone();
        }
        merged
    }

    /// Brings the crate in step; what krator says.
    pub fn bring_in_step(&mut self, args: &[&str]) -> String {
        self.run(args)
    }

    /// Writes a line into some handler, before a line of somebody's.
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
