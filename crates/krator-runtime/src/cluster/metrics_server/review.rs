//! Access to the metrics and the page: the API server decides who may `get` the path, as with operators
//! of kubebuilder; or, over the loopback interface without TLS, the programs of this machine, but no website in its browser.
use crate::{
    cluster::{api::answered, process::serve::text},
    error::Result,
    lock::Lock as _,
};
use http::{HeaderMap, HeaderName, Response, StatusCode, header, request::Parts, uri::Authority};
use k8s_openapi::api::{
    authentication::v1::{TokenReview, TokenReviewSpec, UserInfo},
    authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
};
use kube::{Api, Client, Resource, api::PostParams};
use serde::{Serialize, de::DeserializeOwned};
use std::{collections::HashMap, fmt::Debug, sync::Mutex, time::Duration};
use tokio::{sync::Semaphore, time::Instant};

/// How long the API server's answer is remembered if it allows the request, and if it does not.
const ALLOWED_FOR: Duration = Duration::from_secs(60);
const REFUSED_FOR: Duration = Duration::from_secs(10);
/// How many answers are remembered.
const ANSWERS: usize = 64;
/// How many questions the API server is asked at once. A flood of wrong tokens must not become a flood of reviews.
const REVIEWS: usize = 4;
/// The longest time that a review may take.
const LONGEST_REVIEW: Duration = Duration::from_secs(10);

/// Decides whether a request is answered.
pub(super) enum Access {
    /// The API server decides, by the token of the request.
    Reviewed(Reviews),
    /// Programs on this machine may ask.
    Loopback,
}

impl Access {
    /// The answer to a request that is refused.
    pub async fn refusal(&self, request: &Parts) -> Option<Response<String>> {
        match self {
            Self::Loopback if is_local(&request.headers) => None,
            Self::Loopback => Some(text(
                StatusCode::FORBIDDEN,
                "only local requests are allowed\n".to_owned(),
            )),
            Self::Reviewed(reviews) => reviews.refusal(request).await,
        }
    }
}

/// Whether a request comes from no website. A browser sends the name under which a site has made it connect here, as
/// `Host`, and the site, as `Origin`. It sends no `Origin` with what a site embeds, but `Sec-Fetch-Site`; a site may still
/// link here, because it does not see what a link leads to.
fn is_local(headers: &HeaderMap) -> bool {
    let is_loopback = |authority: &str| {
        let host = authority.parse::<Authority>();
        // An authority takes anything for a port, as in `127.0.0.1:80.example.com`.
        let has_number = |host: &Authority| host.port_u16().is_some() || host.as_str() == host.host();
        let is_name = |host: &Authority| ["localhost", "127.0.0.1", "[::1]"].contains(&host.host());
        host.is_ok_and(|host| is_name(&host) && has_number(&host))
    };
    let text = |name| {
        headers
            .get(name)
            .map(|value: &http::HeaderValue| value.to_str().unwrap_or("?"))
    };
    let host = text(header::HOST);
    let same_origin = |origin: &str| origin.strip_prefix("http://") == host;
    let fetched_by = text(HeaderName::from_static("sec-fetch-site"));
    let is_link = text(HeaderName::from_static("sec-fetch-dest")) == Some("document");
    host.is_some_and(is_loopback)
        && text(header::ORIGIN).is_none_or(same_origin)
        && fetched_by.is_none_or(|site| is_link || ["same-origin", "none"].contains(&site))
}

/// The decisions of the API server about tokens.
pub(super) struct Reviews {
    client: Client,
    remembered: Mutex<HashMap<CacheKey, (Instant, Verdict)>>,
    permits: Semaphore,
}

/// A token, and the path that somebody wants to read with it.
type CacheKey = (String, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Allowed,
    /// The token is invalid.
    Unauthorized,
    /// Its owner has no right to read the path.
    Forbidden,
}

impl Reviews {
    pub fn new(client: Client) -> Self {
        Self {
            client,
            remembered: Mutex::default(),
            permits: Semaphore::new(REVIEWS),
        }
    }

    async fn refusal(&self, request: &Parts) -> Option<Response<String>> {
        let verdict = match bearer_token(&request.headers) {
            None => Ok(Verdict::Unauthorized),
            Some(token) => {
                let path = request.uri.path();
                self.verdict((token.to_owned(), path.to_owned())).await
            }
        };
        let (status, why) = match verdict {
            Ok(Verdict::Allowed) => return None,
            Ok(Verdict::Unauthorized) => (StatusCode::UNAUTHORIZED, "a valid bearer token is required\n"),
            Ok(Verdict::Forbidden) => (StatusCode::FORBIDDEN, "the user may not get this path\n"),
            Err(error) => {
                tracing::warn!(%error, path = request.uri.path(), "cannot review the token of a request");
                (
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "the API server could not review the token\n",
                )
            }
        };
        Some(text(status, why.to_owned()))
    }

