//! `krator new`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use krator::disk;
use krator::render::{self, Runtime};

use super::{read_sound, say};

/// Writes a complete operator crate from a description
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The description; `-` reads it from stdin
    spec: PathBuf,
    /// The folder to create; by default it is named after the operator
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where the crate takes its runtime from: its own vendor folder, or `path=DIR`
    #[arg(long, value_name = "WHERE", default_value = "vendored")]
    runtime: Runtime,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (source, description) = read_sound(Some(&args.spec))?;
    let operator = description.operator.value.as_str();
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(operator));
    let plan = render::plan(&description, &source, &args.runtime);
    disk::create(&out, &render::with_record(plan.clone(), &source))?;
    for notice in render::unserved(&description) {
        say(format_args!("note: {notice}"));
    }
    let states: usize = description.kinds.iter().map(|kind| kind.states.len()).sum();
    let mut stdout = std::io::stdout().lock();
    writeln!(
        stdout,
        "Wrote {operator} into {}: {states} states, {} files. Next:\n",
        out.display(),
        plan.files().count()
    )?;
    writeln!(stdout, "  cd {}", shell(&out.to_string_lossy()))?;
    writeln!(stdout, "  cargo test")?;
    writeln!(stdout, "  kubectl apply -f deploy/crd.yaml && cargo run")?;
    Ok(ExitCode::SUCCESS)
}

/// A path, quoted for a shell if necessary.
fn shell(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
