//! The differences that are accepted.

use super::{drawn::Drawn, session::Answer};
use regex::Regex;
use serde::Deserialize;
use std::fs;

/// The listed differences, in the order of the file.
pub struct Differences(Vec<(Regex, Regex, Regex)>);

/// A difference in the form of the file. Each text is a pattern; an omitted one matches everything.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// The reason why it is accepted.
    why: String,
    #[serde(default)]
    request: String,
    #[serde(default)]
    real: String,
    #[serde(default)]
    embedded: String,
}

impl Differences {
    pub fn read() -> Differences {
        let file = "crates/krator-apiserver/testdata/conformance/differences.yaml";
        let text = fs::read_to_string(krator_tests::root().join(file)).expect("a file of the repository");
        let all: Vec<Written> = serde_yaml::from_str(&text).expect("the form that is described above");
        let pattern = |text: &str| Regex::new(&format!("(?s){text}")).expect("a pattern");
        let read = |it: &Written| {
            assert!(!it.why.is_empty(), "a difference without a reason");
            (pattern(&it.request), pattern(&it.real), pattern(&it.embedded))
        };
        Differences(all.iter().map(read).collect())
    }

    /// The index of a difference in the list.
    pub fn find(&self, drawn: &Drawn, real: &Answer, embedded: &Answer) -> Option<usize> {
        let request = drawn.to_string();
        self.0.iter().position(|(of_request, of_real, of_embedded)| {
            of_request.is_match(&request)
                && of_real.is_match(&real.shown)
                && of_embedded.is_match(&embedded.shown)
        })
    }
}
