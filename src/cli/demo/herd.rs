//! The table of moose that the demo shows. It depends neither on the server nor, except for the size, on the terminal.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::text::printable;
use serde_json::Value as Json;

/// The states in the order of the description, which is that of a moose's life.
const STATES: [&str; 6] = ["Tagged", "Roam", "Eat", "Sleep", "Lost", "Released"];

/// All moose, as they were seen last.
pub struct Herd {
    page: String,
    kubeconfig: String,
    started: Instant,
    /// The time until the first moose slept.
    slept: Option<Duration>,
    moose: BTreeMap<String, Moose>,
    transitions: usize,
    printed: String,
}

struct Moose {
    weight: String,
    state: String,
    message: String,
    /// Identifies the stay in the state.
    entry: String,
    entered: Instant,
}

impl Herd {
    /// A herd without moose. The page is a URL, and the kubeconfig is a file for kubectl.
    pub fn new(page: String, kubeconfig: String) -> Self {
        Self {
            page,
            kubeconfig,
            started: Instant::now(),
            slept: None,
            moose: BTreeMap::new(),
            transitions: 0,
            printed: String::new(),
        }
    }

    /// Updates the herd from all stored objects.
    pub fn see(&mut self, objects: &[Arc<Json>]) {
        self.moose
            .retain(|name, _| objects.iter().any(|object| object["metadata"]["name"] == **name));
        for object in objects {
            let text = |part: &str, field: &str| printable(object[part][field].as_str().unwrap_or_default());
            let (state, entry) = (text("status", "state"), text("status", "entry"));
            if state == "Sleep" {
                self.slept.get_or_insert(self.started.elapsed());
            }
            let before = self.moose.remove(&text("metadata", "name"));
            let has_moved = before.as_ref().is_some_and(|before| before.entry != entry);
            self.transitions += usize::from(has_moved);
            let entered = match before {
                Some(before) if !has_moved => before.entered,
                _ => Instant::now(),
            };
            let moose = Moose {
                weight: object["spec"]["weight"].to_string(),
                state,
                message: text("status", "message"),
                entry,
                entered,
            };
            self.moose.insert(text("metadata", "name"), moose);
        }
    }

    /// The number of moose in each state that has any.
    fn counts(&self) -> String {
        let count = |state: &str| self.moose.values().filter(|moose| moose.state == state).count();
        let counts = STATES.map(|state| (state, count(state)));
        let shown = counts.iter().filter(|(_, count)| *count > 0);
        let shown: Vec<String> = shown.map(|(state, count)| format!("{count} {state}")).collect();
        shown.join(", ")
    }

    /// The address of the page, and the kubeconfig for kubectl, as lines.
    fn addresses(&self) -> [String; 2] {
        [
            format!("page:    {}", self.page),
            format!("kubectl: KUBECONFIG={}", self.kubeconfig),
        ]
    }

    /// New events as lines, for output that is not a terminal.
    pub fn news(&mut self) -> Vec<String> {
        let counts = self.counts();
        if counts.is_empty() || counts == self.printed {
            return Vec::new();
        }
        let mut lines = Vec::new();
        if self.printed.is_empty() {
            lines.extend(self.addresses());
        }
        self.printed.clone_from(&counts);
        lines.push(counts);
        lines
    }

    /// The table as lines, for a terminal of a size in characters.
    pub fn frame(&self, rows: usize, columns: usize) -> Vec<String> {
        let seconds = self.started.elapsed().as_secs();
        let mut lines = vec![
            String::new(),
            format!("{} moose after {seconds} s: {}", self.moose.len(), self.counts()),
        ];
        lines.extend(self.addresses());
        lines.push(String::new());
        lines.push(format!(
            "{:<10} {:>5}  {:<8} {:>5}  {}",
            "NAME", "KG", "STATE", "SINCE", "MESSAGE"
        ));
        // The last line of the terminal is left for the cursor.
        let room = rows.saturating_sub(lines.len() + 1);
        let moose = self.moose.iter().take(room).map(|(name, moose)| {
            format!(
                "{name:<10} {:>5}  {:<8} {:>3} s  {}",
                moose.weight,
                moose.state,
                moose.entered.elapsed().as_secs(),
                moose.message
            )
        });
        lines.extend(moose);
        let clipped = |line: String| line.chars().take(columns).collect();
        lines.into_iter().map(clipped).collect()
    }

    /// A summary of the demo.
    pub fn summary(&self) -> String {
        let slept = match self.slept {
            Some(after) => format!("the first slept after {:.1} s", after.as_secs_f64()),
            None => "none slept".to_owned(),
        };
        format!(
            "{} moose in {:.0} s: {} transitions, {slept}",
            self.moose.len(),
            self.started.elapsed().as_secs_f64(),
            self.transitions
        )
    }
}
