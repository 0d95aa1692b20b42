//! The descriptions of scripted operators. Build scripts share this file with the tests.

use std::fs;
use std::path::Path;

/// The description of an operator, combined from several descriptions.
pub struct Text {
    /// The name of the operator and of its crate.
    pub operator: &'static str,
    /// The descriptions, by their folders in `testdata/ok/`.
    pub cases: &'static [&'static str],
    /// Changes each line of the descriptions.
    pub line: fn(&str) -> String,
    /// Additional keys for the description of a case.
    pub more: fn(&str) -> &'static str,
}

/// The operator of the contract tests: five descriptions with short durations.
pub const CONTRACT: Text = Text {
    operator: "scripted-operator",
    cases: &["moose", "backup", "postgresql", "order", "helmrelease"],
    line: with_short_durations,
    // The policies must not refuse any write of the operator, even under faults.
    more: |case| match case {
        // Only the soak test deletes releases, and it expects that the deletion may be refused.
        "helmrelease" => {
            "admission: {status: operator, transitions: true, protect: {states: [Ready, Suspended]}}\n"
        }
        _ => "admission: {status: operator, transitions: true}\n",
    },
};

impl Text {
    /// The descriptions in one file, from the folder of the repository.
    pub fn joined(&self, repository: &Path) -> String {
        let texts = self.cases.iter().map(|case| {
            let path = repository.join("testdata/ok").join(case).join("spec.yaml");
            let text = fs::read_to_string(path).expect("a case has a description");
            // The keys of the process are taken from this text instead.
            let is_of_one = |line: &str| !(line.starts_with("operator:") || line.starts_with("deploy:"));
            let lines = text.lines().filter(|line| is_of_one(line)).map(self.line);
            format!(
                "{}\n{}",
                lines.collect::<Vec<String>>().join("\n"),
                (self.more)(case)
            )
        });
        let joined = texts.collect::<Vec<String>>().join("---\n");
        joined.replacen(
            "krator: 1\n",
            &format!("krator: 1\noperator: {}\n", self.operator),
            1,
        )
    }
}

/// A line of a description, with polls, timeouts and backoffs shortened so that a test need not wait for them. Ten
/// retries take a small part of a timeout, even on a busy machine: an object with a script for one of both edges must
/// not take the other one.
fn with_short_durations(line: &str) -> String {
    let mut quick = line.to_owned();
    for (key, short) in [
        ("poll", "500ms"),
        ("after", "4s"),
        ("initial", "20ms"),
        ("max", "50ms"),
    ] {
        let Some(at) = quick.find(&format!("{key}: ")) else {
            continue;
        };
        let begin = at + key.len() + 2;
        let end = quick[begin..]
            .find([',', '}', ' '])
            .map_or(quick.len(), |end| begin + end);
        // Only durations are replaced: a state may be named `initial`, and a period may be read from a field.
        if krator::model::parse_duration(&quick[begin..end]).is_some() {
            quick.replace_range(begin..end, short);
        }
    }
    quick
}
