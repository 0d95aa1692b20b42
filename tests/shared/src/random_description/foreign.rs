//! Kinds of other groups, whose names the author cannot choose: they may have a meaning in Rust, in generated code or
//! in the description.

use super::Documents;
use crate::dice::Dice;
use serde_json::{Map, Value, json};

const NAMES: &[&str] = &[
    "Self",
    "String",
    "Option",
    "Vec",
    "Box",
    "Result",
    "Some",
    "None",
    "Ok",
    "Err",
    "Into",
    "From",
    "Iterator",
    "ToString",
    "Default",
    "Clone",
    "Serialize",
    "Deserialize",
    "Context",
    "State",
    "Transition",
    "Operator",
    "ObjectState",
    "SharedState",
    "Arc",
    "Object",
    "MachineStatus",
    "Certificate",
    "Type",
    "GRAPH",
];

impl Documents {
    /// Makes every other kind own some kinds whose names are taken.
    pub fn own_taken_names(&mut self, dice: &mut Dice) {
        let types: Vec<String> = self
            .0
            .iter()
            .flat_map(|document| keys(&document["types"]))
            .collect();
        for document in &mut self.0 {
            if dice.one_in(2) {
                continue;
            }
            let own = document["resource"]["kind"].as_str().unwrap_or("Thing");
            let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
            let ends = ["", "Spec", "Status", "Machine", "State", "Operator", "Condition"];
            names.extend(ends.map(|end| format!("{own}{end}")));
            // Other names would not be valid names of kinds.
            let fields =
                keys(&document["spec"]).filter(|field| field.chars().all(|c| c.is_ascii_alphanumeric()));
            names
                .extend(fields.map(|field| format!("{own}Spec{}{}", field[..1].to_uppercase(), &field[1..])));
            names.extend(types.iter().cloned());
            let owned = (0..3).map(|at| json!(format!("example{}.net/v1.{}", at % 2, dice.among(&names))));
            let owned: Vec<Value> = owned.collect();
            let owns = document["owns"].take();
            let mut owns = owns.as_array().cloned().unwrap_or_default();
            for kind in owned {
                if !owns.contains(&kind) {
                    owns.push(kind);
                }
            }
            document["owns"] = owns.into();
        }
    }
}

fn keys(mapping: &Value) -> impl Iterator<Item = String> + use<> {
    let mapping: Map<String, Value> = mapping.as_object().cloned().unwrap_or_default();
    mapping.into_iter().map(|(key, _)| key)
}
