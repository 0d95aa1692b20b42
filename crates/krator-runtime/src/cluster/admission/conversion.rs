//! Objects that the API server has converted from one version of a kind to another.
use crate::{
    admission::Conversions,
    error::Result,
    versions::{Functions, Versions},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) use crate::versions::PATH;

/// What the API server sends: the fields of `ConversionReview` (apiextensions.k8s.io/v1) that an answer depends on.
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

/// What the API server gets. It is written as it is, because a tree of it would have a copy of each object.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
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

/// Converts the objects of some kinds. It asks nobody, and any object has an answer: a list has none if one of its objects
/// has none.
#[derive(Default)]
pub(super) struct Converter {
    kinds: Vec<(Versions, &'static Functions<'static>)>,
}

impl Converter {
    /// Converts the objects of one more kind.
    ///
    /// # Errors
    ///
    /// If its versions are no JSON of their form. Generated ones are.
    pub fn add(&mut self, conversions: Conversions) -> Result<()> {
        let versions = serde_json::from_str(conversions.text)?;
        self.kinds.push((versions, conversions.functions));
        Ok(())
    }

    /// The answer to a review.
    ///
    /// # Errors
    ///
    /// If it is no review. Objects that cannot be converted are an answer.
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
        let answer = Answer {
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
        let (versions, functions) = self.kind_of(&object, desired).ok_or_else(|| {
            let kind = object["kind"].as_str().unwrap_or("object");
            format!("this operator converts no {kind} to {desired}")
        })?;
        versions.convert(object, desired, functions)
    }

    fn kind_of(&self, object: &Value, version: &str) -> Option<&(Versions, &'static Functions<'static>)> {
        self.kinds
            .iter()
            .find(|(versions, _)| versions.are_of(object, version))
    }

    /// Says in the log that functions of the author have failed, once for a list. The values are nobody's business there.
    fn report(&self, objects: &[Value], desired: &str) {
        let failed = objects.iter().flat_map(|object| {
            let (versions, _) = self.kind_of(object, desired)?;
            Some(versions.failed(object))
        });
        let failed: Vec<_> = failed.flat_map(BTreeMap::into_values).flatten().collect();
        if let Some((path, why)) = failed.first() {
            let count = failed.len();
            tracing::warn!(
                count,
                path,
                why,
                "values could not be converted to {desired}; fallbacks are in their place"
            );
        }
    }
}
