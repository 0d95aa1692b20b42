//! Random types, each with a valid value.

use serde_json::{Map, Value, json};

use super::Size;
use super::leaves::{enumeration, free_form, int_or_string, integer, kubernetes, limited_string, number};
use super::names::{Names, text};
use super::rules::rules;
use crate::dice::Dice;

/// The shape of a type, as far as paths and rules depend on it.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    String,
    Enum,
    Boolean,
    Integer,
    Number,
    DateTime,
    Duration,
    List(Box<Drawn>),
    Map(Box<Drawn>),
    Object(Vec<(String, Drawn)>),
    /// Anything else.
    Other,
}

/// A type in the notation of descriptions.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// A phrase, or a mapping.
    pub node: Value,
    pub shape: Shape,
    /// A valid value of the type; `None` if none is known.
    pub value: Option<Value>,
    /// Whether a field of the type may be missing.
    pub may_be_absent: bool,
    pub nullable: bool,
    /// Whether the number of values is bounded, so that a rule may iterate over them.
    pub bounded: bool,
}

/// The context of a type.
#[derive(Clone, Copy)]
pub struct Place {
    /// The maximum number of nested levels of lists, maps and objects.
    pub depth: usize,
    /// The maximum number of values of the type in one object; 0 if it is unbounded.
    pub count: usize,
    /// Whether the type is of a field, which may be optional and have a default.
    pub is_field: bool,
    /// Whether rules may compare the value with the former one.
    pub has_former: bool,
}

/// Draws types. Named types may be used in later types.
pub struct Schemas {
    pub size: Size,
    pub named: Vec<(String, Drawn)>,
}

impl Drawn {
    pub fn of(node: impl Into<Value>, shape: Shape, value: Option<Value>) -> Drawn {
        Drawn {
            node: node.into(),
            shape,
            value,
            may_be_absent: false,
            nullable: false,
            bounded: true,
        }
    }
}

/// The phrase as a mapping, for more keys.
pub fn as_mapping(node: &Value) -> Map<String, Value> {
    match node {
        Value::Object(mapping) => mapping.clone(),
        phrase => Map::from_iter([("type".to_owned(), phrase.clone())]),
    }
}

impl Schemas {
    pub fn new(size: Size) -> Schemas {
        Schemas {
            size,
            named: Vec::new(),
        }
    }

    /// Draws the types of `types`.
    pub fn named_types(&mut self, count: usize, names: &mut Names, dice: &mut Dice) {
        for _ in 0..count {
            let place = Place {
                depth: self.size.depth,
                count: 0,
                is_field: false,
                has_former: false,
            };
            let drawn = self.draw(place, dice);
            self.named.push((names.pascal(dice), drawn));
        }
    }

    /// The fields of an object.
    pub fn fields(&mut self, place: Place, plain: bool, dice: &mut Dice) -> Vec<(String, Drawn)> {
        let mut names = Names::default();
        // A list or a map cannot have a field of this name in generated Rust, and `.spec` has a key of this name.
        names.take("validations");
        self.further_fields(place, plain, &mut names, dice)
    }

    /// The same, if some names are taken.
    pub fn further_fields(
        &mut self,
        place: Place,
        plain: bool,
        names: &mut Names,
        dice: &mut Dice,
    ) -> Vec<(String, Drawn)> {
        let count = dice.below(self.size.fields + 1);
        let mut fields = Vec::new();
        for _ in 0..count {
            let drawn = self.draw(
                Place {
                    is_field: true,
                    ..place
                },
                dice,
            );
            let is_plain = plain && dice.one_in(2) || dice.one_in(3);
            let name = if is_plain {
                names.plain_field(dice)
            } else {
                names.field(dice)
            };
            let strange = dice
                .one_in(10)
                .then(|| strange(names, &drawn.node, dice))
                .flatten();
            fields.push(match strange {
                Some((name, node)) => (name, Drawn { node, ..drawn }),
                None => (name, drawn),
            });
        }
        fields
    }

