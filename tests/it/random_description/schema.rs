//! Random types, each with a value that it accepts.

use serde_json::{Map, Value, json};

use super::Size;
use super::names::{Names, text};
use super::rules::rules;
use crate::dice::Dice;

/// What a type is, as far as paths and rules have to know.
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

/// A type as a description writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// A phrase, or a mapping.
    pub node: Value,
    pub shape: Shape,
    /// A value that the type accepts; `None` where that is not known.
    pub value: Option<Value>,
    /// Whether a field of the type may be left out.
    pub may_be_absent: bool,
    pub nullable: bool,
    /// Whether the number of values is bounded, so that a rule may look at each of them.
    pub bounded: bool,
}

/// Where a type is drawn.
#[derive(Clone, Copy)]
pub struct Place {
    /// How many levels of lists, maps and objects may be below.
    pub depth: usize,
    /// How many values of the type there may be in one object; 0 where it is not bounded.
    pub count: usize,
    /// Whether the type is of a field, which may be optional and have a default.
    pub is_field: bool,
    /// Whether rules may compare the value with the former one.
    pub has_former: bool,
}

/// Draws types. Named types may be used in each later one.
pub struct Schemas {
    pub size: Size,
    pub named: Vec<(String, Drawn)>,
}

const PATTERNS: &[(&str, &str)] = &[
    ("^[a-z]+$", "moose"),
    ("^[A-Z]{2}[0-9]+$", "AB12"),
    (r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$", "aa:bb:cc:dd:ee:ff"),
    (r"^(([0-9]+(s|m|h))+|Never)$", "1h30m"),
    (r"^[^/]+$", "name"),
    (r"^v[0-9]+(alpha|beta)?$", "v1beta"),
    (r"^\d{4}-\d{2}$", "2030-01"),
    (r"^(?i)true|false$", "true"),
    (r"^\w+([.-]\w+)*$", "a.b-c"),
    (r"^$|^x{2}$", "xx"),
    (r"^.*$", "any"),
    (r"\S", "x"),
];

/// Formats of strings that the API server checks, each with a value; the last two it does not know.
const FORMATS: &[(&str, &str)] = &[
    ("byte", "a3JhdG9y"),
    ("cidr", "192.0.2.0/24"),
    ("date", "2030-01-01"),
    ("date-time", "2030-01-01T00:00:00Z"),
    ("duration", "1h"),
    ("email", "name@example.com"),
    ("hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("mac", "00:00:5e:00:53:01"),
    ("uri", "https://example.com"),
    ("hexcolor", "#ffffff"),
    ("uuid", "123e4567-e89b-42d3-a456-426614174000"),
    ("isbn", "0321751043"),
    ("password", "secret"),
    ("k8s-short-name", "moose"),
];

/// Values of an `enum`. Several become the same name in Rust.
const WORDS: &[&str] = &[
    "female",
    "male",
    "raw",
    "RAW",
    "Raw",
    "r-a-w",
    "live-iso",
    "liveIso",
    "LiveIso",
    "",
    " ",
    "!",
    "?",
    "12:30",
    "self",
    "Self",
    "super",
    "crate",
    "type",
    "None",
    "Some",
    "Ok",
    "Err",
    "Default",
    "Clone",
    "true",
    "false",
    "null",
    "~",
    "on",
    "yes",
    "1",
    "01",
    "1e3",
    "0o7",
    "-1",
    "a b",
    "a.b",
    "a/b",
    "Empty",
    "Other",
    "V1",
    "SelfValue",
    "Raw2",
    "Always",
    "Never",
    "IfNotPresent",
    "\"",
    "\\",
    "'",
    "ünïcode",
    "ﬁ",
    "字",
];

/// Types of Kubernetes that are small, each with a value, which is `null` where none is known to be accepted.
pub const KUBERNETES: &[(&str, &str)] = &[
    ("core/v1.LocalObjectReference", r#"{"name":"a"}"#),
    ("core/v1.Toleration", r#"{"key":"a","operator":"Exists"}"#),
    ("core/v1.Taint", r#"{"effect":"NoSchedule","key":"a"}"#),
    ("core/v1.ResourceRequirements", r#"{"limits":{"cpu":"1"}}"#),
    ("core/v1.SecretKeySelector", r#"{"key":"a","name":"b"}"#),
    ("core/v1.EnvVar", r#"{"name":"A"}"#),
    ("core/v1.ObjectReference", "{}"),
    ("core/v1.HTTPGetAction", r#"{"port":80}"#),
    ("core/v1.ServicePort", r#"{"port":80}"#),
    ("core/v1.NodeSelectorTerm", "{}"),
    ("core/v1.SecurityContext", "{}"),
    ("meta/v1.LabelSelector", r#"{"matchLabels":{"a":"b"}}"#),
    ("meta/v1.ObjectMeta", "null"),
    ("meta/v1.Condition", "null"),
    ("meta/v1.Time", "null"),
    ("meta/v1.MicroTime", "null"),
    ("meta/v1.OwnerReference", "null"),
    ("rbac.authorization.k8s.io/v1.PolicyRule", r#"{"verbs":["get"]}"#),
    ("apps/v1.DeploymentStrategy", r#"{"type":"Recreate"}"#),
    ("batch/v1.PodFailurePolicy", r#"{"rules":[]}"#),
    ("networking.k8s.io/v1.IngressBackend", "{}"),
    ("core/v1.ConfigMap", "null"),
];

impl Drawn {
    fn of(node: impl Into<Value>, shape: Shape, value: Option<Value>) -> Drawn {
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
fn as_mapping(node: &Value) -> Map<String, Value> {
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
        // A list or a map cannot have these fields in generated Rust, and `.spec` has a key of this name.
        names.take("validations");
        self.further_fields(place, plain, &mut names, dice)
    }

    /// The same, where some names are taken.
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
            fields.push((name, drawn));
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
            9 => Drawn::of("date-time", Shape::DateTime, Some(json!("2030-01-01T00:00:00Z"))),
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

    /// A type of `types`.
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

    /// What may be said beside any type.
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
        // The keys of a list have to be there, and the items of a set too.
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

/// A value of an object of these fields: those that have to be there, and some of the others.
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

/// Whether the type has an `enum`, of its own or by its name.
fn has_enum(drawn: &Drawn, named: &[(String, Drawn)]) -> bool {
    let own = drawn.node.get("enum").is_some();
    let name = name_in(&drawn.node);
    let is_collection = matches!(drawn.shape, Shape::List(_) | Shape::Map(_));
    let by_name = named.iter().find(|(other, _)| Some(other.as_str()) == name);
    own || !is_collection && by_name.is_some_and(|(_, of)| has_enum(of, named))
}

fn limited_string(dice: &mut Dice) -> Drawn {
    match dice.below(3) {
        0 => {
            let least = dice.below(4);
            let value = "text";
            let node = json!({"type": "string", "minLength": least, "maxLength": 4 + dice.below(40)});
            Drawn::of(node, Shape::String, Some(json!(value)))
        }
        1 => {
            let (pattern, value) = *dice.among(PATTERNS);
            let mut node = json!({"type": "string", "pattern": pattern});
            if dice.one_in(3) {
                node["maxLength"] = json!(value.len() + 20);
            }
            Drawn::of(node, Shape::String, Some(json!(value)))
        }
        _ => {
            let (format, value) = *dice.among(FORMATS);
            // CEL has types of its own for some formats.
            let shape = match format {
                "date-time" => Shape::DateTime,
                "byte" | "date" | "duration" => Shape::Other,
                _ => Shape::String,
            };
            Drawn::of(
                json!({"type": "string", "format": format}),
                shape,
                Some(json!(value)),
            )
        }
    }
}

fn enumeration(dice: &mut Dice) -> Drawn {
    let mut words: Vec<&str> = Vec::new();
    for _ in 0..1 + dice.below(8) {
        let word = if dice.one_in(8) {
            *dice.among(crate::injection::VECTORS)
        } else {
            *dice.among(WORDS)
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let value = *dice.among(&words);
    let mut node = json!({"enum": words});
    if dice.one_in(3) {
        node["type"] = json!("string");
    }
    Drawn::of(node, Shape::Enum, Some(json!(value)))
}

fn integer(dice: &mut Dice) -> Drawn {
    let kind = *dice.among(&["integer", "int32"]);
    let most: i64 = if kind == "int32" {
        i64::from(i32::MAX)
    } else {
        i64::MAX
    };
    let (node, value) = match dice.below(7) {
        0 => (json!({"type": kind, "minimum": 0}), 3),
        1 => (
            json!({"type": kind, "minimum": -5, "maximum": 5, "exclusiveMaximum": true}),
            -5,
        ),
        2 => (
            json!({"type": kind, "minimum": 0, "exclusiveMinimum": true, "multipleOf": 5}),
            5,
        ),
        3 => (json!({"type": kind, "enum": [1, 2, 4]}), 2),
        4 => (json!({"type": kind, "maximum": 1e6}), 0),
        5 => (
            json!({"type": "integer", "format": *dice.among(&["int32", "int64"])}),
            7,
        ),
        _ => (json!(kind), *dice.among(&[0, -1, 42, most / 3])),
    };
    Drawn::of(node, Shape::Integer, Some(json!(value)))
}

fn number(dice: &mut Dice) -> Drawn {
    let (node, value) = match dice.below(6) {
        0 => (json!({"type": "number", "minimum": 0}), json!(0.5)),
        1 => (
            json!({"type": "number", "minimum": -1.5, "maximum": 2.5, "exclusiveMinimum": true}),
            json!(2),
        ),
        2 => (json!({"type": "number", "multipleOf": 0.5}), json!(1.5)),
        3 => (json!({"type": "number", "enum": [0.5, 1, 2.25]}), json!(1)),
        4 => (
            json!({"type": "number", "format": *dice.among(&["double", "float"])}),
            json!(0.25),
        ),
        _ => (
            json!("number"),
            dice.among(&[json!(300), json!(-0.5), json!(1e30), json!(0)])
                .clone(),
        ),
    };
    Drawn::of(node, Shape::Number, Some(value))
}

fn int_or_string(dice: &mut Dice) -> Drawn {
    let node = if dice.one_in(3) {
        json!({"x-kubernetes-int-or-string": true})
    } else {
        json!("int-or-string")
    };
    Drawn::of(
        node,
        Shape::Other,
        Some(dice.among(&[json!("25%"), json!(3)]).clone()),
    )
}

fn free_form(dice: &mut Dice) -> Drawn {
    match dice.below(5) {
        0 => Drawn::of(
            "any",
            Shape::Other,
            Some(
                dice.among(&[json!({}), json!(1), json!("a"), json!([true])])
                    .clone(),
            ),
        ),
        1 => {
            let node = json!({"type": "object", "x-kubernetes-embedded-resource": true});
            let value = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
            Drawn::of(node, Shape::Other, Some(value))
        }
        2 => {
            let node = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            Drawn::of(node, Shape::Other, Some(json!({"a": {"b": 1}})))
        }
        3 => Drawn::of(
            json!({"x-kubernetes-preserve-unknown-fields": true}),
            Shape::Other,
            Some(json!({"a": 1})),
        ),
        _ => Drawn::of("object", Shape::Other, Some(json!({"a": 1}))),
    }
}

fn kubernetes(dice: &mut Dice) -> Drawn {
    if dice.one_in(12) {
        let is_usable = |reference: &&str| {
            // These expand to thousands of values, and those of the definitions of resources are recursive.
            ![
                "Pod",
                "Deployment",
                "Set",
                "Job",
                "Replica",
                "JSON",
                "CustomResource",
                "List",
            ]
            .iter()
            .any(|word| reference.contains(word))
        };
        let usable: Vec<&str> = krator::model::kubernetes::references()
            .filter(is_usable)
            .collect();
        let reference = dice.among(&usable).to_string();
        return Drawn::of(reference, Shape::Other, None);
    }
    let (reference, value) = *dice.among(KUBERNETES);
    let value: Value = serde_json::from_str(value).expect("JSON");
    Drawn::of(reference, Shape::Other, (!value.is_null()).then_some(value))
}
