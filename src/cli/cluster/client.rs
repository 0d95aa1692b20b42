//! The client of an API server, with responses in JSON. It is kube's client, which supports kubeconfigs and all ways to
//! authenticate.

use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use http::Method;
use jiff::Timestamp;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use serde_json::Value as Json;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::Connection;
use crate::observed::Lookup;
use crate::text::printable;

/// The timeouts of a connection to the API server, and of a response.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(30);

/// The maximum number of concurrent requests.
const AT_ONCE: usize = 16;

/// The maximum number of objects in a response.
const PAGE: usize = 500;

/// The reason why no kubeconfig can be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoKubeconfig(String);

/// The message of an error, with its cause. kube's own message quotes the path twice.
fn reason(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(cause, path) => {
            format!(
                "cannot read `{}`: {cause}",
                printable(&path.display().to_string())
            )
        }
        other => other.to_string(),
    }
}

/// An API server.
pub struct Cluster {
    runtime: Runtime,
    client: Client,
}

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    pub path: String,
    pub body: Option<Json>,
}

/// The response to a request.
#[derive(Debug, Clone)]
pub struct Response {
    pub code: u16,
    pub body: String,
    /// The time by the API server's clock, from the `Date` header.
    pub time: Option<Timestamp>,
}

impl Request {
    pub fn get(path: impl Into<String>) -> Self {
        Request {
            method: Method::GET,
            path: path.into(),
            body: None,
        }
    }
}

impl Response {
    /// The body as JSON; null if it is not JSON.
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The error in a response: the message of a `Status`, or the text.
    pub fn message(&self) -> String {
        let json = self.json();
        let message = json["message"].as_str().unwrap_or(self.body.trim());
        printable(message)
    }

    /// The result of a lookup of the object in this response.
    pub fn into_lookup(self) -> Lookup {
        match self.code {
            200..300 => Lookup::There(self.json()),
            404 => Lookup::Absent,
            _ => Lookup::Unknown(self.message()),
        }
    }
}

