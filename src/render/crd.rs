//! The manifests of the CustomResourceDefinitions.

use serde_json::Value as Json;

use crate::crd::definition;
use crate::model::Description;
use crate::yaml;

/// The annotation with the version of krator that generated a definition.
pub(crate) const MADE_BY: &str = "krator/version";

/// The definition of each kind.
pub fn crd(description: &Description) -> Vec<Json> {
    let definitions = description.kinds.iter().map(|kind| {
        let mut definition = yaml::whole(definition(description, kind));
        definition["metadata"]["annotations"][MADE_BY] = crate::record::VERSION.into();
        definition
    });
    definitions.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::from;
    use serde_json::json;

    fn thing(spec: &str, more: &str) -> Json {
        let text = format!(
            "krator: 1\nresource: {{group: example.com, version: v1, kind: Thing}}\nspec: {spec}\n\
             machine: {{initial: Ready}}\nstates: {{Ready: {{kind: ready}}}}\n{more}\n"
        );
        let mut documents = crd(&from(&text));
        assert_eq!(documents.len(), 1);
        documents.remove(0)
    }

    fn spec(crd: &Json) -> &Json {
        &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    }

    #[test]
    fn a_field_is_required_unless_it_is_optional_or_has_a_default() {
        let types = "types: {Filled: {type: string, default: x}, Empty: {type: string}}";
        let crd = thing(
            "{a: string, b: optional string, c: {type: string, default: x}, d: Filled, e: Empty, f: optional Empty}",
            types,
        );
        assert_eq!(spec(&crd)["required"], json!(["a", "e"]));
        assert_eq!(
            spec(&crd)["properties"]["d"],
            json!({"type": "string", "default": "x"})
        );
    }

    #[test]
    fn keys_beside_a_named_type_override_those_of_the_type() {
        let types = "types: {Short: {type: string, maxLength: 9, description: short, \
                     validations: [{rule: self != 'a'}]}}";
        let crd = thing(
            "{a: {type: Short, maxLength: 3, validations: [{rule: self != 'b'}]}}",
            types,
        );
        let expected = json!({
            "type": "string",
            "maxLength": 3,
            "description": "short",
            "x-kubernetes-validations": [{"rule": "self != 'a'"}, {"rule": "self != 'b'"}],
        });
        assert_eq!(spec(&crd)["properties"]["a"], expected);
    }

    #[test]
    fn strings_that_look_like_other_values_stay_strings() {
        let words = json!(["on", "yes", "null", "1e3", "0o7", "12:30", ""]);
        let crd = thing(&json!({"a": {"enum": words, "default": "on"}}).to_string(), "");
        let expected = json!({"type": "string", "enum": words, "default": "on"});
        assert_eq!(spec(&crd)["properties"]["a"], expected);
    }

    #[test]
    fn a_column_of_the_description_replaces_the_default_column_of_the_same_name() {
        let columns = "columns: [{name: ready, path: .spec.a}, {name: Wide, path: .spec.a, priority: 1}]";
        let crd = thing("{a: boolean}", columns);
        let columns = crd["spec"]["versions"][0]["additionalPrinterColumns"]
            .as_array()
            .unwrap();
        let names: Vec<&str> = columns
            .iter()
            .map(|column| column["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["ready", "Wide", "State", "Message", "Age"]);
        assert_eq!(
            columns[1],
            json!({"name": "Wide", "type": "boolean", "jsonPath": ".spec.a", "priority": 1})
        );
    }

    #[test]
    fn validations_are_part_of_the_spec_and_a_new_status_has_no_observed_generation() {
        let crd = thing(
            "{a: string, validations: [{rule: self.a != '', message: no}]}",
            "status: {b: string}",
        );
        assert_eq!(
            spec(&crd)["x-kubernetes-validations"],
            json!([{"rule": "self.a != ''", "message": "no"}])
        );
        let root = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        assert_eq!(root["required"], json!(["spec"]));
        let status = &root["properties"]["status"];
        assert_eq!(status["default"], json!({"observedGeneration": -1}));
        assert_eq!(status["required"], Json::Null);
        assert_eq!(status["properties"]["b"], json!({"type": "string"}));
    }
}
