//! The requests of a case to a server, and the server's answers.

use super::{
    cases::{Case, Step},
    masked::Mask,
    webhook::Webhook,
};
use futures::{AsyncBufReadExt as _, StreamExt as _, stream::BoxStream};
use http::{Method, Request, header};
use kube::{Client, client::Body};
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, time::Duration};
use tokio::time::{Instant, sleep, timeout};

/// The deadline of awaited events. It is short, because each event that does not occur costs this time.
const DEADLINE: Duration = Duration::from_secs(20);
/// The interval at which an awaited condition is checked.
const AGAIN: Duration = Duration::from_millis(50);

/// One of the servers.
pub struct Target {
    client: Client,
    webhook: Webhook,
}

/// A running case.
struct Run<'a> {
    target: &'a Target,
    namespace: String,
    /// The values of `$rv`, `$uid` and the other variables.
    variables: BTreeMap<&'static str, String>,
    transcript: String,
    mask: Mask,
    watch: Option<BoxStream<'static, String>>,
    /// The user of the following steps.
    user: Option<String>,
}

struct Answer {
    code: u16,
    body: Json,
    warnings: Vec<String>,
}

impl Target {
    pub fn new(client: Client, webhook: &Webhook) -> Self {
        Self {
            client,
            webhook: webhook.clone(),
        }
    }

    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: String) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.into_bytes())).expect("a request");
        let response = self.client.send(request).await.expect("the server answers");
        let (parts, body) = response.into_parts();
        let body = body.collect_bytes().await.expect("the server answers to the end");
        let warnings = parts.headers.get_all(header::WARNING);
        Answer {
            code: parts.status.as_u16(),
            body: serde_json::from_slice(&body)
                .unwrap_or_else(|_| Json::from(String::from_utf8_lossy(&body).into_owned())),
            warnings: warnings
                .iter()
                .map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned())
                .collect(),
        }
    }

    /// Creates definitions, and waits until their kinds are served.
    pub async fn define(&self, definitions: &str) {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        for document in definitions.split("\n---\n") {
            let definition: Json = serde_yaml::from_str(document).expect("YAML");
            let answer = self.send(Method::POST, path, &[], definition.to_string()).await;
            // An earlier session of kubectl may have created it.
            assert!([201, 409].contains(&answer.code), "{}", answer.body);
            let text = |pointer: &str| {
                definition
                    .pointer(pointer)
                    .and_then(Json::as_str)
                    .unwrap_or_default()
            };
            let served = format!("/apis/{}/v1/{}", text("/spec/group"), text("/spec/names/plural"));
            let end = Instant::now() + DEADLINE;
            while self.send(Method::GET, &served, &[], String::new()).await.code != 200 {
                assert!(Instant::now() < end, "{served} is not served");
                sleep(AGAIN).await;
            }
        }
    }

    /// Runs a case in a namespace of its own, and returns the requests and answers.
    pub async fn run(&self, number: usize, case: &Case) -> String {
        let namespace = format!("case-{number}");
        let made = json!({"metadata": {"name": namespace}}).to_string();
        let answer = self.send(Method::POST, "/api/v1/namespaces", &[], made).await;
        assert_eq!(answer.code, 201, "{}", answer.body);
        let mut run = Run {
            target: self,
            mask: Mask::new(&namespace),
            namespace,
            variables: BTreeMap::from([
                ("$webhook", self.webhook.url.clone()),
                ("$bundle", self.webhook.bundle.clone()),
            ]),
            user: None,
            transcript: String::new(),
            watch: None,
        };
        for step in &case.steps {
            run.step(step).await;
        }
        run.transcript
    }
}

