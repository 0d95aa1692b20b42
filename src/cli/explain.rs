//! `krator explain`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;
use krator::catalog;
use krator::finding::nearest;
use krator::text::shown;

/// Explains a rule, with a bad and a good graph
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name in a finding's brackets, such as unknown-state; all rules are listed without one
    rule: Option<String>,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let Some(name) = &args.rule else {
        for rule in catalog::all() {
            writeln!(
                out,
                "{:<26} {:<8} {}",
                rule.name,
                rule.severity.as_str(),
                rule.summary
            )?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let Some(rule) = catalog::named(name) else {
        match nearest(name, catalog::all().map(|rule| rule.name)) {
            Some(near) => bail!("there is no rule `{}`; did you mean `{near}`?", shown(name)),
            None => bail!("there is no rule `{}`; `krator explain` lists them", shown(name)),
        }
    };
    writeln!(
        out,
        "{} ({}): {}\n\n{}",
        rule.name,
        rule.severity.as_str(),
        rule.summary,
        rule.explanation
    )?;
    Ok(ExitCode::SUCCESS)
}
