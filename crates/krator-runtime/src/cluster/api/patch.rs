//! Patches for server-side apply, as text that the API server reads cheaply.
use kube::{
    Error,
    api::{Patch, PatchParams},
};
use serde::Serialize;
use serde_json::{Serializer, ser::PrettyFormatter, value::RawValue};

/// A patch for server-side apply with each value on a line of its own.
///
/// The API server parses such patches as YAML, where a `{` may begin a mapping that is a key. Its parser
/// therefore looks for a colon behind the `}`, for up to 1,024 characters, and buffers the tokens on the way.
/// A key cannot span lines, so a line break ends that search: on a single line, the status of an object took
/// a fifth of all the memory that the server allocates for a write.
///
/// # Errors
///
/// If `patch` cannot be serialized.
pub(in crate::cluster) fn apply(patch: &impl Serialize) -> Result<Patch<Box<RawValue>>, Error> {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b""));
    let text = patch
        .serialize(&mut serializer)
        .and_then(|()| serde_json::from_slice(&text));
    text.map(Patch::Apply).map_err(Error::SerdeError)
}

/// The parameters of a server-side apply with this field manager.
pub(in crate::cluster) fn params(manager: &str) -> PatchParams {
    PatchParams {
        field_manager: Some(manager.to_owned()),
        ..PatchParams::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn no_line_goes_on_behind_the_beginning_of_a_mapping_or_a_list() {
        let status = json!({
            "kind": "Moose",
            "metadata": {"resourceVersion": "7"},
            "status": {"conditions": [{"message": "a\nb {", "type": "Ready"}, {"type": "Stalled"}]},
        });

        let Ok(Patch::Apply(text)) = apply(&status) else {
            panic!("values can be serialized")
        };

        let text = text.get();
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), status);
        assert_eq!(
            text,
            "{\n\"kind\": \"Moose\",\n\"metadata\": {\n\"resourceVersion\": \"7\"\n},\n\"status\": {\n\"conditions\": [\n\
             {\n\"message\": \"a\\nb {\",\n\"type\": \"Ready\"\n},\n{\n\"type\": \"Stalled\"\n}\n]\n}\n}"
        );
    }
}
