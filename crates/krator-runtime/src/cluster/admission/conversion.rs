//! Objects that the API server has converted from one version of a kind to another.
use crate::versions::{Functions, Versions};
use serde::Deserialize;
use serde_json::{Value, json};

/// Where the API server asks for conversions.
pub(super) const PATH: &str = "/convert";

/// What the API server sends: the fields of `ConversionReview` (apiextensions.k8s.io/v1) that an answer depends on.
#[derive(Deserialize)]
struct ConversionReview {
    request: ConversionRequest,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConversionRequest {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired: String,
    #[serde(default)]
    objects: Vec<Value>,
}

/// Converts the objects of these kinds.
pub(super) struct Converter {
    kinds: Vec<(Versions, Box<Functions<'static>>)>,
}

impl Converter {
    /// The answer to a review.
    ///
    /// # Errors
    ///
    /// If it is no review. An object that cannot be converted is an answer.
    pub fn answer(&self, review: &[u8]) -> serde_json::Result<String> {
        let ConversionReview { request } = serde_json::from_slice(review)?;
        let objects = request.objects.into_iter();
        let converted: Result<Vec<Value>, String> =
            objects.map(|object| self.convert(object, &request.desired)).collect();
        let mut response = match converted {
            Ok(objects) => json!({"result": {"status": "Success"}, "convertedObjects": objects}),
            Err(why) => json!({"result": {"status": "Failure", "message": why}}),
        };
        response["uid"] = request.uid.into();
        Ok(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response,
        })
        .to_string())
    }

    fn convert(&self, object: Value, desired: &str) -> Result<Value, String> {
        let (kind, version) = (object["kind"].as_str(), object["apiVersion"].as_str());
        let group = version.and_then(|version| version.split_once('/')).map(|(group, _)| group);
        let is_of = |versions: &Versions| kind == Some(&*versions.kind) && group == Some(&*versions.group);
        let found = self.kinds.iter().find(|(versions, _)| is_of(versions));
        let what = format!("{} of {} to {desired}", kind.unwrap_or("object"), version.unwrap_or("no version"));
        let converted = found.and_then(|(versions, functions)| versions.convert(object, desired, functions));
        converted.ok_or_else(|| format!("this operator cannot convert a {what}"))
    }
}
