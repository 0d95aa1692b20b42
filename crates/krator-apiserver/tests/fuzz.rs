//! Randomly malformed requests must get a response without an internal error.

use fastrand::Rng;
use http::Request;
use http_body_util::Full;
use krator_apiserver::Server;

const REQUESTS: usize = 10_000;

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const PATHS: [&str; 14] = [
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/configmaps/a",
    "/api/v1/namespaces/default/pods/a/status",
    "/api/v1/namespaces",
    "/api/v1/namespaces/default",
    "/apis/apps/v1/namespaces/default/deployments/a",
    "/apis/apps/v1/namespaces/default/deployments/a/scale",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases/a",
    "/apis/events.k8s.io/v1/namespaces/default/events",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/apis",
    "/openapi/v3/apis/apps/v1",
    "/",
];
const QUERIES: [&str; 12] = [
    "",
    "watch=1&timeoutSeconds=1",
    "labelSelector=a%20in%20(b,c)",
    "labelSelector=a%3D%3D%3Db",
    "fieldSelector=metadata.name%3Da",
    "limit=1&continue=abc",
    "resourceVersion=99999999999999999999",
    "resourceVersion=1&resourceVersionMatch=Exact",
    "dryRun=All",
    "fieldManager=x&force=true",
    "fieldValidation=Strict",
    "propagationPolicy=Foreground&gracePeriodSeconds=-1",
];
const FORMS: [&str; 8] = [
    "application/json",
    "application/yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/vnd.kubernetes.protobuf",
    "text/html",
];
const BODIES: [&str; 8] = [
    r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"y"}}"#,
    r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1"}}}]}}}}"#,
    r#"[{"op":"add","path":"/metadata/labels","value":{"a":"b"}},{"op":"copy","from":"/data","path":"/x"}]"#,
    r#"{"metadata":{"finalizers":["a.b/c"],"ownerReferences":[{"apiVersion":"v1","kind":"X","name":"x","uid":"y"}]}}"#,
    r#"{"spec":{"template":{"spec":{"containers":[{"name":"c","$patch":"delete"}]}}},"$retainKeys":["x"]}"#,
    r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.a.dev"},"spec":{"group":"a.dev","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}"#,
    r#"{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"k:{}":{}}}}]},"spec":{}}"#,
    "",
];

/// A text with some of its bytes replaced, removed or repeated.
fn mutated(text: &str, random: &mut Rng) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..random.usize(..4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.usize(..bytes.len());
        match random.usize(..4) {
            0 => bytes[at] = b"{}[]\",:0a\\\x00\xff"[random.usize(..12)],
            1 => drop(bytes.remove(at)),
            2 => bytes.truncate(at),
            _ => {
                let end = (at + random.usize(..40)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

#[tokio::test]
async fn malformed_requests_are_refused_and_nothing_fails() {
    let server = Server::start();
    let mut random = Rng::with_seed(1);
    let mut refused = 0;
    for number in 0..REQUESTS {
        let path =
            String::from_utf8_lossy(&mutated(PATHS[random.usize(..PATHS.len())], &mut random)).into_owned();
        let uri = format!("{path}?{}", QUERIES[random.usize(..QUERIES.len())]);
        let method = METHODS[random.usize(..METHODS.len())];
        let form = FORMS[random.usize(..FORMS.len())];
        let body = mutated(BODIES[random.usize(..BODIES.len())], &mut random);
        let described = format!(
            "{number}: {method} {uri} {form} {}",
            String::from_utf8_lossy(&body)
        );
        let request = Request::builder()
            .method(method)
            .uri(&uri)
            .header("content-type", form);
        // A malformed URL cannot be sent.
        let Ok(request) = request.body(Full::new(body.into())) else {
            continue;
        };
        let answer: http::Response<_> = server.answer::<Full<bytes::Bytes>>(request).await;
        let code = answer.status().as_u16();
        // A real server fails, too, if an object or a watch is requested with an invalid version.
        let may_fail = code == 500 && uri.contains("resourceVersion=99999999999999999999");
        assert!(
            code < 500 || [501, 504].contains(&code) || may_fail,
            "{code}: {described}"
        );
        refused += usize::from(code >= 400);
    }
    assert!(refused > REQUESTS / 4, "only {refused} were refused");
}
