//! `krator new`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::finding::Source;
use crate::model::Description;
use crate::render::rust::handlers::handler_file;
use crate::render::{self, Runtime};
use crate::text::shown;
use crate::workspace::DESCRIPTION;
use crate::{disk, examples, record};
use anyhow::{Context as _, bail};

use super::{found_path, into_sound, is_there, read, spec_path};

/// Writes a complete operator crate from a description
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The description; `-` reads it from stdin; by default krator.yaml in this folder or a parent
    spec: Option<PathBuf>,
    /// Begin with one of krator's examples instead
    #[arg(long, value_name = "NAME", conflicts_with = "spec")]
    example: Option<String>,
    /// List the examples
    #[arg(long, conflicts_with_all = ["spec", "example", "out"])]
    list: bool,
    /// The folder to create; by default it is named after the operator
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where the crate takes its runtime from: its own vendor folder, `path=DIR`, or `version=REQUIREMENT` of a registry with krator-runtime, which crates.io does not have yet
    #[arg(long, value_name = "WHERE", default_value = "vendored")]
    runtime: Runtime,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.list {
        let mut stdout = super::stdout();
        for example in examples::ALL {
            writeln!(stdout, "{:<12} {}", example.name, example.shows)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (source, description) = match &args.example {
        Some(name) => example(name)?,
        None => described(args)?,
    };
    let operator = description.operator.value.as_str();
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(operator));
    let plan = render::plan(&description, &source, &args.runtime);
    let plan = match &args.example {
        Some(_) => plan.written(),
        None => plan,
    };
    disk::create(&out, &render::with_record(plan.clone(), &source))?;
    let states = || {
        let kinds = description.kinds.iter();
        kinds.flat_map(|kind| kind.states.iter().map(move |state| (kind, state)))
    };
    let mut stdout = super::stdout();
    writeln!(
        stdout,
        "Wrote {operator} into {}: {} states, {} files.",
        out.display(),
        states().count(),
        plan.files().count()
    )?;
    let files: Vec<String> = states()
        .filter(|(_, state)| state.has_work() && args.example.is_none())
        .map(|(kind, state)| handler_file(kind, state))
        .collect();
    if !files.is_empty() {
        writeln!(
            stdout,
            "These handlers are yours to write; until then objects stay in their states:\n"
        )?;
        for file in files {
            writeln!(stdout, "  {file}")?;
        }
        writeln!(stdout)?;
    }
    writeln!(stdout, "Next:\n")?;
    writeln!(stdout, "  cd {}", shell(&out.to_string_lossy()))?;
    writeln!(stdout, "  cargo test")?;
    if cfg!(feature = "dev") {
        writeln!(stdout, "  krator dev")?;
    } else {
        writeln!(
            stdout,
            "  kubectl apply --server-side -f deploy/crd.yaml && cargo run"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The given description, or the one in the current folder or a parent.
fn described(args: &Args) -> anyhow::Result<(Source, Description)> {
    let path = match &args.spec {
        Some(named) => spec_path(Some(named))?,
        None => found_path()?.with_context(|| {
            format!(
                "there is no {DESCRIPTION} in this folder or its parents; name a description, write one with `krator init`, or begin \
                 with an example: `krator new --list`"
            )
        })?,
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    if args.out.is_none() && path.ends_with(DESCRIPTION) && is_there(&folder.join(record::DESCRIPTION)) {
        bail!(
            "`{}` is already the description of a crate: update that with `krator gen`; for another crate, name a \
             folder with `--out`",
            path.display()
        );
    }
    into_sound(read(&path)?)
}

/// The description of an example.
fn example(name: &str) -> anyhow::Result<(Source, Description)> {
    let Some(example) = examples::named(name) else {
        let names: Vec<&str> = examples::ALL.iter().map(|example| example.name).collect();
        bail!(
            "unknown example `{}`; the examples are {}",
            shown(name),
            names.join(", ")
        );
    };
    into_sound(crate::check(example.name, example.text.as_bytes()))
}

/// A path, quoted for a shell if necessary.
pub(super) fn shell(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