impl Cluster {
    /// A client of the API server that a kubeconfig names. It has not sent a request.
    ///
    /// # Errors
    ///
    /// If there is no kubeconfig, or if it has no server or no credentials.
    pub fn connect(connection: &Connection) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .context("cannot start a thread")?;
        let client = runtime.block_on(async {
            let options = KubeConfigOptions {
                context: connection.context.clone(),
                ..KubeConfigOptions::default()
            };
            let kubeconfig = match &connection.kubeconfig {
                Some(path) => Kubeconfig::read_from(path),
                None => Kubeconfig::read(),
            };
            let mut config = match kubeconfig {
                Ok(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options).await?,
                // A pod has no kubeconfig. Its ServiceAccount is used instead, as by kubectl.
                Err(error) => match Config::incluster() {
                    Ok(config) if connection.kubeconfig.is_none() => config,
                    _ => return Err(NoKubeconfig(reason(&error)).into()),
                },
            };
            (config.connect_timeout, config.read_timeout) = (Some(CONNECT), Some(ANSWER));
            // kube would retry for a minute, but a server that does not respond is a result here.
            config.default_retry = false;
            Ok::<_, anyhow::Error>(Client::try_from(config)?)
        })?;
        Ok(Cluster { runtime, client })
    }

    /// The namespace of the kubeconfig's context.
    pub fn default_namespace(&self) -> &str {
        self.client.default_namespace()
    }

    /// Sends a request.
    ///
    /// # Errors
    ///
    /// If there is no response. A response with an error code is not an error here.
    pub fn ask(&self, request: Request) -> anyhow::Result<Response> {
        self.runtime.block_on(answer(self.client.clone(), request))
    }

    /// Sends several requests, some of them concurrently. The responses are in the order of the requests.
    pub fn ask_all(&self, requests: Vec<Request>) -> Vec<anyhow::Result<Response>> {
        let mut answers: Vec<Option<anyhow::Result<Response>>> = requests.iter().map(|_| None).collect();
        let mut waiting = requests.into_iter().enumerate();
        self.runtime.block_on(async {
            let mut asked = JoinSet::new();
            loop {
                while asked.len() < AT_ONCE
                    && let Some((at, request)) = waiting.next()
                {
                    let client = self.client.clone();
                    asked.spawn(async move { (at, answer(client, request).await) });
                }
                match asked.join_next().await {
                    Some(Ok((at, answer))) => answers[at] = Some(answer),
                    Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
                    None => break,
                }
            }
        });
        let unasked = || Err(anyhow!("it was not asked"));
        answers
            .into_iter()
            .map(|answer| answer.unwrap_or_else(unasked))
            .collect()
    }

    /// The object at a path.
    pub fn find(&self, path: impl Into<String>) -> Lookup {
        match self.ask(Request::get(path)) {
            Ok(answer) => answer.into_lookup(),
            Err(error) => Lookup::Unknown(format!("{error:#}")),
        }
    }

    /// All objects at a path; `None` if the API server does not serve the path.
    ///
    /// # Errors
    ///
    /// If the objects cannot be listed.
    pub fn list(&self, path: &str) -> anyhow::Result<Option<Vec<Json>>> {
        let mut objects = Vec::new();
        let is_known = self.each_page(path, |page, _| objects.extend(page))?;
        Ok(is_known.then_some(objects))
    }

    /// Passes all objects at a path to `sees`, page by page, each with the time by the API server's clock. Returns
    /// whether the API server serves the path.
    ///
    /// # Errors
    ///
    /// If the objects cannot be listed.
    pub fn each_page(
        &self,
        path: &str,
        mut sees: impl FnMut(Vec<Json>, Option<Timestamp>),
    ) -> anyhow::Result<bool> {
        let mut token = String::new();
        loop {
            let joint = if path.contains('?') { '&' } else { '?' };
            let page = format!("{path}{joint}limit={PAGE}&continue={token}");
            let answer = self.ask(Request::get(page))?;
            match answer.code {
                200..300 => {}
                404 => return Ok(false),
                _ => bail!(answer.message()),
            }
            let mut list = answer.json();
            let Some(Json::Array(items)) = list.get_mut("items").map(Json::take) else {
                bail!("the API server did not answer with a list");
            };
            // The items of a list have no `apiVersion` and no `kind` of their own.
            let kind = list["kind"].as_str().unwrap_or_default().trim_end_matches("List");
            let items = items.into_iter().map(|mut item| {
                if let Some(object) = item.as_object_mut() {
                    object
                        .entry("apiVersion")
                        .or_insert_with(|| list["apiVersion"].clone());
                    object.entry("kind").or_insert_with(|| kind.into());
                }
                item
            });
            sees(items.collect(), answer.time);
            match list["metadata"]["continue"].as_str() {
                Some(next) if !next.is_empty() => token = next.to_owned(),
                _ => return Ok(true),
            }
        }
    }

    /// The list at a path, as the result of a lookup.
    pub fn find_all(&self, path: &str) -> Lookup {
        match self.list(path) {
            Ok(Some(items)) => Lookup::There(Json::Array(items)),
            Ok(None) => Lookup::Absent,
            Err(error) => Lookup::Unknown(format!("{error:#}")),
        }
    }
}

async fn answer(client: Client, request: Request) -> anyhow::Result<Response> {
    let body = request
        .body
        .map(|body| body.to_string().into_bytes())
        .unwrap_or_default();
    let content = match request.method {
        Method::PATCH => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = http::Request::builder()
        .method(request.method)
        .uri(&request.path)
        .header(http::header::CONTENT_TYPE, content)
        .body(Body::from(body))
        .with_context(|| format!("`{}` is not a path", printable(&request.path)))?;
    let answer = client.send(request).await?;
    let code = answer.status().as_u16();
    let date = answer
        .headers()
        .get(http::header::DATE)
        .and_then(|date| date.to_str().ok());
    let time = date
        .and_then(|date| jiff::fmt::rfc2822::parse(date).ok())
        .map(|time| time.timestamp());
    let body = answer.into_body().collect_bytes().await?;
    Ok(Response {
        code,
        body: String::from_utf8_lossy(&body).into_owned(),
        time,
    })
}
