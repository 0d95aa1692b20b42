//! Random requests: mostly usual ones, and some that no client sends.

use super::{bodies, word};
use crate::dice::Dice;
use http::Method;
use std::fmt;

/// A request. In its texts, `$ns` is the namespace of the round; `$rv`, `$uid` and `$continue` are taken from the
/// server's last answer with an object or a list.
pub struct Drawn {
    pub method: String,
    path: String,
    query: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    is_about_others: bool,
}

/// Resources: their path, the path without a namespace, and the name of the kind in `bodies`.
const RESOURCES: [(&str, &str, &str); 9] = [
    (
        "/api/v1/namespaces/$ns/configmaps",
        "/api/v1/configmaps",
        "configmap",
    ),
    ("/api/v1/namespaces/$ns/secrets", "/api/v1/secrets", "secret"),
    ("/api/v1/namespaces/$ns/pods", "/api/v1/pods", "pod"),
    (
        "/apis/apps/v1/namespaces/$ns/deployments",
        "/apis/apps/v1/deployments",
        "deployment",
    ),
    (
        "/apis/coordination.k8s.io/v1/namespaces/$ns/leases",
        "/apis/coordination.k8s.io/v1/leases",
        "lease",
    ),
    (
        "/apis/conformance.krator.dev/v1/namespaces/$ns/moose",
        "/apis/conformance.krator.dev/v1/moose",
        "moose",
    ),
    (
        "/apis/conformance.krator.dev/v1/namespaces/$ns/moose",
        "/apis/conformance.krator.dev/v1/moose",
        "moose",
    ),
    (
        "/apis/conformance.krator.dev/v1/namespaces/$ns/elks",
        "/apis/conformance.krator.dev/v1/elks",
        "elk",
    ),
    (
        "/apis/conformance.krator.dev/v1/herds",
        "/apis/conformance.krator.dev/v1/namespaces/$ns/herds",
        "herd",
    ),
];

const STRANGE_PATHS: [&str; 16] = [
    "/",
    "/foo",
    "/api",
    "/apis/nothing.dev",
    "/apis/nothing.dev/v1",
    "/apis/nothing.dev/v1/things",
    "/api/v2/namespaces/$ns/configmaps",
    "/apis/apps/v2/namespaces/$ns/deployments",
    "/api/v1/namespaces/$ns/nothing",
    "/api/v1/namespaces/$ns/configmaps/a/status",
    "/api/v1/namespaces/$ns/configmaps/a/b/c",
    "/api/v1/namespaces/$ns/configmaps/",
    "/apis/conformance.krator.dev/v1/namespaces/$ns/moose/a/nothing",
    "/apis/conformance.krator.dev/v1/namespaces/$ns/moose/a/status/more",
    "/apis/conformance.krator.dev/v2/namespaces/$ns/moose",
    "/healthz",
];

const METHODS: [&str; 7] = ["FOO", "OPTIONS", "TRACE", "HEAD", "LINK", "get", "PROPFIND"];

const MANAGERS: [&str; 7] = ["", "one", "two", "a%01b", "%C3%A9", "kubectl%20edit", LONG];
const LONG: &str = "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm";

