//! Random resources: their names, and the fields that the API server prints and selects by.

use serde_json::{Value, json};

use super::names::text;
use super::rules;
use super::schema::{Drawn, Shape};
use crate::dice::Dice;

/// A field by its path from the top of the object.
pub struct FieldAt {
    pub path: String,
    pub shape: Shape,
    /// Whether each step of the path is a word, as some keys of a CRD require.
    is_plain: bool,
    pub is_in_list: bool,
}

/// The fields below a path that are not objects.
pub fn collect(
    path: &str,
    fields: &[(String, Drawn)],
    is_plain: bool,
    is_in_list: bool,
    found: &mut Vec<FieldAt>,
) {
    // Paths support escapes only for dots.
    let is_written = |name: &str| {
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    for (name, field) in fields.iter().filter(|(name, _)| is_written(name)) {
        let is_plain = is_plain && rules::is_plain(name);
        below(format!("{path}.{name}"), field, is_plain, is_in_list, found);
    }
}

fn below(path: String, drawn: &Drawn, is_plain: bool, is_in_list: bool, found: &mut Vec<FieldAt>) {
    match &drawn.shape {
        Shape::Object(fields) => collect(&path, fields, is_plain, is_in_list, found),
        Shape::List(items) => below(format!("{path}[*]"), items, is_plain, true, found),
        shape => found.push(FieldAt {
            path,
            shape: shape.clone(),
            is_plain,
            is_in_list,
        }),
    }
}

pub fn resource(group: &str, name: &str, is_cluster: bool, found: &[FieldAt], dice: &mut Dice) -> Value {
    let mut resource = json!({"group": group, "version": "v1", "kind": name});
    if is_cluster || dice.one_in(6) {
        resource["scope"] = json!(if is_cluster { "Cluster" } else { "Namespaced" });
    }
    if dice.one_in(6) && name.len() < 50 {
        resource["rustName"] = json!(format!("{name}InRust"));
    }
    let lower = name.to_ascii_lowercase();
    if dice.one_in(4) {
        resource["plural"] = json!(format!("{lower}-all"));
    }
    if dice.one_in(4) {
        resource["singular"] = json!(format!("{lower}-one"));
        resource["name"] = json!({"pattern": "^[a-z]", "message": "Names begin with a letter."});
    }
    if dice.one_in(4) {
        resource["shortNames"] = json!([format!("{}x", &lower[..1]), format!("s-{lower}")]);
    }
    if dice.one_in(4) {
        resource["categories"] = json!(["animals", "all"]);
    }
    let of = |root: &str, wanted: fn(&Shape) -> bool| -> Vec<&str> {
        let fields = found.iter().filter(|field| field.is_plain && !field.is_in_list);
        let fields = fields.filter(|field| field.path.starts_with(root) && wanted(&field.shape));
        fields.map(|field| field.path.as_str()).collect()
    };
    let integer = |shape: &Shape| matches!(shape, Shape::Integer);
    if let (Some(spec), Some(status)) = (of(".spec", integer).first(), of(".status", integer).first())
        && dice.one_in(2)
    {
        resource["scale"] = json!({"spec": spec, "status": status});
        if let Some(selector) = of(".status", |shape| matches!(shape, Shape::String)).first() {
            resource["scale"]["selector"] = json!(selector);
        }
    }
    let mut selectable = of(".spec", |shape| {
        matches!(
            shape,
            Shape::String | Shape::Integer | Shape::Boolean | Shape::Enum
        )
    });
    selectable.truncate(1 + dice.below(8));
    if !selectable.is_empty() && dice.one_in(3) {
        resource["selectableFields"] = json!(selectable);
    }
    resource
}

pub fn columns(found: &[FieldAt], dice: &mut Dice) -> Value {
    let mut columns = vec![json!({"name": "Born", "path": ".metadata.creationTimestamp", "type": "date"})];
    for at in 0..dice.below(4) {
        let Some(field) = dice.pick(found).filter(|field| field.is_plain) else {
            continue;
        };
        let mut column = json!({"name": format!("Column {at}"), "path": field.path});
        match field.shape {
            Shape::Integer if dice.one_in(2) => column["type"] = json!("integer"),
            Shape::String if dice.one_in(2) => column["type"] = json!("string"),
            _ => {}
        }
        if dice.one_in(3) {
            column["priority"] = json!(1);
        }
        if dice.one_in(3) {
            column["description"] = json!(text(dice));
        }
        columns.push(column);
    }
    if dice.one_in(3) {
        let path = *dice.among(&[
            ".metadata.ownerReferences[0].name",
            ".metadata.labels['app']",
            "..name",
            ".kind",
        ]);
        columns.push(json!({"name": *dice.among(&["Größe (cm)", "N/A", "1st", "Uses %"]), "path": path}));
    }
    if dice.one_in(3) {
        columns.push(json!({"name": "Why", "path": ".status.conditions[?(@.type==\"Ready\")].reason"}));
    }
    columns.into()
}
