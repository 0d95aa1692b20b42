//! A webhook on this machine, over HTTPS. Its response depends on the label `webhook` of an object, and it can convert
//! objects.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use krator_apiserver::Convert;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::{Value as Json, json};
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::net::TcpListener;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{self, pki_types::PrivateKeyDer},
};

/// A webhook that responds while its runtime runs.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// The URL: `https://127.0.0.1:...`.
    pub url: String,
    /// The certificate of its authority, in the form of configurations.
    pub bundle: String,
}

impl Webhook {
    /// Starts a webhook, which may also convert objects.
    pub async fn start(convert: Option<Arc<Convert>>) -> Self {
        let (authority, certificate, key) = certificates();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| {
                config
                    .with_no_client_auth()
                    .with_single_cert(vec![certificate], key)
            })
            .expect("the certificate is new");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("https://{}", listener.local_addr().expect("it listens"));
        tokio::spawn(accept(listener, TlsAcceptor::from(Arc::new(config)), convert));
        Self {
            url,
            bundle: STANDARD.encode(authority),
        }
    }
}

/// An authority as PEM, and a certificate from it with the key.
fn certificates() -> (
    String,
    rustls::pki_types::CertificateDer<'static>,
    PrivateKeyDer<'static>,
) {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = params.self_signed(&key).expect("a certificate").pem();
    let issuer = Issuer::new(params, key);
    let own = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("an address");
    let certificate = params.signed_by(&own, &issuer).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(own.serialize_der().into());
    (authority, certificate.der().clone(), key)
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, convert: Option<Arc<Convert>>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let (acceptor, convert) = (acceptor.clone(), convert.clone());
        tokio::spawn(async move {
            // A client that does not trust the certificate disconnects.
            let Ok(stream) = acceptor.accept(stream).await else {
                return;
            };
            let answer = service_fn(move |request| answer(request, convert.clone()));
            drop(
                http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), answer)
                    .await,
            );
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    convert: Option<Arc<Convert>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request
        .into_body()
        .collect()
        .await
        .expect("the server sends all")
        .to_bytes();
    let review: Json = serde_json::from_slice(&body).expect("the server sends JSON");
    if review["kind"] == "ConversionReview" {
        let convert = convert.expect("a webhook for definitions is one that converts");
        let review = converted(&review, &*convert).to_string();
        let response = Response::builder().header("content-type", "application/json");
        return Ok(response.body(Full::from(review)).expect("a response"));
    }
    let request = &review["request"];
    let object = if request["object"].is_null() {
        &request["oldObject"]
    } else {
        &request["object"]
    };
    let mut response = json!({"uid": request["uid"], "allowed": true});
    let mut status = StatusCode::OK;
    match object["metadata"]["labels"]["webhook"]
        .as_str()
        .unwrap_or_default()
    {
        "deny" => {
            response["allowed"] = false.into();
            response["status"] = json!({"message": "George may not enter"});
        }
        "silent" => response["allowed"] = false.into(),
        "causes" => {
            response["allowed"] = false.into();
            response["status"] = json!({"code": 422, "reason": "Invalid", "message": "two fields are wrong", "details": {"causes": [
                {"reason": "FieldValueInvalid", "message": "the zone is full", "field": "spec.zone"},
                {"reason": "FieldValueInvalid", "message": "too heavy", "field": "spec.weight"},
            ]}});
        }
        "warn" => response["warnings"] = json!(["one", "two", "one"]),
        // The request to the webhook, without the parts that differ between runs.
        "echo" => {
            let mut told = request.clone();
            let fields = told.as_object_mut().expect("a request is an object");
            for key in ["uid", "object", "oldObject", "userInfo"] {
                fields.remove(key);
            }
            let user = request["userInfo"]["username"].as_str().unwrap_or_default();
            let has = |key: &str| request[key].is_object();
            let told = sorted(&told);
            response["allowed"] = false.into();
            response["status"] = json!({"code": 403, "reason": "Forbidden", "message": format!(
                "{told} by {user}, object {}, oldObject {}", has("object"), has("oldObject")
            )});
        }
        // A deletion has no object to patch.
        "patch" if request["object"].is_null() => {}
        "patch" => patch(
            &mut response,
            json!([{"op": "add", "path": "/metadata/annotations", "value": {"patched": "yes"}}]),
        ),
        // Only objects of some versions have this field.
        "replicas" => patch(
            &mut response,
            json!([{"op": "replace", "path": "/spec/replicas", "value": 4}]),
        ),
        "bad-patch" => patch(&mut response, json!([{"op": "remove", "path": "/nowhere"}])),
        "hang" => tokio::time::sleep(Duration::from_secs(30)).await,
        "500" => status = StatusCode::INTERNAL_SERVER_ERROR,
        "503" => status = StatusCode::SERVICE_UNAVAILABLE,
        "uid" => response["uid"] = "another".into(),
        "absent" => response = Json::Null,
        _ => {}
    }
    let review =
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    let body = match object["metadata"]["labels"]["webhook"].as_str() {
        Some("garbage") => "garbage".to_owned(),
        Some("500" | "503") => "the moose has eaten the cable".to_owned(),
        _ => review.to_string(),
    };
    let form = if status.is_success() {
        "application/json"
    } else {
        "text/plain"
    };
    let response = Response::builder().status(status).header("content-type", form);
    Ok(response.body(Full::from(body)).expect("a response"))
}

/// The response to a ConversionReview.
fn converted(review: &Json, convert: &Convert) -> Json {
    let request = &review["request"];
    let to = request["desiredAPIVersion"].as_str().unwrap_or_default();
    let objects = request["objects"].as_array().into_iter().flatten();
    let objects: Result<Vec<Json>, String> = objects.map(|object| convert(object, to)).collect();
    let response = match objects {
        Ok(objects) => {
            json!({"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects})
        }
        Err(why) => json!({"uid": request["uid"], "result": {"status": "Failure", "message": why}}),
    };
    json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})
}

fn patch(response: &mut Json, patch: Json) {
    response["patchType"] = "JSONPatch".into();
    response["patch"] = STANDARD.encode(patch.to_string()).into();
}

/// The value with sorted fields.
fn sorted(value: &Json) -> Json {
    match value {
        Json::Object(fields) => {
            let mut fields: Vec<_> = fields
                .iter()
                .map(|(key, value)| (key.clone(), sorted(value)))
                .collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            fields.into_iter().collect()
        }
        other => other.clone(),
    }
}