/// Parameters of reads, of writes and of deletions, each with its values.
const OF_READS: [(&str, &[&str]); 12] = [
    ("watch", &["1", "true", "false", "0", "", "x"]),
    ("limit", &["1", "0", "-1", "x", "", "99999999999999999999", "500"]),
    (
        "continue",
        &["", "abc", "$continue", "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ"],
    ),
    ("resourceVersion", &["", "0", "1", "x", "-1", "$rv", "01"]),
    (
        "resourceVersionMatch",
        &["", "Exact", "NotOlderThan", "Foo", "exact"],
    ),
    ("timeoutSeconds", &["1", "2", "", "x", "1.5", "1s"]),
    ("sendInitialEvents", &["true", "false", "", "0", "x"]),
    ("allowWatchBookmarks", &["true", "false", "x"]),
    (
        "labelSelector",
        &[
            "",
            "a",
            "a%3Db",
            "a%3Db%3Dc",
            "-a",
            "a%20in%20(b,c)",
            "a%20in%20b",
            "!a",
            ",",
            "a%3D,",
            "a%3E1",
            "a%3Ex",
        ],
    ),
    (
        "fieldSelector",
        &[
            "",
            "metadata.name%3Da",
            "metadata.name!%3Da",
            "metadata.namespace%3D$ns",
            "spec.nothing%3Da",
            "a",
            "a%3D%5Cx",
            "metadata.name%3Da,metadata.name%3Db",
            "spec.park%3Dglacier",
            "status.phase%3DPending",
        ],
    ),
    ("includeObject", &["None", "Metadata", "Object", "Foo"]),
    ("pretty", &["true", "x", ""]),
];
const OF_WRITES: [(&str, &[&str]); 6] = [
    (
        "dryRun",
        &["All", "all", "", "x", "All&dryRun=All", "All&dryRun=x"],
    ),
    ("fieldManager", &MANAGERS),
    ("fieldManager", &["one", "two"]),
    (
        "fieldValidation",
        &["Strict", "Warn", "Ignore", "", "strict", "x"],
    ),
    ("force", &["true", "false", "", "x"]),
    ("timeout", &["10s", "1s"]),
];
const OF_DELETIONS: [(&str, &[&str]); 5] = [
    ("dryRun", &["All", "x", ""]),
    ("gracePeriodSeconds", &["0", "-1", "1", "x", ""]),
    ("propagationPolicy", &["Background", "", "Foo", "orphan"]),
    ("orphanDependents", &["false", "0", "False"]),
    ("labelSelector", &["nothing%3Dhere", "a%3Db%3Dc"]),
];

const FORMS: [&str; 12] = [
    "application/json",
    "application/json; charset=utf-8",
    "application/yaml",
    "APPLICATION/JSON",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/cbor",
    "text/html",
    "garbage;;;",
    "*/*",
];
const ACCEPTED: [&str; 17] = [
    "*/*",
    "application/*",
    "application/json",
    "application/yaml",
    "text/html",
    "text/html, */*;q=0.1",
    "garbage",
    "*/json",
    "application/cbor",
    "application/json;as=Foo;g=meta.k8s.io;v=v1",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "application/json;as=Table;g=meta.k8s.io;v=v2",
    "application/json;as=Table;g=meta.k8s.io;v=v1beta1,application/json",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    "application/json;stream=foo",
    "application/json;g=meta.k8s.io",
];
const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

impl Drawn {
    /// A request with a JSON body.
    pub fn json(method: Method, path: &str, body: String) -> Drawn {
        Drawn {
            method: method.to_string(),
            path: path.to_owned(),
            query: "fieldManager=random".to_owned(),
            headers: vec![("content-type".to_owned(), FORMS[0].to_owned())],
            body,
            is_about_others: false,
        }
    }

    /// The initial objects of a round: their paths and bodies.
    pub fn first_objects() -> impl Iterator<Item = (&'static str, String)> {
        let of_round = RESOURCES.iter().filter(|(path, ..)| path.contains("$ns"));
        of_round
            .take(6)
            .map(|(path, _, kind)| (*path, bodies::object(kind, "a")))
    }

    pub fn random(dice: &mut Dice, step: usize) -> Drawn {
        let (path, elsewhere, kind) = *dice.among(&RESOURCES);
        let name = *dice.among(&["a", "a", "a", "b", "c", "A_b"]);
        let mut named = dice.below(10) < 7;
        let method = match dice.below(100) {
            0..30 => "GET",
            30..50 => "POST",
            50..62 => "PUT",
            62..85 => "PATCH",
            85..95 => "DELETE",
            _ => word(dice, &METHODS),
        };
        if method == "POST" {
            named = dice.one_in(20);
        } else if ["PUT", "PATCH"].contains(&method) {
            named = !dice.one_in(30);
        }
        let mut is_about_others = path == RESOURCES[8].0 && !named;
        let mut path = path.to_owned();
        if !named && dice.one_in(12) && method != "DELETE" {
            path = elsewhere.to_owned();
            is_about_others = true;
        } else if method == "DELETE" && is_about_others {
            named = true;
        }
        // The names of cluster-scoped objects contain the round.
        let name = if kind == "herd" {
            format!("{name}-$ns")
        } else {
            name.to_owned()
        };
        if named {
            path = format!("{path}/{name}");
            if dice.one_in(4) {
                path.push_str(word(dice, &["/status", "/scale", "/status", "/nothing"]));
            }
        }
        if dice.one_in(25) && method != "DELETE" {
            path = (*dice.among(&STRANGE_PATHS)).to_owned();
            is_about_others |= !path.contains("$ns");
        }
        let mut drawn = Drawn {
            method: method.to_owned(),
            path,
            query: query(dice, method),
            headers: Vec::new(),
            body: String::new(),
            is_about_others,
        };
        drawn.draw_body(dice, kind, &name, step);
        drawn.draw_headers(dice);
        drawn
    }

