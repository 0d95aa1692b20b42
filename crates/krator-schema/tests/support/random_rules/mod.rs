//! Random schemas with random CEL rules, both valid and invalid, for comparisons with the API server.
//!
//! Expressions are generated from the table of the server's own declarations, so that each function occurs. Types are
//! texts in the format of the table; `object:3` is the third object of the schema.

mod expressions;
mod overloads;

use overloads::{Overload, overloads};
use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

/// A type: a name and type arguments.
#[derive(Debug, Clone, PartialEq)]
struct Ty(String, Vec<Ty>);

/// A source of random numbers: called with a bound, it returns a number below it.
pub type Below<'a> = &'a mut dyn FnMut(usize) -> usize;

/// A random schema of a whole object, with some rules.
pub fn schema(below: Below<'_>) -> Json {
    let mut random = Random {
        below,
        overloads: overloads(),
        objects: Vec::new(),
        scope: Vec::new(),
        names: 0,
        rules: 0,
        wrong: 0,
    };
    let mut schema = random.object(3, true).0;
    let resource = [
        ("apiVersion", "string"),
        ("kind", "string"),
        ("metadata", "object"),
    ];
    for (name, of) in resource {
        if random.chance(2) {
            schema["properties"][name] = json!({"type": of});
        }
    }
    schema
}

struct Random<'a> {
    below: Below<'a>,
    overloads: Vec<Overload>,
    /// The fields of each object, by their names in CEL.
    objects: Vec<BTreeMap<String, Ty>>,
    /// The variables that an expression may use.
    scope: Vec<(String, Ty)>,
    names: usize,
    rules: usize,
    /// One in this many operands gets another type; 0 means none.
    wrong: usize,
}

fn ty(name: &str) -> Ty {
    Ty(name.to_string(), Vec::new())
}

fn of(name: &str, of: Ty) -> Ty {
    Ty(name.to_string(), vec![of])
}

fn map(value: Ty) -> Ty {
    Ty("map".to_string(), vec![ty("string"), value])
}

