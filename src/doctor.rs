//! Whether an operator can work in its cluster, and if not, why and what to do. This module is pure: it judges facts
//! that were gathered elsewhere, and uses neither a cluster nor a clock.

mod certificates;
mod definitions;
mod difference;
mod facts;
mod json;
pub(crate) mod rights;
mod webhooks;
mod workload;

pub(crate) use facts::{Endpoints, Facts, Grant, Probe, Reached, Right, Site};
pub(crate) use json::CheckReport;

use crate::model::Description;
use crate::observed::Lookup;
use crate::observed::development::Development;
use crate::text::printable;

/// The diagnosis of an operator.
#[derive(Debug, Default)]
pub(crate) struct Diagnosis {
    /// In the order of their dependencies.
    pub checks: Vec<Check>,
}

/// A question about an operator, with its answer.
#[derive(Debug)]
pub(crate) struct Check {
    /// Its subject, such as `lease`.
    pub name: String,
    pub outcome: Outcome,
}

/// The answer to the question of a check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    /// The faults; never empty.
    Failed(Vec<Fault>),
    /// The question could not be answered, for this reason.
    Skipped(String),
}

/// A fault of an operator.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// A description of the fault.
    pub what: String,
    /// The remedy.
    pub remedy: Remedy,
}

/// The remedy for a fault.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// A command to run, which can be pasted.
    Run(String),
    /// An instruction in words.
    Do(String),
}

impl Fault {
    fn run(what: impl Into<String>, command: impl Into<String>) -> Self {
        Fault {
            what: what.into(),
            remedy: Remedy::Run(command.into()),
        }
    }

    fn advise(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Fault {
            what: what.into(),
            remedy: Remedy::Do(advice.into()),
        }
    }
}

impl Outcome {
    fn of(faults: Vec<Fault>) -> Self {
        if faults.is_empty() {
            Outcome::Ok
        } else {
            Outcome::Failed(faults)
        }
    }

    fn skipped(why: impl Into<String>) -> Self {
        Outcome::Skipped(why.into())
    }

    fn unreadable(what: &str, why: &str) -> Self {
        Outcome::Skipped(format!("{what} cannot be read: {why}"))
    }
}

impl Diagnosis {
    /// Asks a question, unless a check that it depends on has failed or was skipped.
    fn ask(&mut self, name: impl Into<String>, needs: &[&str], judge: impl FnOnce() -> Outcome) {
        let lacks = |need: &&str| {
            let mut checks = self.checks.iter();
            checks.any(|check| check.name == **need && check.outcome != Outcome::Ok)
        };
        let outcome = match needs.iter().copied().find(|need| lacks(need)) {
            Some(need) => Outcome::Skipped(format!("`{need}` comes first")),
            None => judge(),
        };
        self.checks.push(Check {
            name: name.into(),
            outcome,
        });
    }

    /// Whether no check has failed.
    pub(crate) fn is_sound(&self) -> bool {
        !self
            .checks
            .iter()
            .any(|check| matches!(check.outcome, Outcome::Failed(_)))
    }

    /// The diagnosis as text.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        for Check { name, outcome } in &self.checks {
            match outcome {
                Outcome::Ok => out.push_str(&format!("ok       {name}\n")),
                Outcome::Skipped(why) => out.push_str(&format!("skipped  {name}: {}\n", printable(why))),
                Outcome::Failed(faults) => {
                    out.push_str(&format!("failed   {name}\n"));
                    for Fault { what, remedy } in faults {
                        let remedy = match remedy {
                            Remedy::Run(command) => format!("run: {command}"),
                            Remedy::Do(advice) => format!("do: {advice}"),
                        };
                        let lines = what.lines().map(printable).collect::<Vec<_>>();
                        out.push_str(&format!("         {}\n", lines.join("\n         ")));
                        out.push_str(&format!("           {}\n", printable(&remedy)));
                    }
                }
            }
        }
        out
    }
}

const CARGO: &str = "cargo";
const CLUSTER: &str = "cluster";
const NAMESPACE: &str = "namespace";
const DEPLOYMENT: &str = "deployment";

