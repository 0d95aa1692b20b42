//! The conversion webhook, by which the API server converts objects between versions of a kind.
use crate::{
    admission::Conversions,
    cluster::observability::metrics::Metrics,
    error::Result,
    versions::{Functions, Versions},
};
use prometheus_client::metrics::counter::Counter;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) use crate::versions::PATH;

/// The request: the fields of `ConversionReview` (apiextensions.k8s.io/v1) that the answer depends on.
#[derive(Deserialize)]
struct ConversionReview {
    request: ConversionRequest,
}

#[derive(Deserialize)]
struct ConversionRequest {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired: String,
    #[serde(default)]
    objects: Vec<Value>,
}

/// The answer. It is serialized directly, because a tree of JSON values would copy each object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConversionReviewResponse {
    api_version: &'static str,
    kind: &'static str,
    response: ConversionResponse,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConversionResponse {
    uid: String,
    result: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    converted_objects: Option<Vec<Value>>,
}

#[derive(Serialize)]
struct Outcome {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Converts the objects of some kinds. It makes no requests, and every object gets a result, because one
/// failed object fails a whole list.
#[derive(Default)]
pub(super) struct Converter {
    kinds: Vec<Kind>,
}

struct Kind {
    versions: Versions,
    functions: &'static Functions<'static>,
    /// Counts objects that could not be converted, or only with a fallback.
    failures: Counter,
}

impl Converter {
    /// Converts the objects of one more kind.
    ///
    /// # Errors
    ///
    /// If the versions are not valid JSON. Generated ones are valid.
    pub fn add(&mut self, conversions: Conversions, metrics: &Metrics) -> Result<()> {
        let versions: Versions = serde_json::from_str(conversions.text)?;
        self.kinds.push(Kind {
            failures: metrics.failed_conversions(&versions.group, &versions.kind),
            versions,
            functions: conversions.functions,
        });
        Ok(())
    }

    /// The answer to a review.
    ///
    /// # Errors
    ///
    /// If the body is not a review. Objects that cannot be converted are reported in the answer.
    pub fn answer(&self, review: &[u8]) -> Result<String> {
        let ConversionReview { request } = serde_json::from_slice(review)?;
        let objects = request.objects.into_iter();
        let converted: Result<Vec<Value>, String> = objects
            .map(|object| self.convert(object, &request.desired))
            .collect();
        let (status, message, converted_objects) = match converted {
            Ok(objects) => {
                self.report(&objects, &request.desired);
                ("Success", None, Some(objects))
            }
            Err(why) => ("Failure", Some(why), None),
        };
        let answer = ConversionReviewResponse {
            api_version: "apiextensions.k8s.io/v1",
            kind: "ConversionReview",
            response: ConversionResponse {
                uid: request.uid,
                result: Outcome { status, message },
                converted_objects,
            },
        };
        Ok(serde_json::to_string(&answer)?)
    }

    fn convert(&self, object: Value, desired: &str) -> Result<Value, String> {
        let kind = self.kind_of(&object, desired).ok_or_else(|| {
            let kind = object["kind"].as_str().unwrap_or("object");
            format!("this operator converts no {kind} to {desired}")
        })?;
        let converted = kind.versions.convert(object, desired, kind.functions);
        converted.inspect_err(|_| {
            kind.failures.inc();
        })
    }

    fn kind_of(&self, object: &Value, version: &str) -> Option<&Kind> {
        self.kinds
            .iter()
            .find(|kind| kind.versions.are_of(object, version))
    }

    /// Counts the objects with failed conversion functions, and logs them once for a list. The values are not
    /// logged, because they may be confidential.
    fn report(&self, objects: &[Value], desired: &str) {
        let failed = objects.iter().flat_map(|object| {
            let kind = self.kind_of(object, desired)?;
            let failed = kind.versions.failed(object);
            if !failed.is_empty() {
                kind.failures.inc();
            }
            Some(failed)
        });
        let failed: Vec<_> = failed.flat_map(BTreeMap::into_values).flatten().collect();
        if let Some((path, why)) = failed.first() {
            let count = failed.len();
            tracing::warn!(
                count,
                path,
                why,
                "replaced values that could not be converted to {desired} by fallbacks"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = r#"{
        "group": "shops.example.com", "kind": "Shop", "stored": "v1", "newest": {"name": "v1"},
        "older": [{"name": "v1beta1", "changes": [
            {"custom": {"at": ["spec", "size"], "function": "f", "newer": 1, "older": 1}}
        ]}]
    }"#;
    const FUNCTIONS: &Functions<'static> = &|_, _, size| match size {
        Some(Value::Number(_)) => Ok(size),
        _ => Err("no number".to_owned()),
    };

    #[test]
    fn objects_that_cannot_be_converted_are_counted() {
        let metrics = Metrics::new();
        let mut converter = Converter::default();
        let conversions = Conversions {
            text: TEXT,
            functions: FUNCTIONS,
        };
        converter.add(conversions, &metrics).expect("versions");
        let failures_after = |kind: &str, size: Value, desired: &str| {
            let object = json!({"apiVersion": "shops.example.com/v1beta1", "kind": kind, "metadata": {}, "spec": {"size": size}});
            let desired = format!("shops.example.com/{desired}");
            let request = json!({"uid": "1", "desiredAPIVersion": desired, "objects": [object, object]});
            let review = json!({"request": request}).to_string();
            converter.answer(review.as_bytes()).expect("an answer");
            let text = metrics.render().expect("text");
            let name = r#"krator_conversion_failures_total{group="shops.example.com",kind="Shop"} "#;
            let mut lines = text.lines();
            let failures = lines
                .find_map(|line| line.strip_prefix(name))
                .expect("the metric");
            failures.parse::<u32>().expect("a number")
        };
        assert_eq!(failures_after("Shop", json!(2), "v1"), 0);
        assert_eq!(failures_after("Shop", json!("two"), "v1"), 2, "a fallback each");
        // The first one that has no answer is the answer of the list.
        assert_eq!(failures_after("Shop", json!(2), "v9"), 3, "refused");
        assert_eq!(failures_after("Moose", json!(2), "v1"), 3, "no kind of ours");
    }
}
