//! `krator graph`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::render::diagram;
use anyhow::{Context, bail};

use super::{read_sound, spec_path};

/// Draws the state graph
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The description; `-` reads it from stdin; by default krator.yaml in this folder or a parent
    spec: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
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
    let text = if args.format.dot {
        diagram::dot(&description)
    } else if args.format.mermaid {
        diagram::mermaid(&description)
    } else if args.format.json {
        format!("{:#}\n", diagram::json(&description))
    } else {
        diagram::ascii(&description)
    };
    match &args.output {
        Some(path) => {
            std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?
        }
        None => super::stdout().write_all(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}
