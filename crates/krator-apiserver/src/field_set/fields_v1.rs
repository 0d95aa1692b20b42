//! Field sets as `fieldsV1` of managed fields, after `fieldpath/serialize.go` and `serialize-pe.go` of
//! structured-merge-diff.

use super::{FieldSet, PathElement};
use crate::values;
use serde_json::{Map, Value as Json, json};

impl FieldSet {
    /// Reads `fieldsV1`. Path elements of an unknown kind are ignored.
    ///
    /// # Errors
    /// A message about the malformed part.
    pub fn from_json(json: &Json) -> Result<Self, String> {
        read(json).map(|(set, _)| set.unwrap_or_default())
    }

    /// The set as `fieldsV1`.
    pub fn to_json(&self) -> Json {
        Json::Object(self.contents(false))
    }

    fn contents(&self, include_self: bool) -> Map<String, Json> {
        let mut out = Map::new();
        if include_self {
            out.insert(".".to_owned(), json!({}));
        }
        let children = self.children.iter().filter(|(_, below)| !below.is_empty());
        let mut entries: Vec<(&PathElement, Map<String, Json>)> = children
            .map(|(element, below)| (element, below.contents(self.members.contains(element))))
            .collect();
        let leaves = self.members.iter().filter(|member| self.below(member).is_none());
        entries.extend(leaves.map(|member| (member, Map::new())));
        entries.sort_by(|a, b| a.0.cmp(b.0));
        out.extend(
            entries
                .into_iter()
                .map(|(element, contents)| (write_element(element), Json::Object(contents))),
        );
        out
    }
}

/// The set below a path element, if there is one, and whether the element itself is a member.
fn read(json: &Json) -> Result<(Option<FieldSet>, bool), String> {
    let map = match json {
        Json::Object(map) => map,
        Json::Null => return Ok((None, true)),
        _ => return Err(format!("expected an object, got {json}")),
    };
    let mut set = None;
    let mut member = false;
    for (key, value) in map {
        if key == "." {
            member = true;
            continue;
        }
        let Some(element) = read_element(key)? else {
            continue;
        };
        let (below, is_member) = read(value)?;
        set.get_or_insert_with(FieldSet::default)
            .graft(element, is_member, below.unwrap_or_default());
    }
    let member = member || set.is_none();
    Ok((set, member))
}

fn read_element(text: &str) -> Result<Option<PathElement>, String> {
    let Some((kind, content)) = text.split_once(':').filter(|(kind, _)| kind.len() == 1) else {
        return Err(format!("missing colon: {text}"));
    };
    let json = || serde_json::from_str::<Json>(content).map_err(|error| error.to_string());
    let element = match kind {
        "f" => PathElement::Field(content.to_owned()),
        "v" => PathElement::Value(json()?),
        "k" => {
            let Json::Object(keys) = json()? else {
                return Err(format!("expected an object, got {content}"));
            };
            let mut keys: Vec<(String, Json)> = keys.into_iter().collect();
            keys.sort_by(|a, b| a.0.cmp(&b.0));
            PathElement::Key(keys)
        }
        "i" => PathElement::Index(
            content
                .parse()
                .map_err(|_| format!("not an index: {content:?}"))?,
        ),
        _ => return Ok(None),
    };
    Ok(Some(element))
}

fn write_element(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => format!("f:{name}"),
        PathElement::Key(keys) => {
            let keys: Map<String, Json> = keys.iter().cloned().collect();
            format!("k:{}", values::go_json(&Json::Object(keys)))
        }
        PathElement::Value(value) => format!("v:{}", values::go_json(value)),
        PathElement::Index(index) => format!("i:{index}"),
    }
}