    fn draw_body(&mut self, dice: &mut Dice, kind: &str, name: &str, step: usize) {
        let mut form = "";
        match self.method.as_str() {
            "POST" => {
                let name = match kind {
                    _ if dice.one_in(3) => name.to_owned(),
                    "herd" => format!("n{step}-$ns"),
                    _ => format!("n{step}"),
                };
                self.body = bodies::changed_object(dice, kind, &name);
                form = FORMS[0];
            }
            "PUT" => {
                self.body = bodies::changed_object(dice, kind, name);
                form = FORMS[0];
            }
            "PATCH" => {
                form = word(dice, &PATCHES);
                self.body = bodies::patch(dice, form, kind, name);
            }
            "DELETE" if dice.one_in(3) => {
                self.body = bodies::delete_options(dice);
                form = FORMS[0];
            }
            _ => {}
        }
        if !form.is_empty() && dice.one_in(15) {
            form = word(dice, &FORMS);
        }
        if !form.is_empty() && !dice.one_in(40) {
            self.headers.push(("content-type".to_owned(), form.to_owned()));
        }
    }

    fn draw_headers(&mut self, dice: &mut Dice) {
        let mut add = |name: &str, value: &str| self.headers.push((name.to_owned(), value.to_owned()));
        if dice.one_in(6) {
            add("accept", word(dice, &ACCEPTED));
        }
        if dice.one_in(8) {
            add(
                "user-agent",
                word(dice, &["kubectl/v1.37 (linux)", "a", LONG, "a b/c", "/x"]),
            );
        }
        if dice.one_in(20) {
            if !dice.one_in(8) {
                add(
                    "impersonate-user",
                    word(
                        dice,
                        &[
                            "jane",
                            "system:serviceaccount:$ns:default",
                            "system:anonymous",
                            "admin",
                            "a<b>",
                            "system:serviceaccount:x",
                        ],
                    ),
                );
            }
            if dice.one_in(3) {
                add(
                    "impersonate-group",
                    word(dice, &["system:masters", "park", "system:unauthenticated"]),
                );
            }
            if dice.one_in(6) {
                add("impersonate-uid", "7");
            }
            if dice.one_in(6) {
                add(
                    word(dice, &["impersonate-extra-scopes", "impersonate-extra-a%2fb"]),
                    "view",
                );
            }
        }
    }

    pub fn uri(&self) -> String {
        match self.query.as_str() {
            "" => self.path.clone(),
            query => format!("{}?{query}", self.path),
        }
    }

    /// Whether the request changes nothing.
    pub fn is_read(&self) -> bool {
        !["POST", "PUT", "PATCH", "DELETE"].contains(&self.method.as_str())
    }

    pub fn is_watch(&self) -> bool {
        let stays = |it: &str| it == "watch=0" || it == "watch=false";
        self.method == "GET"
            && self
                .query
                .split('&')
                .find(|it| it.starts_with("watch="))
                .is_some_and(|it| !stays(it))
    }

    /// Whether the request is for a custom kind.
    pub fn is_custom(&self) -> bool {
        self.path.contains("conformance.krator.dev")
    }

    /// Whether the answer includes objects of other rounds.
    pub fn is_about_others(&self) -> bool {
        self.is_about_others
    }
}

fn query(dice: &mut Dice, method: &str) -> String {
    let count = *dice.among(&[0, 0, 1, 1, 2, 3]);
    let mut drawn = Vec::new();
    for _ in 0..count {
        let (key, values) = match method {
            "POST" | "PUT" | "PATCH" => *dice.among(&OF_WRITES),
            "DELETE" if !dice.one_in(5) => *dice.among(&OF_DELETIONS),
            _ => *dice.among(&OF_READS),
        };
        drawn.push(format!("{key}={}", word(dice, values)));
    }
    if method == "PATCH" && !dice.one_in(4) {
        drawn.push("fieldManager=random".to_owned());
    }
    // A watch without a timeout would last half an hour.
    if drawn.iter().any(|it| it.starts_with("watch=")) {
        drawn.push("timeoutSeconds=1".to_owned());
    }
    drawn.join("&")
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {:?} {}",
            self.method,
            self.uri(),
            self.headers,
            self.body
        )
    }
}
