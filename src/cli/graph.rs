//! `krator graph`.

#[cfg(feature = "cluster")]
mod live;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::model::Description;
use crate::render::diagram;
use anyhow::{Context, bail};
use schemars::JsonSchema;
use serde::Serialize;

use super::{json_text, read_sound, spec_path};

/// Draws the state graph
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The description; `-` reads it from stdin; by default krator.yaml in this folder or a parent
    spec: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    live: live::Live,
    /// Write to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Format {
    /// As text (the default)
    #[arg(long)]
    ascii: bool,
    /// For Graphviz: `krator graph --dot | dot -Tsvg`
    #[arg(long)]
    dot: bool,
    /// For Mermaid, which code hosts render in Markdown
    #[arg(long)]
    mermaid: bool,
    /// States and edges, for programs
    #[arg(long)]
    json: bool,
    /// With `--live`: each state with its objects (the default there)
    #[cfg(feature = "cluster")]
    #[arg(long, requires = "live")]
    table: bool,
}

/// The state graph as `--json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Report<'a> {
    #[serde(flatten)]
    graph: diagram::GraphReport<'a>,
    /// With `--live`: the objects in each state.
    #[cfg(feature = "cluster")]
    #[serde(skip_serializing_if = "Option::is_none")]
    objects: Option<Vec<crate::population::StateObjects<'a>>>,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let path = spec_path(args.spec.as_deref())?;
    if let Some(output) = &args.output
        && output
            .canonicalize()
            .ok()
            .is_some_and(|output| path.canonicalize().ok() == Some(output))
    {
        bail!("`{}` is the description itself", output.display());
    }
    let (_, description) = read_sound(Some(&path))?;
    let text = drawn(args, &description)?;
    match &args.output {
        Some(path) => {
            std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?
        }
        None => super::stdout().write_all(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The graph, in the requested format.
fn drawn(args: &Args, description: &Description) -> anyhow::Result<String> {
    let format = &args.format;
    #[cfg(feature = "cluster")]
    if let Some(population) = live::population(&args.live, description)? {
        let notes = population.notes(description);
        return Ok(match () {
            () if format.dot => diagram::dot_with(description, &notes),
            () if format.mermaid => diagram::mermaid_with(description, &notes),
            () if format.ascii => diagram::ascii_with(description, &notes),
            () if format.json => json_text(&Report {
                graph: diagram::GraphReport::of(description),
                objects: Some(population.report(description)),
            })?,
            () => population.to_table(description),
        });
    }
    Ok(match () {
        () if format.dot => diagram::dot(description),
        () if format.mermaid => diagram::mermaid(description),
        () if format.json => json_text(&Report {
            graph: diagram::GraphReport::of(description),
            #[cfg(feature = "cluster")]
            objects: None,
        })?,
        () => diagram::ascii(description),
    })
}
