//! `krator demo`.

mod herd;
mod moose;

use std::fs::{self, File};
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::live::{
    self,
    cargo::Cargo,
    cluster::{Embedded, objects},
    operator::{Operator, Start},
};
use super::new::shell;
use super::say;
use crate::disk;
use crate::model::{Kind, parse_duration};
use crate::render::{self, Runtime};
use crate::workspace::Workspace;
use anyhow::{Context, bail};
use herd::Herd;

/// Shows an operator at work, without a cluster: 25 moose, on an API server inside this command
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write the operator to this folder and keep it; an operator that is already there runs as it is
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// End after this time, for example `30s` [default: until Ctrl-C]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    r#for: Option<Duration>,
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "a duration is written as `30s` or `5m`".to_owned())
}

/// The description of the operator.
const MOOSE: &str = include_str!("../../testdata/ok/moose/spec.yaml");

/// The resource that the demo is about.
const GROUP: &str = "animals.com";
const RESOURCE: &str = "moose";

/// The table is drawn at most this often.
const FRAME: Duration = Duration::from_millis(100);
/// Off a terminal, a line is printed at most this often.
const LINE: Duration = Duration::from_secs(1);
/// The number of lines of the operator's log that are shown if it ends.
const LAST_LINES: usize = 10;

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    live::wait_for(demo(args))
}