    /// A type.
    pub fn draw(&mut self, place: Place, dice: &mut Dice) -> Drawn {
        let base = match dice.below(if place.depth == 0 { 15 } else { 24 }) {
            0..=1 => Drawn::of("string", Shape::String, Some(json!("text"))),
            2 => limited_string(dice),
            3 => enumeration(dice),
            4 => Drawn::of("boolean", Shape::Boolean, Some(json!(dice.one_in(2)))),
            5..=6 => integer(dice),
            7..=8 => number(dice),
            9 => Drawn::of(
                "date-time",
                Shape::DateTime,
                Some(json!(*dice.among(&[
                    "2030-01-01T00:00:00Z",
                    "9999-12-31T23:59:59Z",
                    "2030-01-01T00:00:00.123456789012Z",
                ]))),
            ),
            10 => Drawn::of(
                "duration",
                Shape::Duration,
                Some(json!(*dice.among(&["1h30m", "0s", "750ms"]))),
            ),
            11 => Drawn::of(
                "quantity",
                Shape::Other,
                Some(dice.among(&[json!("500Mi"), json!("0.5"), json!(3)]).clone()),
            ),
            12 => int_or_string(dice),
            13 => free_form(dice),
            14 => self.by_name(dice),
            15..=16 => self.list(place, dice),
            17..=18 => self.map(place, dice),
            19 => kubernetes(dice),
            _ => self.object(place, dice),
        };
        self.decorate(base, place, dice)
    }

    /// A reference to a type of `types`.
    fn by_name(&self, dice: &mut Dice) -> Drawn {
        match dice.pick(&self.named) {
            Some((name, drawn)) => Drawn {
                node: json!(name),
                ..drawn.clone()
            },
            None => Drawn::of("any", Shape::Other, Some(json!({"a": [1, "b"]}))),
        }
    }

    fn inside(place: Place, most: Option<usize>) -> Place {
        Place {
            depth: place.depth - 1,
            count: most.map_or(0, |most| place.count * most),
            is_field: false,
            has_former: false,
        }
    }

    fn list(&mut self, place: Place, dice: &mut Dice) -> Drawn {
        let most = (!dice.one_in(3)).then(|| *dice.among(&[1, 3, 16]));
        let items = self.draw(Self::inside(place, most), dice);
        let mut node = Map::new();
        match items.node.as_str() {
            Some(phrase) if dice.one_in(2) => node.insert("type".into(), json!(format!("list of {phrase}"))),
            _ => node.insert("items".into(), items.node.clone()),
        };
        if dice.one_in(6) && node.contains_key("items") {
            node.insert("type".into(), json!("array"));
        }
        let mut count = dice.below(3).min(most.unwrap_or(2));
        let keys = map_keys(&items);
        let is_scalar = matches!(
            items.shape,
            Shape::String | Shape::Enum | Shape::Integer | Shape::Boolean | Shape::Number
        );
        if let Some(keys) = keys.filter(|_| dice.one_in(2)) {
            node.insert("x-kubernetes-list-type".into(), json!("map"));
            node.insert("x-kubernetes-list-map-keys".into(), json!(keys));
            count = count.min(1);
        } else if is_scalar && !items.nullable && dice.one_in(3) {
            node.insert("x-kubernetes-list-type".into(), json!("set"));
            count = count.min(1);
        } else if dice.one_in(8) {
            node.insert("x-kubernetes-list-type".into(), json!("atomic"));
        }
        if let Some(most) = most {
            node.insert("maxItems".into(), json!(most));
        }
        if dice.one_in(5) && items.value.is_some() {
            node.insert("minItems".into(), json!(count));
        }
        let value = if count == 0 {
            Some(json!([]))
        } else {
            items.value.clone().map(|item| json!(vec![item; count]))
        };
        let node = if node.len() == 1 && node.contains_key("type") && dice.one_in(2) {
            node["type"].clone()
        } else {
            Value::Object(node)
        };
        Drawn {
            bounded: most.is_some() && items.bounded,
            ..Drawn::of(node, Shape::List(Box::new(items)), value)
        }
    }

