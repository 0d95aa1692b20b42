//! `krator explain`.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;

use crate::catalog::keys::{Absent, Located};
use crate::catalog::{Rule, keys};
use crate::finding::nearest;
use crate::rules;
use crate::text::shown;
use anyhow::bail;

/// Explains a rule or a key of the language, with examples
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name in a finding's brackets, such as unknown-state, or a key, such as poll or states.wait.poll; all of them
    /// are listed without one
    name: Option<String>,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = super::stdout();
    let Some(name) = &args.name else {
        list(&mut out)?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(rule) = rules::named(name) {
        explain_rule(&mut out, rule)?;
        return Ok(ExitCode::SUCCESS);
    }
    let found = keys::named(name);
    if found.is_empty() {
        let keys = keys::all();
        let names = keys
            .iter()
            .flat_map(|located| located.paths.iter().map(String::as_str).chain([located.key.name]))
            .chain(rules::all().map(|rule| rule.name));
        match nearest(name, names) {
            Some(near) => bail!(
                "there is no rule or key `{}`; did you mean `{near}`?",
                shown(name)
            ),
            None => bail!(
                "there is no rule or key `{}`; `krator explain` lists them",
                shown(name)
            ),
        }
    }
    for (at, located) in found.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        explain_key(&mut out, located)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list(out: &mut impl Write) -> std::io::Result<()> {
    for rule in rules::all() {
        let severity = rule.severity.as_str();
        writeln!(out, "{:<26} {severity:<8} {}", rule.name, rule.summary)?;
    }
    // A type is used in several places, and some of their paths are found more than once.
    let mut listed = BTreeSet::new();
    for located in keys::all() {
        for path in &located.paths {
            let line = format!("{path}: {}", located.key.value);
            if listed.insert(line.clone()) {
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(())
}

fn explain_rule(out: &mut impl Write, rule: &Rule) -> std::io::Result<()> {
    let severity = rule.severity.as_str();
    writeln!(
        out,
        "{} ({severity}): {}\n\n{}",
        rule.name, rule.summary, rule.explanation
    )
}

fn explain_key(out: &mut impl Write, located: &Located) -> std::io::Result<()> {
    let key = located.key;
    writeln!(out, "{}: {}\n", located.paths.join(", "), key.value)?;
    writeln!(out, "{}", key.doc)?;
    match key.absent {
        Absent::Required => writeln!(out, "It is required.")?,
        Absent::Default(default) => writeln!(out, "Default: {default}.")?,
        Absent::Nothing => {}
    }
    writeln!(out, "\nExample:\n")?;
    for line in key.example.lines() {
        writeln!(out, "    {line}")?;
    }
    Ok(())
}