impl Run<'_> {
    fn say(&mut self, line: &str) {
        self.transcript.push_str(line);
        self.transcript.push('\n');
    }

    async fn step(&mut self, step: &Step) {
        let rest = self.filled(&step.rest);
        let path = self.path(&self.filled(&step.resource));
        self.say(&format!("> {} {} {}", step.word, step.resource, step.rest));
        let json = [("content-type", "application/json")];
        let patch = |form| [("content-type", form)];
        let answer = match step.word.as_str() {
            "create" => self.send(Method::POST, &path, &json, &rest).await,
            "get" => self.send(Method::GET, &path, &[], "").await,
            "table" => {
                let form = "application/json;as=Table;g=meta.k8s.io;v=v1";
                self.send(Method::GET, &path, &[("accept", form)], "").await
            }
            "metadata" => {
                let list = if step.resource.contains('/') { "" } else { "List" };
                let form = format!("application/json;as=PartialObjectMetadata{list};g=meta.k8s.io;v=v1");
                self.send(Method::GET, &path, &[("accept", &form)], "").await
            }
            "replace" => self.send(Method::PUT, &path, &json, &rest).await,
            "merge" => {
                self.send(
                    Method::PATCH,
                    &path,
                    &patch("application/merge-patch+json"),
                    &rest,
                )
                .await
            }
            "json" => {
                self.send(Method::PATCH, &path, &patch("application/json-patch+json"), &rest)
                    .await
            }
            "strategic" => {
                let form = "application/strategic-merge-patch+json";
                self.send(Method::PATCH, &path, &patch(form), &rest).await
            }
            "apply" => {
                self.send(
                    Method::PATCH,
                    &path,
                    &patch("application/apply-patch+yaml"),
                    &rest,
                )
                .await
            }
            "delete" | "delete-all" => self.send(Method::DELETE, &path, &json, &rest).await,
            "as" => {
                self.user = Some(self.filled(&step.resource)).filter(|user| user != "admin");
                return;
            }
            "tries" => return self.tries(&path, rest).await,
            "watch" => return self.open(&path).await,
            "events" => return self.events(step.resource.parse().expect("a number")).await,
            "gone" => return self.until(&path, |answer| answer.code == 404).await,
            "until" => {
                let (pointer, value) = rest.split_once(' ').expect("a pointer and a value");
                let value: Json = serde_yaml::from_str(value).expect("YAML");
                return self
                    .until(&path, |answer| {
                        *answer.body.pointer(pointer).unwrap_or(&Json::Null) == value
                    })
                    .await;
            }
            other => panic!("`{other}` is no step"),
        };
        self.remember(&answer.body);
        let body = self.mask.masked(&answer.body);
        self.say(&format!("{}", answer.code));
        for warning in answer.warnings {
            let warning = self.mask.text(&warning);
            self.say(&format!("warning: {warning}"));
        }
        self.say(&format!("{body:#}"));
    }

    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let body = match body.trim() {
            "" => String::new(),
            // A body that is invalid on purpose.
            text if text.starts_with('!') => text[1..].to_owned(),
            text => {
                let body: Json = serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
                body.to_string()
            }
        };
        let has_manager = path.contains("fieldManager=");
        let manager = if has_manager {
            ""
        } else {
            "fieldManager=conformance"
        };
        let separator = if path.contains('?') { "&" } else { "?" };
        let path = if manager.is_empty() || method == Method::GET || method == Method::DELETE {
            path.to_owned()
        } else {
            format!("{path}{separator}{manager}")
        };
        let mut headers = headers.to_vec();
        headers.extend(self.user.as_deref().map(|user| ("impersonate-user", user)));
        self.target.send(method, &path, &headers, body).await
    }

    fn filled(&self, text: &str) -> String {
        let text = text.replace("$ns", &self.namespace);
        self.variables
            .iter()
            .fold(text, |text, (key, value)| text.replace(key, value))
    }

    fn remember(&mut self, body: &Json) {
        for (key, pointer) in [
            ("$rv", "/metadata/resourceVersion"),
            ("$uid", "/metadata/uid"),
            ("$continue", "/metadata/continue"),
        ] {
            if let Some(value) = body.pointer(pointer).and_then(Json::as_str) {
                self.variables.insert(key, value.to_owned());
            }
        }
    }

    /// The path of a resource, which may include a name, a subresource and a query.
    fn path(&self, resource: &str) -> String {
        if resource.starts_with('/') {
            return resource.to_owned();
        }
        let (all, query) = resource
            .split_once('?')
            .map_or((resource, ""), |(all, query)| (all, query));
        let (resource, below) = all
            .split_once('/')
            .map_or((all, String::new()), |(it, name)| (it, format!("/{name}")));
        let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
        let is_version =
            |text: &str| text.starts_with('v') && text[1..].starts_with(|it: char| it.is_ascii_digit());
        let versioned = group.split_once('.').filter(|(version, _)| is_version(version));
        let (version, group) = versioned.unwrap_or(("v1", group));
        let base = match group {
            "" => "/api/v1".to_owned(),
            group => format!("/apis/{group}/{version}"),
        };
        let cluster = [
            "namespaces",
            "nodes",
            "persistentvolumes",
            "clusterroles",
            "clusterrolebindings",
            "herds",
        ];
        let is_cluster = cluster.contains(&resource)
            || ["apiextensions.k8s.io", "admissionregistration.k8s.io"].contains(&group);
        let place = if is_cluster {
            String::new()
        } else {
            format!("/namespaces/{}", self.namespace)
        };
        let query = if query.is_empty() {
            String::new()
        } else {
            format!("?{query}")
        };
        format!("{base}{place}/{resource}{below}{query}")
    }

    async fn open(&mut self, path: &str) {
        let separator = if path.contains('?') { "&" } else { "?" };
        let request = Request::get(format!("{path}{separator}watch=true"))
            .body(Vec::new())
            .expect("a request");
        let lines = self
            .target
            .client
            .request_stream(request)
            .await
            .expect("the server watches")
            .lines();
        self.watch = Some(lines.filter_map(|line| async { line.ok() }).boxed());
    }

    async fn events(&mut self, count: usize) {
        for _ in 0..count {
            let watch = self.watch.as_mut().expect("a watch was opened before");
            let Ok(line) = timeout(DEADLINE, watch.next()).await else {
                return self.say("no event in time");
            };
            let event: Json = serde_json::from_str(&line.unwrap_or_default()).unwrap_or_default();
            let event = self.mask.masked(&event);
            self.say(&format!("{event:#}"));
        }
    }

    /// Tries to create an object until the expected answer arrives: new rules take effect on a real server with a
    /// delay.
    async fn tries(&mut self, path: &str, rest: String) {
        let (code, body) = rest.split_once(' ').expect("a code and a body");
        let json = [("content-type", "application/json")];
        let path = format!("{path}?dryRun=All");
        let end = Instant::now() + DEADLINE;
        loop {
            let answer = self.send(Method::POST, &path, &json, body).await;
            if answer.code.to_string() == code {
                return;
            }
            if Instant::now() > end {
                return self.say(&format!("not in time: {}", answer.body));
            }
            sleep(AGAIN).await;
        }
    }

    async fn until(&mut self, path: &str, is_enough: impl Fn(&Answer) -> bool) {
        let end = Instant::now() + DEADLINE;
        loop {
            let answer = self.send(Method::GET, path, &[], "").await;
            if is_enough(&answer) {
                return;
            }
            if Instant::now() > end {
                return self.say(&format!("not in time: {}", answer.body));
            }
            sleep(AGAIN).await;
        }
    }
}
