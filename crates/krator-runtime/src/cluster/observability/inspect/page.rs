//! The page that shows `/state`: one document that loads nothing else and runs no other script.
//!
//! Texts of objects reach it as JSON only, and its script never makes HTML of them.
use crate::cluster::process::serve;
use http::{HeaderMap, HeaderValue, Response, header};
use k8s_openapi::ByteString;
use tokio_rustls::rustls::{SupportedCipherSuite, crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256};

const HTML: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("layout.js"),
    include_str!("graph.js"),
    include_str!("panel.js"),
    include_str!("page.js")
);

/// The page, and the policy that its browser enforces.
pub(in crate::cluster) struct Page {
    document: String,
    policy: HeaderValue,
}

impl Page {
    pub fn new() -> Self {
        Self::of(STYLE, SCRIPT)
    }

    /// The page with more style and script.
    #[cfg(feature = "dev")]
    pub fn with(style: &str, script: &str) -> Self {
        Self::of(&[STYLE, style].concat(), &[SCRIPT, script].concat())
    }

    fn of(style: &str, script: &str) -> Self {
        let document = HTML.replace("{{style}}", style).replace("{{script}}", script);
        let policy = format!(
            "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
            source(script),
            source(style)
        );
        Self {
            document,
            // Base64 is ASCII, so this never fails; without a policy of its own the page would be inert.
            policy: HeaderValue::try_from(policy)
                .unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'")),
        }
    }

    pub fn respond(&self) -> Response<String> {
        let mut answer = serve::answer("text/html; charset=utf-8", self.document.clone());
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, self.policy.clone());
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        // For browsers that do not know `frame-ancestors`.
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
        protect(headers);
        answer
    }
}

/// The response is not stored, sniffed for another type, or embedded in another site.
pub(in crate::cluster) fn protect(headers: &mut HeaderMap) {
    let mut set = |name: &'static str, value| headers.insert(name, HeaderValue::from_static(value));
    set("cache-control", "no-store");
    set("x-content-type-options", "nosniff");
    set("cross-origin-resource-policy", "same-origin");
    set("cross-origin-opener-policy", "same-origin");
}

/// The name of an inline text in a policy: its SHA-256. rustls has one, so no crate is needed for that.
fn source(text: &str) -> String {
    let SupportedCipherSuite::Tls13(suite) = TLS13_AES_128_GCM_SHA256 else {
        return "'none'".to_owned();
    };
    let hash = suite.common.hash_provider.hash(text.as_bytes());
    // As JSON it is a string of base64.
    let base64 = serde_json::to_string(&ByteString(hash.as_ref().to_vec())).unwrap_or_default();
    format!("'sha256-{}'", base64.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each page that an operator of this build may serve: the page, its style and its script.
    fn pages() -> Vec<(Page, String, String)> {
        vec![
            (Page::new(), STYLE.to_owned(), SCRIPT.to_owned()),
            #[cfg(feature = "dev")]
            {
                use crate::cluster::dev::{CONTROLS_SCRIPT, CONTROLS_STYLE};
                let (style, script) = (
                    [STYLE, CONTROLS_STYLE].concat(),
                    [SCRIPT, CONTROLS_SCRIPT].concat(),
                );
                (Page::with(CONTROLS_STYLE, CONTROLS_SCRIPT), style, script)
            },
        ]
    }

    #[test]
    fn the_page_runs_its_own_script_only_and_loads_nothing() {
        for (page, style, script) in pages() {
            assert_closed(&page, &style, &script);
        }
    }

    fn assert_closed(page: &Page, style: &str, script: &str) {
        let answer = page.respond();
        let header = |name: &str| {
            let value = answer.headers().get(name).expect(name);
            value.to_str().expect("ASCII").to_owned()
        };
        let policy = header("content-security-policy");
        for part in [
            "default-src 'none'; script-src 'sha256-",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        // The SHA-256 of an empty text.
        assert_eq!(
            source(""),
            "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
        );
        assert_eq!(header("cache-control"), "no-store");
        assert_eq!(header("x-content-type-options"), "nosniff");
        let document = answer.body();
        for (tag, text) in [("style", style), ("script", script)] {
            assert!(
                document.contains(&format!("<{tag}>{text}</{tag}>")),
                "{tag} is what is hashed"
            );
            assert_eq!(
                document.matches(&format!("</{tag}")).count(),
                1,
                "{tag} ends once"
            );
        }
        assert!(!document.contains("{{"), "everything is filled in");
        for outside in [" src=", "url(", "@import", "import(", "https:"] {
            assert!(!document.contains(outside), "{outside}");
        }
    }

    #[test]
    fn the_script_makes_no_html_of_texts() {
        for sink in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "DOMParser",
            "createContextualFragment",
            "eval(",
            "Function(",
            "javascript:",
            "srcdoc",
        ] {
            for (_, _, script) in pages() {
                assert!(!script.contains(sink), "{sink}");
            }
        }
    }
}
