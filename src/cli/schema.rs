//! `krator schema`.

use super::{diff, graph, json_text};
use crate::finding::FindingReport;
use clap::ValueEnum;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value as Json;
use std::io::Write;
use std::process::ExitCode;

/// Prints a JSON Schema: of descriptions for editors, or of what a verb prints for programs
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The subject of the schema
    #[arg(value_enum, default_value_t = Subject::Description)]
    subject: Subject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// Descriptions, as editors check them
    Description,
    /// `krator check --format json`
    Findings,
    /// `krator diff --format json`
    Diff,
    /// `krator graph --json`
    Graph,
    /// `krator doctor --json`
    #[cfg(feature = "cluster")]
    Doctor,
    /// `krator why --json`
    #[cfg(feature = "cluster")]
    Why,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let schema = match args.subject {
        Subject::Description => crate::language_schema::of_language(),
        Subject::Findings => of::<Vec<FindingReport<'_>>>(),
        Subject::Diff => of::<diff::Report<'_>>(),
        Subject::Graph => of::<graph::Report<'_>>(),
        #[cfg(feature = "cluster")]
        Subject::Doctor => of::<Vec<crate::doctor::CheckReport<'_>>>(),
        #[cfg(feature = "cluster")]
        Subject::Why => of::<crate::why::WhyReport<'_>>(),
    };
    super::stdout().write_all(json_text(&schema)?.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The schema of what is printed, not of what could be read.
fn of<T: JsonSchema>() -> Json {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