/// The diagnosis of an operator.
pub(crate) fn diagnose(description: &Description, site: &Site, facts: &Facts) -> Diagnosis {
    let mut diagnosis = Diagnosis::default();
    diagnosis.ask(CARGO, &[], || {
        Outcome::of(facts.cargo.iter().map(|why| no_cargo(why)).collect())
    });
    diagnosis.ask(CLUSTER, &[], || match &facts.reached {
        Reached::At(_) => Outcome::Ok,
        Reached::No(why) => Outcome::Failed(vec![Fault::run(
            format!("the cluster does not answer: {why}"),
            "kubectl cluster-info",
        )]),
        Reached::Unconfigured(why) => Outcome::Failed(vec![Fault::advise(
            format!("cannot load a kubeconfig: {why}"),
            "name an existing one with --kubeconfig or KUBECONFIG; `krator dev` prints the one of its own server",
        )]),
    });
    let development = facts.development.as_ref();
    match development {
        Some(development) => diagnosis.ask("operator", &[CLUSTER], || acts(development)),
        None => diagnosis.ask(NAMESPACE, &[CLUSTER], || namespace(site, facts)),
    }
    for (kind, found) in description.kinds.iter().zip(&facts.definitions) {
        let name = kind.resource.definition();
        diagnosis.ask(format!("crd {name}"), &[CLUSTER], || {
            definitions::installed(description, kind, site, found, development.is_some())
        });
        let found = found.object().filter(|_| facts.server_time().is_some());
        let Some(found) = found else { continue };
        diagnosis.ask(format!("stored versions of {name}"), &[CLUSTER], || {
            definitions::stored_versions(&name, found)
        });
        if development.is_none() && found["spec"]["conversion"]["strategy"] == "Webhook" {
            diagnosis.ask(format!("conversion of {name}"), &[CLUSTER], || {
                definitions::conversion(site, found, facts)
            });
        }
    }
    if let Some(development) = development {
        diagnosis.ask(DEPLOYMENT, &[CLUSTER], || {
            let who = development.actor();
            Outcome::skipped(format!(
                "{who} runs the operator without a Deployment, a Lease or a ServiceAccount"
            ))
        });
        return diagnosis;
    }
    diagnosis.ask("rights", &[CLUSTER, NAMESPACE], || rights::judge(site, facts));
    diagnosis.ask(DEPLOYMENT, &[CLUSTER, NAMESPACE], || {
        workload::deployment(site, facts)
    });
    diagnosis.ask("images", &[CLUSTER, NAMESPACE], || workload::images(facts));
    if description.deploy.leader_election.value {
        diagnosis.ask("lease", &[CLUSTER, NAMESPACE], || workload::lease(site, facts));
    }
    diagnosis.ask("readiness", &[CLUSTER, NAMESPACE], || {
        workload::readiness(site, facts)
    });
    if description.has_webhooks() {
        if !facts.configurations.is_empty() {
            diagnosis.ask("webhooks", &[CLUSTER, NAMESPACE], || webhooks::judge(site, facts));
        }
        diagnosis.ask("certificates", &[CLUSTER, NAMESPACE], || {
            certificates::judge(site, facts)
        });
    }
    diagnosis
}

fn no_cargo(why: &str) -> Fault {
    Fault::advise(
        format!("cannot run cargo, which builds the operator: {why}"),
        "install Rust from https://rustup.rs",
    )
}

/// Whether `krator dev` runs the operator.
fn acts(development: &Development) -> Outcome {
    match development.acts {
        true => Outcome::Ok,
        false => Outcome::Failed(vec![Fault::advise(
            format!("{} is not running an operator at the moment", development.actor()),
            "its last output says why; it builds again after the next edit",
        )]),
    }
}

fn namespace(site: &Site, facts: &Facts) -> Outcome {
    let name = &site.namespace;
    match &facts.namespace {
        Lookup::There(_) => Outcome::Ok,
        // A user without access to the namespace may still have access to its objects.
        Lookup::Unknown(why) => Outcome::unreadable("the namespace", why),
        Lookup::Absent => Outcome::Failed(vec![match workload::elsewhere(site, facts) {
            Some(fault) => fault,
            None => Fault::run(format!("there is no namespace `{name}`"), site.install()),
        }]),
    }
}

#[cfg(test)]
mod tests;