    async fn verdict(&self, key: CacheKey) -> Result<Verdict> {
        if let Some(verdict) = self.remembered(&key) {
            return Ok(verdict);
        }
        // The semaphore is never closed.
        let _permit = self.permits.acquire().await;
        let verdict = answered(LONGEST_REVIEW, self.review(&key)).await??;
        self.remember(key, verdict);
        Ok(verdict)
    }

    async fn review(&self, (token, path): &CacheKey) -> Result<Verdict> {
        let review = TokenReview {
            spec: TokenReviewSpec {
                token: token.clone(),
                ..TokenReviewSpec::default()
            },
            ..TokenReview::default()
        };
        let status = self.create(&review).await?.status.unwrap_or_default();
        let (Some(true), Some(user)) = (status.authenticated, status.user) else {
            return Ok(Verdict::Unauthorized);
        };
        let review = SubjectAccessReview {
            spec: spec_of(user, path),
            ..SubjectAccessReview::default()
        };
        let status = self.create(&review).await?.status;
        Ok(if status.is_some_and(|status| status.allowed) {
            Verdict::Allowed
        } else {
            Verdict::Forbidden
        })
    }

    async fn create<K>(&self, review: &K) -> Result<K>
    where
        K: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Clone + Debug,
    {
        Ok(Api::<K>::all(self.client.clone())
            .create(&PostParams::default(), review)
            .await?)
    }

    fn remembered(&self, key: &CacheKey) -> Option<Verdict> {
        let remembered = self.remembered.locked();
        let (until, verdict) = remembered.get(key)?;
        (Instant::now() < *until).then_some(*verdict)
    }

