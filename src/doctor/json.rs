//! A diagnosis for programs, as `krator doctor --json` prints it.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Check, Diagnosis, Fault, Outcome, Remedy};

/// A question about an operator, with its answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckReport<'a> {
    /// Its subject, such as `lease`.
    check: &'a str,
    /// The answer.
    result: CheckResult,
    /// Why it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    /// The faults, if it has failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<FaultReport<'a>>,
}

/// The answer to a question.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CheckResult {
    /// Nothing is wrong.
    Ok,
    /// Something is wrong.
    Failed,
    /// The result is unknown.
    Skipped,
}

/// Something that is wrong. It has one of `run` and `do`.
#[derive(Debug, Serialize, JsonSchema)]
struct FaultReport<'a> {
    /// The fault.
    what: &'a str,
    /// A command that mends it, or says more.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
    /// The remedy, in words.
    #[serde(rename = "do", skip_serializing_if = "Option::is_none")]
    advice: Option<&'a str>,
}

impl Diagnosis {
    /// The diagnosis as JSON.
    pub(crate) fn report(&self) -> Vec<CheckReport<'_>> {
        self.checks.iter().map(Check::report).collect()
    }
}

impl Check {
    fn report(&self) -> CheckReport<'_> {
        let (result, why, faults) = match &self.outcome {
            Outcome::Ok => (CheckResult::Ok, None, &[][..]),
            Outcome::Skipped(why) => (CheckResult::Skipped, Some(why.as_str()), &[][..]),
            Outcome::Failed(faults) => (CheckResult::Failed, None, faults.as_slice()),
        };
        CheckReport {
            check: &self.name,
            result,
            why,
            faults: faults.iter().map(Fault::report).collect(),
        }
    }
}

impl Fault {
    fn report(&self) -> FaultReport<'_> {
        let (run, advice) = match &self.remedy {
            Remedy::Run(command) => (Some(command.as_str()), None),
            Remedy::Do(advice) => (None, Some(advice.as_str())),
        };
        FaultReport {
            what: &self.what,
            run,
            advice,
        }
    }
}