impl Random<'_> {
    fn number(&mut self, bound: usize) -> usize {
        (self.below)(bound.max(1))
    }

    /// True once in this many times.
    fn chance(&mut self, times: usize) -> bool {
        self.number(times) == 0
    }

    fn one<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.number(from.len())]
    }

    /// An object, the type of its values and possibly rules for them.
    fn object(&mut self, depth: usize, is_root: bool) -> (Json, Ty) {
        let mut properties = Map::new();
        let mut fields = BTreeMap::new();
        for _ in 0..1 + self.number(4) {
            let plain = [
                "a", "b", "spec", "status", "items", "name", "count", "enabled", "x1", "foo_bar",
            ];
            let odd = [
                "namespace",
                "in",
                "a-b",
                "x.y",
                "p/q",
                "__u",
                "9z",
                "true",
                "while",
                "é",
                "type",
                "size",
            ];
            let name = if self.chance(4) {
                self.one(&odd)
            } else {
                self.one(&plain)
            };
            let (schema, ty) = self.part(depth.saturating_sub(1));
            if let (Some(escaped), Some(ty)) = (escaped(name), ty) {
                fields.insert(escaped, ty);
            } else {
                fields.remove(name);
            }
            properties.insert(name.to_string(), schema);
        }
        let mut seen = fields.clone();
        if is_root {
            seen.insert("kind".to_string(), ty("string"));
            seen.insert("apiVersion".to_string(), ty("string"));
        }
        self.objects.push(seen);
        let this = ty(&format!("object:{}", self.objects.len() - 1));
        let mut schema = json!({"type": "object", "properties": properties});
        if self.chance(3) {
            let names: Vec<String> = properties
                .keys()
                .filter(|_| (self.below)(2) == 0)
                .cloned()
                .collect();
            schema["required"] = json!(names);
        }
        if self.chance(8) {
            schema["x-kubernetes-map-type"] = json!("atomic");
        }
        self.rules(&mut schema, &this);
        (schema, this)
    }

    /// A subschema, and the type of its values if they are visible in CEL.
    fn part(&mut self, depth: usize) -> (Json, Option<Ty>) {
        let kinds = if depth == 0 { 9 } else { 13 };
        let (mut schema, found) = match self.number(kinds) {
            0 | 1 => (json!({"type": "integer"}), ty("int")),
            2 => (json!({"type": "number"}), ty("double")),
            3 => (json!({"type": "boolean"}), ty("bool")),
            4..=6 => {
                let (format, found) = [
                    ("", "string"),
                    ("", "string"),
                    ("", "string"),
                    ("byte", "bytes"),
                    ("date", "Timestamp"),
                    ("date-time", "Timestamp"),
                    ("duration", "Duration"),
                    ("ipv4", "string"),
                ][self.number(8)];
                let mut schema = json!({"type": "string"});
                if !format.is_empty() {
                    schema["format"] = json!(format);
                }
                match self.number(4) {
                    0 | 1 => schema["maxLength"] = json!(1 + self.number(300)),
                    2 if format.is_empty() => schema["enum"] = json!(["one", "two", "three"]),
                    _ => {}
                }
                (schema, ty(found))
            }
            7 => (json!({"x-kubernetes-int-or-string": true}), ty("dyn")),
            8 if self.chance(3) => return (json!({"x-kubernetes-preserve-unknown-fields": true}), None),
            8 if self.chance(3) => {
                let schema = json!({"type": "object", "x-kubernetes-embedded-resource": true,
                    "x-kubernetes-preserve-unknown-fields": true});
                let fields = [("kind", "string"), ("apiVersion", "string")]
                    .map(|(name, of)| (name.to_string(), ty(of)));
                self.objects.push(fields.into());
                (schema, ty(&format!("object:{}", self.objects.len() - 1)))
            }
            8 => {
                let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
                self.objects.push(BTreeMap::new());
                (schema, ty(&format!("object:{}", self.objects.len() - 1)))
            }
            9 | 10 => {
                let (items, found) = self.part(depth - 1);
                let simple = found
                    .as_ref()
                    .is_some_and(|found| matches!(&*found.0, "int" | "string" | "bool"));
                let mut schema = json!({"type": "array", "items": items});
                if self.chance(2) {
                    schema["maxItems"] = json!(1 + self.number(200));
                }
                if simple && self.chance(4) {
                    schema["x-kubernetes-list-type"] = json!("set");
                }
                let Some(found) = found else {
                    return (schema, None);
                };
                (schema, of("list", found))
            }
            11 => {
                let (values, found) = self.part(depth - 1);
                let mut schema = json!({"type": "object", "additionalProperties": values});
                if self.chance(2) {
                    schema["maxProperties"] = json!(1 + self.number(200));
                }
                let Some(found) = found else {
                    return (schema, None);
                };
                (schema, map(found))
            }
            _ => {
                let (schema, found) = self.object(depth, false);
                return (schema, Some(found));
            }
        };
        if self.chance(12) {
            schema["nullable"] = json!(true);
        }
        if self.chance(4) {
            self.rules(&mut schema, &found);
        }
        (schema, Some(found))
    }

    fn rules(&mut self, schema: &mut Json, this: &Ty) {
        let mut rules = Vec::new();
        for _ in 0..self.number(3) {
            self.wrong = if self.chance(2) { 4 + self.number(12) } else { 0 };
            self.scope = vec![("self".to_string(), this.clone())];
            let optional = self.chance(12);
            if optional || self.chance(6) {
                let old = if optional {
                    of("optional_type", this.clone())
                } else {
                    this.clone()
                };
                self.scope.push(("oldSelf".to_string(), old));
            }
            let depth = 1 + self.number(4);
            let result = if self.wrong > 0 && self.chance(8) {
                self.any_type(1)
            } else {
                ty("bool")
            };
            let mut text = self.expression(&result, depth);
            if self.chance(12) {
                text = self.misspelt(&text);
            }
            self.rules += 1;
            let mut rule = json!({"rule": text, "message": format!("breaks rule {}", self.rules)});
            if optional {
                rule["optionalOldSelf"] = json!(true);
            }
            if self.chance(6) {
                rule["messageExpression"] = json!(self.expression(&ty("string"), 2));
            }
            if self.chance(10) {
                let paths = [
                    ".a",
                    ".spec",
                    ".spec.a",
                    "['a-b']",
                    ".a['x.y']",
                    "spec",
                    ".",
                    ".items[0]",
                    ".b.b",
                    "['a",
                ];
                rule["fieldPath"] = json!(self.one(&paths));
            }
            rules.push(rule);
        }
        if !rules.is_empty() {
            schema["x-kubernetes-validations"] = json!(rules);
        }
    }

    /// The text with a character removed, doubled or replaced.
    fn misspelt(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        let at = self.number(characters.len());
        let signs = [
            '(', ')', '.', '\'', '"', '\\', '?', '[', ']', '{', '-', '!', 'x', '1', ' ', ',', ':', '&', '\n',
            'é',
        ];
        match self.number(4) {
            0 => drop(characters.remove(at)),
            1 => characters.insert(at, characters[at]),
            2 => characters[at] = signs[self.number(signs.len())],
            _ => characters.insert(at, signs[self.number(signs.len())]),
        }
        characters.into_iter().collect()
    }

    fn any_type(&mut self, depth: usize) -> Ty {
        let simple = [
            "bool",
            "int",
            "uint",
            "double",
            "string",
            "bytes",
            "Timestamp",
            "Duration",
            "dyn",
            "null",
        ];
        match self.number(14) {
            0 if depth > 0 => of("list", self.any_type(depth - 1)),
            1 if depth > 0 => map(self.any_type(depth - 1)),
            2 if depth > 0 => of("optional_type", self.any_type(depth - 1)),
            3 if !self.objects.is_empty() => ty(&format!("object:{}", self.number(self.objects.len()))),
            4 => ty(self.one(&[
                "kubernetes.URL",
                "kubernetes.Quantity",
                "kubernetes.Semver",
                "net.IP",
                "net.CIDR",
            ])),
            _ => ty(self.one(&simple)),
        }
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        // There are few names, so that some variables shadow others.
        format!(
            "{}{}",
            self.one(&["x", "i", "v", "self", "k"]),
            if self.chance(3) { "" } else { "1" }
        )
    }
}

/// The escaped name of a field in CEL, for the names that are used here.
fn escaped(name: &str) -> Option<String> {
    Some(match name {
        "namespace" | "in" | "true" | "while" => format!("__{name}__"),
        "a-b" => "a__dash__b".to_string(),
        "x.y" => "x__dot__y".to_string(),
        "p/q" => "p__slash__q".to_string(),
        "__u" => "__underscores__u".to_string(),
        "9z" | "é" => return None,
        _ => name.to_string(),
    })
}
