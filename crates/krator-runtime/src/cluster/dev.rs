//! The controls of the page of an operator that was built for development, with the feature `dev`. They
//! create, edit and delete objects, lead them where no handler is written, plan failures of handlers, move the clock
//! forward and kill the process.
//!
//! They exist on the loopback interface without TLS only, and answer no website: beside what is asked of `Host` and
//! `Origin`, each request has the header [`HEADER`], which a browser sends for the page of another site only after it has
//! asked whether it may, and that question is refused.
mod objects;
mod panics;
#[cfg(test)]
mod tests;
mod walk;

pub(super) use panics::install as report_panics;
pub(super) use walk::walk;

use crate::{
    cluster::{
        observability::{
            Problem,
            development::{Planned, Served, Target},
            inspect::{Inspection, protect},
        },
        process::serve::{self, text},
    },
    error::{Error, Result},
};
use http::{HeaderMap, Response, StatusCode, request::Parts};
use hyper::body::Incoming;
use kube::{Client, Config};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

pub(super) const CONTROLS_STYLE: &str = include_str!("dev/controls.css");
pub(super) const CONTROLS_SCRIPT: &str = include_str!("dev/controls.js");

/// Where it is shown what is planned. Each control has a path below it.
pub(super) const PATH: &str = "/dev";
/// The header of each request; its value does not matter.
const HEADER: &str = "krator-dev";
/// The longest body that is read. The API server takes no larger objects.
const LONGEST_BODY: usize = 3 << 20;
/// How far the clock may be advanced, so that times stay in the range of dates.
const FURTHEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    group: String,
    kind: String,
    /// Where; unless said, in the first namespace that the operator looks after, or in that of the kubeconfig.
    #[serde(default)]
    namespace: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    object: Target,
    /// The object that was read, and how often its spec had changed by then.
    uid: String,
    generation: i64,
    /// The new spec as JSON or YAML.
    spec: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fail {
    /// The object whose handler fails; without one, the first of any kind whose handler is run.
    #[serde(default)]
    object: Option<Target>,
    /// Whether the failure is permanent, so that the handler is not retried.
    #[serde(default)]
    permanent: bool,
    message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Take {
    /// The object, which is in a state whose handler is not written.
    object: Target,
    /// The state to which it is led.
    to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    seconds: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kill {}

/// The controls of a process.
pub(super) struct Controls {
    client: Client,
    /// The namespace of the kubeconfig.
    namespace: String,
    inspection: Inspection,
}

impl Controls {
    /// Controls that reach the API server of this configuration. Its connections belong to the thread that calls this.
    ///
    /// # Errors
    ///
    /// If no client can be made of the configuration.
    pub fn new(config: Config, inspection: Inspection) -> Result<Self> {
        let namespace = config.default_namespace.clone();
        Ok(Self {
            client: Client::try_from(config)?,
            namespace,
            inspection,
        })
    }

    /// Answers [`PATH`]: what is planned, and how far the clock is ahead.
    pub fn show(&self, request: &Parts) -> Response<String> {
        let shown = || {
            json!({
                "aheadSeconds": self.inspection.clock().ahead().as_secs(),
                "failures": self.inspection.development().failures.planned(),
            })
        };
        respond(permitted(&request.headers).map(|()| shown()))
    }

    /// Answers a POST to the path of a control.
    pub async fn change(&self, request: &Parts, body: Incoming) -> Response<String> {
        let path = request.uri.path();
        let done = async {
            permitted(&request.headers)?;
            self.act(path, &serve::read(body, LONGEST_BODY).await?).await
        };
        let done = done.await;
        match &done {
            Ok(_) => tracing::info!(control = path, "used a development control"),
            Err((status, problem)) => {
                tracing::info!(control = path, %status, problem, "refused a development control");
            }
        }
        respond(done)
    }

    async fn act(&self, path: &str, body: &[u8]) -> Result<Value, Problem> {
        let said = match path.strip_prefix(PATH).unwrap_or_default() {
            "/create" => self.create(&parsed(body)?).await?,
            "/spec" => return self.spec(&parsed(body)?).await,
            "/edit" => self.edit(&parsed(body)?).await?,
            "/delete" => self.delete(&parsed(body)?).await?,
            "/fail" => self.fail(parsed(body)?)?,
            "/take" => self.take(&parsed(body)?).await?,
            "/clock" => self.advance(&parsed(body)?).await?,
            "/kill" => {
                let Kill {} = parsed(body)?;
                kill()?
            }
            _ => return Err((StatusCode::NOT_FOUND, "unknown control".to_owned())),
        };
        Ok(json!({ "done": said }))
    }

    fn fail(&self, fail: Fail) -> Result<String, Problem> {
        if let Some(object) = &fail.object {
            self.served(object)?;
        }
        let of = fail
            .object
            .as_ref()
            .map_or_else(|| "any object".to_owned(), Target::full);
        self.inspection.development().failures.plan(Planned {
            object: fail.object,
            permanent: fail.permanent,
            message: fail.message,
        })?;
        Ok(format!("the next handler run of {of} will fail"))
    }

    async fn take(&self, take: &Take) -> Result<String, Problem> {
        self.served(&take.object)?;
        self.inspection.take_by_hand(&take.object, &take.to).await?;
        Ok(format!("led {} to {}", take.object.full(), take.to))
    }

    async fn advance(&self, advance: &Advance) -> Result<String, Problem> {
        let by = Duration::from_secs(advance.seconds);
        if self.inspection.clock().advance(by, FURTHEST).is_none() {
            let problem = "the clock can be at most 100 years ahead".to_owned();
            return Err((StatusCode::UNPROCESSABLE_ENTITY, problem));
        }
        self.inspection.set_timers_again().await?;
        Ok(format!("the clock moved forward by {by:?}"))
    }

    fn served(&self, object: &Target) -> Result<Arc<Served>, Problem> {
        for (name, may_be_empty) in [(&object.namespace, true), (&object.name, false)] {
            let is_left_out = may_be_empty && name.is_empty();
            if !is_left_out && !is_name(name) {
                return Err((
                    StatusCode::BAD_REQUEST,
                    format!("{name:?} is not a valid object name"),
                ));
            }
        }
        self.inspection.development().served(&object.group, &object.kind)
    }
}

/// Whether a text can be the name of a custom resource or of a namespace, so that it is one part of a path.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ['-', '.'].contains(&c))
}

/// Whether the request says that it is about the controls, as no website can.
fn permitted(headers: &HeaderMap) -> Result<(), Problem> {
    if headers.contains_key(HEADER) {
        return Ok(());
    }
    Err((StatusCode::FORBIDDEN, format!("the header `{HEADER}` is missing")))
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))
}

fn respond(done: Result<Value, Problem>) -> Response<String> {
    let mut answer = match done {
        Ok(json) => serve::answer("application/json", json.to_string()),
        Err((status, problem)) => text(status, problem + "\n"),
    };
    protect(answer.headers_mut());
    answer
}

/// Ends the process as `kill -9` does: no destructor runs, and nothing is written any more.
fn kill() -> Result<String, Problem> {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, getpid, kill_process};
        match kill_process(getpid(), Signal::KILL) {
            Ok(()) => Ok("killed".to_owned()),
            Err(error) => Err((StatusCode::INTERNAL_SERVER_ERROR, Error::from(error).to_string())),
        }
    }
    #[cfg(not(unix))]
    std::process::abort()
}
