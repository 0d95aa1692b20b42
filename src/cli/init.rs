//! `krator init`.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::names::{GroupName, KindName, NotAName, StateName};
use crate::starter::starter;
use crate::text::{printable, shown};
use anyhow::{Context, bail};

use super::{STDIN, say, sound};

/// Writes a commented description to begin with
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The kind of the objects, such as Website
    #[arg(long)]
    kind: String,
    /// The API group, such as web.example.com
    #[arg(long)]
    group: String,
    /// The states that objects go through
    #[arg(long, value_name = "STATE,…", value_delimiter = ',', default_values = crate::starter::STATES)]
    states: Vec<String>,
    /// The file to write, which must not exist yet; `-` writes to stdout
    #[arg(long, short, value_name = "FILE", default_value = "krator.yaml")]
    output: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut wrong = Vec::new();
    let kind = named("--kind", &args.kind, KindName::parse_pascal, &mut wrong);
    let group = named("--group", &args.group, GroupName::parse, &mut wrong);
    let states = args.states.iter();
    let states: Vec<StateName> = states
        .filter_map(|state| named("--states", state, StateName::parse, &mut wrong))
        .collect();
    let (Some(kind), Some(group), []) = (kind, group, &wrong[..]) else {
        bail!("{}", wrong.join("; "));
    };
    for (at, state) in states.iter().enumerate() {
        if states[..at].contains(state) {
            bail!("--states: `{state}` is repeated");
        }
    }
    let text = starter(&kind, &group, &states);
    // A name of the right form may still collide with a name that generated code uses.
    let name = printable(&args.output.display().to_string());
    sound(&crate::check(&name, text.as_bytes()))?;
    if args.output == Path::new(STDIN) {
        super::stdout().write_all(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut file = match File::create_new(&args.output) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("`{name}` already exists; name another file with `--output`")
        }
        Err(error) => return Err(error).with_context(|| format!("cannot write `{name}`")),
    };
    file.write_all(text.as_bytes())
        .with_context(|| format!("cannot write `{name}`"))?;
    say(format_args!(
        "Wrote {name}. Next: edit it, check it with `krator check {name}`, and write the crate with `krator new {name}`."
    ));
    Ok(ExitCode::SUCCESS)
}

/// Parses a name, and adds its error to `wrong`.
fn named<T>(
    flag: &str,
    text: &str,
    parse: fn(&str) -> Result<T, NotAName>,
    wrong: &mut Vec<String>,
) -> Option<T> {
    let name = parse(text);
    let wrong_name = |why: &NotAName| {
        format!(
            "{flag}: `{}` is not a name; expected {}",
            shown(text),
            why.expected
        )
    };
    wrong.extend(name.as_ref().err().map(wrong_name));
    name.ok()
}