    fn map(&mut self, place: Place, dice: &mut Dice) -> Drawn {
        let most = (!dice.one_in(3)).then(|| *dice.among(&[2, 9]));
        let values = self.draw(Self::inside(place, most), dice);
        let mut node = Map::new();
        match values.node.as_str() {
            Some(phrase) if dice.one_in(2) => node.insert("type".into(), json!(format!("map of {phrase}"))),
            Some("any") => node.insert("additionalProperties".into(), json!(true)),
            _ => node.insert("additionalProperties".into(), values.node.clone()),
        };
        let count = dice.below(3);
        if let Some(most) = most {
            node.insert("maxProperties".into(), json!(most));
        }
        if dice.one_in(5) && values.value.is_some() {
            node.insert("minProperties".into(), json!(count));
        }
        if dice.one_in(6) {
            node.insert(
                "x-kubernetes-map-type".into(),
                json!(*dice.among(&["atomic", "granular"])),
            );
        }
        let keys = ["a", "Key", "x-y.z/w"];
        let value = if count == 0 {
            Some(json!({}))
        } else {
            values.value.clone().map(|value| {
                keys[..count]
                    .iter()
                    .map(|key| ((*key).to_owned(), value.clone()))
                    .collect()
            })
        };
        let node = if node.len() == 1 && node.contains_key("type") && dice.one_in(2) {
            node["type"].clone()
        } else {
            Value::Object(node)
        };
        Drawn {
            bounded: most.is_some() && values.bounded,
            ..Drawn::of(node, Shape::Map(Box::new(values)), value)
        }
    }

    fn object(&mut self, place: Place, dice: &mut Dice) -> Drawn {
        let inner = Place {
            depth: place.depth - 1,
            is_field: true,
            ..place
        };
        let fields = self.fields(inner, dice.one_in(2), dice);
        let mut node = Map::new();
        if dice.one_in(4) {
            node.insert("type".into(), json!("object"));
        }
        let properties: Map<String, Value> = fields
            .iter()
            .map(|(name, field)| (name.clone(), field.node.clone()))
            .collect();
        node.insert("properties".into(), Value::Object(properties));
        if dice.one_in(8) {
            node.insert("x-kubernetes-preserve-unknown-fields".into(), json!(true));
        }
        if dice.one_in(8) {
            node.insert(
                "x-kubernetes-map-type".into(),
                json!(*dice.among(&["atomic", "granular"])),
            );
        }
        let value = object_value(&fields, dice);
        let required = fields.iter().filter(|(_, field)| !field.may_be_absent).count();
        if dice.one_in(8) {
            node.insert("maxProperties".into(), json!(fields.len() + dice.below(2)));
        }
        if dice.one_in(8) {
            node.insert("minProperties".into(), json!(required));
        }
        let bounded = fields.iter().all(|(_, field)| field.bounded);
        Drawn {
            bounded,
            ..Drawn::of(Value::Object(node), Shape::Object(fields), value)
        }
    }