    fn remember(&self, key: CacheKey, verdict: Verdict) {
        let now = Instant::now();
        let period = if verdict == Verdict::Allowed {
            ALLOWED_FOR
        } else {
            REFUSED_FOR
        };
        let mut remembered = self.remembered.locked();
        remembered.retain(|_, (until, _)| now < *until);
        if remembered.len() >= ANSWERS {
            // Refusals go first, because they are remembered for a shorter time.
            let next = remembered.iter().min_by_key(|(_, (until, _))| *until);
            if let Some(key) = next.map(|(key, _)| key.clone()) {
                remembered.remove(&key);
            }
        }
        remembered.insert(key, (now + period, verdict));
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?
        .split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn spec_of(user: UserInfo, path: &str) -> SubjectAccessReviewSpec {
    SubjectAccessReviewSpec {
        user: user.username,
        groups: user.groups,
        uid: user.uid,
        extra: user.extra,
        non_resource_attributes: Some(NonResourceAttributes {
            path: Some(path.to_owned()),
            verb: Some("get".to_owned()),
        }),
        ..SubjectAccessReviewSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::client::Body;
    use serde_json::{Value, json};
    use std::{
        convert::Infallible,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    /// The reviews of an API server that knows the tokens `reader`, `viewer` and `nobody`. It lets the first one read the
    /// metrics, and the second one what is shown of objects. A token review with `down` fails. Counts the requests.
    fn reviews() -> (Reviews, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let service = tower::service_fn(move |request: http::Request<Body>| {
            counted.fetch_add(1, Ordering::Relaxed);
            async move {
                let body = request.into_body().collect_bytes().await.expect("a body");
                let mut review: Value = serde_json::from_slice(&body).expect("a review");
                let user = review["spec"]["user"].as_str().map(str::to_owned);
                let code = if review["spec"]["token"] == "down" {
                    500
                } else {
                    201
                };
                review["status"] = match review["spec"]["token"].as_str() {
                    Some("unknown") => json!({"authenticated": false}),
                    Some(token) => {
                        json!({"authenticated": true, "user": {"username": token, "groups": ["g"]}})
                    }
                    None => {
                        let asked = &review["spec"]["nonResourceAttributes"];
                        assert_eq!(asked["verb"], "get");
                        assert_eq!(review["spec"]["groups"], json!(["g"]));
                        let reader = match asked["path"].as_str() {
                            Some("/metrics") => "reader",
                            Some("/state" | "/") => "viewer",
                            other => panic!("{other:?} is not served"),
                        };
                        json!({"allowed": user.as_deref() == Some(reader)})
                    }
                };
                let body = Body::from(review.to_string().into_bytes());
                Ok::<_, Infallible>(Response::builder().status(code).body(body).expect("an answer"))
            }
        });
        (Reviews::new(Client::new(service, "default")), asked)
    }

    async fn status(access: &Access, headers: &[(&str, &str)]) -> u16 {
        status_of("/metrics", access, headers).await
    }

    async fn status_of(path: &str, access: &Access, headers: &[(&str, &str)]) -> u16 {
        let mut request = http::Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (request, ()) = request.body(()).expect("a request").into_parts();
        let refusal = access.refusal(&request).await;
        refusal.map_or(200, |answer| answer.status().as_u16())
    }

    #[tokio::test(start_paused = true)]
    async fn the_api_server_decides_who_may_read_and_is_not_asked_again_at_once() {
        let (reviews, asked) = reviews();
        let access = Access::Reviewed(reviews);
        let requests = || asked.load(Ordering::Relaxed);
        for wrong in ["", "Bearer", "Bearer ", "Basic cmVhZGVy"] {
            assert_eq!(
                status(&access, &[("Authorization", wrong)]).await,
                401,
                "{wrong:?}"
            );
        }
        assert_eq!(requests(), 0, "without a token there is nothing to ask");
        for (token, code, reviews) in [
            ("reader", 200, 2),
            ("nobody", 403, 2),
            ("unknown", 401, 1),
            ("down", 500, 1),
        ] {
            let (bearer, before) = (format!("Bearer {token}"), requests());
            assert_eq!(
                status(&access, &[("Authorization", &bearer)]).await,
                code,
                "{token}"
            );
            assert_eq!(requests() - before, reviews, "{token}");
        }
        let before = requests();
        for (token, code) in [("reader", 200), ("nobody", 403), ("unknown", 401)] {
            assert_eq!(
                status(&access, &[("Authorization", &format!("bearer {token}"))]).await,
                code
            );
        }
        assert_eq!(requests(), before, "the answers are remembered");
        tokio::time::advance(REFUSED_FOR).await;
        for (token, reviews) in [("reader", 0), ("unknown", 1)] {
            let before = requests();
            status(&access, &[("Authorization", &format!("Bearer {token}"))]).await;
            assert_eq!(requests() - before, reviews, "{token}");
        }
        tokio::time::advance(ALLOWED_FOR).await;
        let before = requests();
        assert_eq!(status(&access, &[("Authorization", "Bearer reader")]).await, 200);
        assert_eq!(requests() - before, 2, "the right may have been taken away");
    }

    #[tokio::test]
    async fn each_path_needs_a_right_of_its_own() {
        let (reviews, _) = reviews();
        let access = Access::Reviewed(reviews);
        for (path, token, code) in [
            ("/metrics", "reader", 200),
            ("/state", "reader", 403),
            ("/", "reader", 403),
            ("/state", "viewer", 200),
            ("/state?kind=Moose&state=Roam", "viewer", 200),
            ("/", "viewer", 200),
            ("/metrics", "viewer", 403),
            ("/state", "unknown", 401),
        ] {
            let bearer = format!("Bearer {token}");
            let status = status_of(path, &access, &[("Authorization", &bearer)]).await;
            assert_eq!(status, code, "{path} {token}");
        }
        let from_here = [("Host", "localhost:8443"), ("Origin", "http://localhost:8443")];
        for path in ["/state", "/"] {
            assert_eq!(status_of(path, &access, &from_here).await, 401, "{path}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn wrong_tokens_do_not_fill_the_memory_nor_displace_right_ones() {
        let (reviews, _) = reviews();
        let key = |token: String| (token, "/metrics".to_owned());
        reviews.remember(key("reader".to_owned()), Verdict::Allowed);
        for number in 0..3 * ANSWERS {
            reviews.remember(key(number.to_string()), Verdict::Unauthorized);
        }
        assert_eq!(reviews.remembered.lock().expect("a lock").len(), ANSWERS);
        let reader = key("reader".to_owned());
        assert_eq!(reviews.remembered(&reader), Some(Verdict::Allowed));
    }

    #[tokio::test]
    async fn over_loopback_no_website_may_ask() {
        for (headers, code) in [
            (&[("Host", "localhost:8080")][..], 200),
            (&[("Host", "127.0.0.1:8080")], 200),
            (&[("Host", "[::1]:8080")], 200),
            (
                &[("Host", "localhost:8080"), ("Origin", "http://localhost:8080")],
                200,
            ),
            (
                &[("Host", "localhost:8080"), ("Origin", "http://localhost:9090")],
                403,
            ),
            (
                &[("Host", "localhost:8080"), ("Origin", "https://example.com")],
                403,
            ),
            (&[("Host", "localhost:8080"), ("Origin", "null")], 403),
            (
                &[("Host", "localhost:8080"), ("Sec-Fetch-Site", "same-origin")],
                200,
            ),
            (&[("Host", "localhost:8080"), ("Sec-Fetch-Site", "none")], 200),
            (
                &[("Host", "localhost:8080"), ("Sec-Fetch-Site", "cross-site")],
                403,
            ),
            (
                &[("Host", "localhost:8080"), ("Sec-Fetch-Site", "same-site")],
                403,
            ),
            (
                &[
                    ("Host", "localhost:8080"),
                    ("Sec-Fetch-Site", "cross-site"),
                    ("Sec-Fetch-Dest", "document"),
                ],
                200,
            ),
            (
                &[
                    ("Host", "localhost:8080"),
                    ("Sec-Fetch-Site", "cross-site"),
                    ("Sec-Fetch-Dest", "iframe"),
                ],
                403,
            ),
            (&[("Host", "rebound.example.com:8080")], 403),
            (&[("Host", "localhost.example.com")], 403),
            (&[("Host", "127.0.0.1:8080.example.com")], 403),
            (&[("Host", "[::1]:8080")], 200),
            (&[], 403),
        ] {
            assert_eq!(status(&Access::Loopback, headers).await, code, "{headers:?}");
        }
    }
}