async fn demo(args: &Args) -> anyhow::Result<ExitCode> {
    let krate = Crate::at(args.keep.as_deref())?;
    let built = tokio::select! {
        built = krate.build() => built?,
        () = live::interrupted() => return Ok(ExitCode::SUCCESS),
    };
    let session = tempfile::tempdir().context("cannot make a temporary folder")?;
    let cluster = Embedded::start(session.path()).await?;
    for definition in objects(&krate.folder.join("deploy/crd.yaml"))? {
        cluster.apply(&definition).await?;
    }
    let page = live::free_address()?;
    let log = session.path().join("operator.log");
    let mut operator = Operator::start(Start {
        program: &built,
        kubeconfig: Some(cluster.kubeconfig()),
        page,
        webhooks: None,
        args: &[],
        walks: false,
        log: Some(File::create(&log).context("cannot write the log of the operator")?),
    })?;
    let mut herd = Herd::new(
        format!("http://{page}"),
        cluster.kubeconfig().display().to_string(),
    );
    tokio::select! {
        shown = async { tokio::try_join!(moose::release(&cluster), show(&cluster, &mut herd, args.r#for)) } => {
            shown?;
        }
        ended = operator.ended() => {
            let log = fs::read_to_string(&log).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
            bail!("the operator has ended ({}); the end of its log:\n{last}", ended?);
        }
        () = live::interrupted() => {}
    }
    operator.stop().await;
    say(herd.summary());
    if args.keep.is_some() {
        let folder = shell(&krate.folder.to_string_lossy());
        say(format_args!(
            "The operator is yours now. Change krator.yaml or src/moose/states/eat.rs, and watch the effect:\n\n  \
             cd {folder}\n  krator dev"
        ));
    } else {
        say("`krator demo --keep DIR` keeps the operator, for you to change.");
    }
    Ok(ExitCode::SUCCESS)
}

/// The crate of the operator.
struct Crate {
    folder: PathBuf,
    /// Whether the user has chosen the folder. Otherwise the crate is kept in the cache, so that it is built only once.
    is_kept: bool,
}

impl Crate {
    /// Writes the crate, unless it exists.
    fn at(keep: Option<&Path>) -> anyhow::Result<Self> {
        let folder = match keep {
            Some(folder) => folder.to_owned(),
            None => dirs::cache_dir()
                .unwrap_or_else(std::env::temp_dir)
                .join(concat!("krator/demo-", env!("CARGO_PKG_VERSION"))),
        };
        let krate = Self {
            is_kept: keep.is_some(),
            folder,
        };
        match Workspace::open(&krate.folder) {
            Ok(workspace) => krate.check(&workspace)?,
            Err(_) => krate.write()?,
        }
        Ok(krate)
    }

    fn write(&self) -> anyhow::Result<()> {
        let checked = crate::check("moose.yaml", MOOSE.as_bytes());
        let description = checked
            .sound()
            .context("the description of the demo has errors")?;
        let plan = render::plan(description, &checked.source, &Runtime::Vendored).written();
        if let Some(parent) = self.folder.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
        }
        disk::create(&self.folder, &render::with_record(plan, &checked.source))?;
        Ok(())
    }

    /// Fails unless the existing crate is one for the demo.
    fn check(&self, workspace: &Workspace) -> anyhow::Result<()> {
        let folder = self.folder.display();
        let Some(description) = workspace.description().sound() else {
            bail!("the description in `{folder}` has errors; `krator check` shows them");
        };
        let is_moose = |kind: &Kind| {
            kind.resource.group.value.as_str() == GROUP && kind.resource.plural.value.as_str() == RESOURCE
        };
        if !description.kinds.iter().any(is_moose) {
            bail!("the operator in `{folder}` does not manage moose; run it with `krator dev`");
        }
        Ok(())
    }

    /// Builds the operator, and returns its program.
    async fn build(&self) -> anyhow::Result<PathBuf> {
        let cargo = Cargo::find(&self.folder).await?;
        say(format_args!(
            "Building the operator in {}, which takes minutes the first time.",
            self.folder.display()
        ));
        cargo.fetch().await?;
        match cargo.build().await? {
            Some(program) => Ok(program),
            None if self.is_kept => bail!("the operator does not compile; its errors are above"),
            None => bail!(
                "the operator does not compile; remove `{}` to start again",
                self.folder.display()
            ),
        }
    }
}

/// Shows the moose until the time is over.
async fn show(cluster: &Embedded, herd: &mut Herd, time: Option<Duration>) -> anyhow::Result<()> {
    let over = async {
        match time {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    let mut over = std::pin::pin!(over);
    let mut versions = cluster.server().versions();
    let mut out = std::io::stdout();
    let is_terminal = out.is_terminal();
    let mut drawn = 0;
    let mut frames = tokio::time::interval(if is_terminal { FRAME } else { LINE });
    frames.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = frames.tick() => {}
            () = &mut over => return Ok(()),
        }
        herd.see(&cluster.server().objects(GROUP, RESOURCE));
        match draw(herd, &mut out, is_terminal, &mut drawn) {
            // The output is closed, as after `krator demo | head`.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            drawn => drawn?,
        }
        // The ages on a terminal change with time, and everything else only with the objects on the server.
        if !is_terminal {
            tokio::select! {
                changed = versions.changed() => changed.context("the server has ended")?,
                () = &mut over => return Ok(()),
            }
        }
    }
}

/// On a terminal, draws the table over the previous one, which has `drawn` lines; otherwise prints new events as lines.
fn draw(
    herd: &mut Herd,
    out: &mut std::io::Stdout,
    is_terminal: bool,
    drawn: &mut usize,
) -> std::io::Result<()> {
    if is_terminal {
        let size = rustix::termios::tcgetwinsize(&*out).ok();
        let (rows, columns) = size.map_or((50, 80), |size| (size.ws_row, size.ws_col));
        let frame = herd.frame(rows.into(), columns.into());
        // The previous frame is overwritten line by line, so that the terminal does not flicker.
        let up = if *drawn > 0 {
            format!("\x1b[{drawn}A")
        } else {
            String::new()
        };
        *drawn = frame.len();
        write!(out, "{up}")?;
        for line in frame {
            writeln!(out, "{line}\x1b[K")?;
        }
        write!(out, "\x1b[J")?;
    } else {
        for line in herd.news() {
            writeln!(out, "{line}")?;
        }
    }
    out.flush()
}