    /// Adds keys that are allowed for any type.
    fn decorate(&mut self, base: Drawn, place: Place, dice: &mut Dice) -> Drawn {
        let mut drawn = base;
        let has_enum = has_enum(&drawn, &self.named);
        if place.is_field && dice.one_in(3) {
            drawn.may_be_absent = true;
            drawn.node = match drawn.node {
                Value::String(phrase) if !phrase.starts_with("optional") => {
                    json!(format!("optional {phrase}"))
                }
                node => {
                    let mut mapping = as_mapping(&node);
                    mapping.insert("optional".into(), json!(true));
                    Value::Object(mapping)
                }
            };
        }
        let mut more = Map::new();
        if dice.one_in(6) {
            more.insert("description".into(), json!(text(dice)));
        }
        // The keys of a list and the items of a set must not be null.
        if !has_enum && dice.one_in(10) {
            more.insert("nullable".into(), json!(true));
            drawn.nullable = true;
        }
        let is_named =
            name_in(&drawn.node).is_some_and(|name| self.named.iter().any(|(other, _)| other == name));
        if place.is_field && drawn.nullable && !is_named && dice.one_in(3) {
            more.insert("default".into(), Value::Null);
            drawn.may_be_absent = true;
        } else if let Some(value) = drawn.value.as_ref().filter(|_| place.is_field && dice.one_in(4)) {
            more.insert("default".into(), value.clone());
            drawn.may_be_absent = true;
        }
        if let Some(value) = drawn.value.as_ref().filter(|_| dice.one_in(12)) {
            more.insert("example".into(), value.clone());
        }
        let is_one_of_few = (1..=200).contains(&place.count);
        if is_one_of_few && !drawn.nullable && dice.one_in(5) {
            let rules = rules(&drawn, place.has_former, dice);
            if !rules.is_empty() {
                let key = if dice.one_in(3) {
                    "x-kubernetes-validations"
                } else {
                    "validations"
                };
                more.insert(key.into(), rules.into());
            }
        }
        if !more.is_empty() {
            let mut mapping = as_mapping(&drawn.node);
            mapping.extend(more);
            drawn.node = Value::Object(mapping);
        }
        drawn
    }
}

/// A value of an object with these fields: the required ones, and some of the others.
pub fn object_value(fields: &[(String, Drawn)], dice: &mut Dice) -> Option<Value> {
    let mut value = Map::new();
    for (name, field) in fields {
        match &field.value {
            Some(_) if field.may_be_absent && dice.one_in(2) => {}
            Some(inner) => {
                value.insert(name.clone(), inner.clone());
            }
            None if field.may_be_absent => {}
            None => return None,
        }
    }
    Some(Value::Object(value))
}

/// A name that is not valid in Rust, and the type with a Rust name. Transition rules do not support all such names.
fn strange(names: &mut Names, node: &Value, dice: &mut Dice) -> Option<(String, Value)> {
    let written = node.to_string();
    let changes = ["\"immutable\"", "\"onceSet\"", "\"transition\""];
    if changes.iter().any(|key| written.contains(key)) {
        return None;
    }
    let (name, in_rust) = names.strange_field(dice)?;
    let mut node = as_mapping(node);
    node.insert("rustName".into(), json!(in_rust));
    Some((name, Value::Object(node)))
}

/// The fields that can identify an item of a list.
fn map_keys(items: &Drawn) -> Option<Vec<String>> {
    let Shape::Object(fields) = &items.shape else {
        return None;
    };
    if items.nullable {
        return None;
    }
    let keys = fields.iter().filter(|(_, field)| {
        let is_scalar = matches!(
            field.shape,
            Shape::String | Shape::Enum | Shape::Integer | Shape::Boolean
        );
        is_scalar && !field.may_be_absent && !field.nullable
    });
    let keys: Vec<String> = keys.map(|(name, _)| name.clone()).take(2).collect();
    (!keys.is_empty()).then_some(keys)
}

/// The last word of the phrase of a type.
fn name_in(node: &Value) -> Option<&str> {
    let phrase = node.as_str().or_else(|| node.get("type")?.as_str());
    phrase?.split_whitespace().last()
}

/// Whether the type has an `enum`, directly or as a named type.
fn has_enum(drawn: &Drawn, named: &[(String, Drawn)]) -> bool {
    let own = drawn.node.get("enum").is_some();
    let name = name_in(&drawn.node);
    let is_collection = matches!(drawn.shape, Shape::List(_) | Shape::Map(_));
    let by_name = named.iter().find(|(other, _)| Some(other.as_str()) == name);
    own || !is_collection && by_name.is_some_and(|(_, of)| has_enum(of, named))
}
