//! `krator approve`.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use http::Method;
use krator_machine::status::Ask;
use serde::Deserialize as _;
use serde_json::{Value as Json, json};

use super::cluster::{Cluster, Named, Request, Target};
use super::{crate_path, read, sound, stdout};
use crate::observed::{approval, text};
use crate::policies::approval_annotation;
use crate::text::printable;

/// The number of attempts to write an approval, because the write conflicts if the object has changed since it was
/// read.
const TRIES: usize = 5;

/// Shows what an object waits to have approved, and approves it with --id
///
/// The id is another one as soon as the object asks for something else or its spec changes, so nobody approves anything but what
/// was shown.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Approve the ask with this id, as it was shown
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Why it is approved, for those who read the annotation later
    #[arg(long, short, value_name = "TEXT", requires = "id")]
    message: Option<String>,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let path = crate_path("approve")?;
    let checked = read(&path)?;
    let named = args.target.find(sound(&checked)?)?;
    let text = match &args.id {
        None => shown(&named)?,
        Some(id) => approve(&named, id, args.message.as_deref())?,
    };
    stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The name of the object in messages.
fn called(named: &Named<'_>) -> String {
    let object = format!("{}/{}", named.kind.resource.kind.value, named.name);
    match &named.namespace {
        Some(namespace) => format!("{object} in the namespace {}", printable(namespace)),
        None => object,
    }
}

/// The object, its ask, and the id of the ask. Fails if the object waits for no approval.
fn asking(named: &Named<'_>) -> anyhow::Result<(Json, Ask, String)> {
    let object = named.read()?.json();
    let ask = Ask::deserialize(&object["status"]["ask"]).ok();
    let asked = ask.and_then(|mut ask| Some((ask.id.take()?, ask)));
    let Some((id, ask)) = asked else {
        bail!(
            "{} does not wait for an approval; `krator why` shows what it waits for",
            called(named)
        );
    };
    Ok((object, ask, id))
}

fn shown(named: &Named<'_>) -> anyhow::Result<String> {
    let (object, ask, id) = asking(named)?;
    let (called, state) = (called(named), text(&object, "/status/state"));
    let since = ask.since.strftime("%Y-%m-%d %H:%M:%S UTC");
    let generation = object["metadata"]["generation"].as_i64().unwrap_or_default();
    let spec = serde_yaml::to_string(&object["spec"]).context("cannot write the spec as YAML")?;
    let mut says = format!(
        "{called} has waited since {since} for an approval to go from {} to {}.\n\nIts spec, generation {generation}:\n\n",
        printable(state),
        printable(&ask.to)
    );
    says.extend(spec.lines().map(|line| format!("  {}\n", printable(line))));
    says.push_str(&match approval(named.kind, &object, &id) {
        Some(given) => format!("\nIt is approved by {}.\n", printable(given)),
        None => {
            let namespace = named.namespace.as_deref();
            let namespace =
                namespace.map_or(String::new(), |name| format!(" --namespace {}", printable(name)));
            let (kind, name) = (&named.kind.resource.kind.value, named.name);
            format!(
                "\nTo approve that: krator approve {kind}/{name}{namespace} --id {}\n",
                printable(&id)
            )
        }
    });
    Ok(says)
}

/// Writes the annotation. Besides the id it contains the name of the user, which the policy compares.
fn approve(named: &Named<'_>, id: &str, message: Option<&str>) -> anyhow::Result<String> {
    let user = user(&named.cluster)?;
    let reason = message.map_or(String::new(), |message| format!(": {message}"));
    for _ in 0..TRIES {
        let (object, ask, asked) = asking(named)?;
        if asked != id {
            bail!(
                "this is not the current ask of {}; `krator approve` without --id shows it",
                called(named)
            );
        }
        let patch = Request {
            method: Method::PATCH,
            path: format!("{}?fieldManager=krator-approve", named.path()),
            body: Some(json!({"metadata": {
                "resourceVersion": object["metadata"]["resourceVersion"],
                "annotations": {approval_annotation(named.kind): format!("{id} by {user}{reason}")},
            }})),
        };
        let answer = named.cluster.ask(patch).context("the cluster does not answer")?;
        match answer.code {
            200..300 => {
                return Ok(format!(
                    "{} may go to {}: approved by {}\n",
                    called(named),
                    printable(&ask.to),
                    printable(&user)
                ));
            }
            409 => {}
            _ => bail!("{} is not approved: {}", called(named), answer.message()),
        }
    }
    bail!("{} was changed by others several times; try again", called(named))
}

/// The name of the user, as the API server authenticates it.
fn user(cluster: &Cluster) -> anyhow::Result<String> {
    const API_VERSION: &str = "authentication.k8s.io/v1";
    let review = Request {
        method: Method::POST,
        path: format!("/apis/{API_VERSION}/selfsubjectreviews"),
        body: Some(json!({"apiVersion": API_VERSION, "kind": "SelfSubjectReview"})),
    };
    let answer = cluster.ask(review).context("the cluster does not answer")?;
    match answer.json()["status"]["userInfo"]["username"].as_str() {
        Some(user) => Ok(user.to_owned()),
        None => bail!("the API server does not say who you are: {}", answer.message()),
    }
}
