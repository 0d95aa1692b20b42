//! Recorded results of the API server. The expectations come from its own code; they are never updated from our
//! results.

mod error_sites;
mod values;

use krator_schema::Problem;
use serde::de::DeserializeOwned;

/// The value in a line such as `schema: {...}`.
fn read<T: DeserializeOwned>(line: &str, key: &str) -> T {
    let json = line
        .strip_prefix(key)
        .unwrap_or_else(|| panic!("{line}: a line with {key}"));
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// A problem in the format of the cases: its kind and path.
fn written(problem: &Problem) -> String {
    format!("{:?} {}", problem.kind, problem.path)
        .trim_end()
        .to_string()
}
