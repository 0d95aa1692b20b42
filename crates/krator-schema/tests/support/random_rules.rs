//! Random schemas with random CEL rules, right and wrong ones, for comparisons with the API server.
//!
//! Expressions are made from the table of the server's own declarations, so that each function occurs. Types are texts
//! as the table writes them; `object:3` is the third object of the schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

/// A type: a name, and types that belong to it.
#[derive(Debug, Clone, PartialEq)]
struct Ty(String, Vec<Ty>);

struct Overload {
    name: String,
    receiver: bool,
    operands: Vec<Ty>,
    result: Ty,
}

/// A source of random numbers: called with a bound, it returns a number below it.
pub type Below<'a> = &'a mut dyn FnMut(usize) -> usize;

/// A schema of a whole object, at random, with some rules.
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
    /// The fields of each object, by the names that CEL has for them.
    objects: Vec<BTreeMap<String, Ty>>,
    /// Variables that an expression may use.
    scope: Vec<(String, Ty)>,
    names: usize,
    rules: usize,
    /// One in how many operands gets another type; 0 for none.
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

    /// True once in so many times.
    fn chance(&mut self, times: usize) -> bool {
        self.number(times) == 0
    }

    fn one<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.number(from.len())]
    }

    /// An object, the type of its values and perhaps rules about them.
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

    /// A part of a schema, and the type of its values, if CEL sees them.
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

    /// The text with a character lost, doubled or replaced.
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
        // Names are few, so that some hide others.
        format!(
            "{}{}",
            self.one(&["x", "i", "v", "self", "k"]),
            if self.chance(3) { "" } else { "1" }
        )
    }

    /// An expression of a type, if nothing goes wrong on purpose.
    fn expression(&mut self, want: &Ty, depth: usize) -> String {
        if self.wrong > 0 && self.chance(self.wrong) {
            let other = self.any_type(1);
            self.wrong = 0;
            return match self.number(6) {
                0 => self
                    .one(&[
                        "undeclared",
                        "Self",
                        "self.nothing",
                        "nothing(1)",
                        "self.nothing()",
                        "int{}",
                    ])
                    .to_string(),
                _ => self.expression(&other, depth),
            };
        }
        if let Some(path) = self.path(want)
            && !self.chance(4)
        {
            return path;
        }
        if depth == 0 {
            return self.literal(want);
        }
        let depth = depth - 1;
        match self.number(10) {
            0 => self.literal(want),
            1 => {
                let condition = self.expression(&ty("bool"), depth);
                let (yes, no) = (self.expression(want, depth), self.expression(want, depth));
                format!("({condition} ? {yes} : {no})")
            }
            2 | 3 => self.with_macro(want, depth),
            _ => self.function(want, depth),
        }
    }

    /// A way from a variable to a value of a type.
    fn path(&mut self, want: &Ty) -> Option<String> {
        let mut found = Vec::new();
        let mut reached: Vec<(String, Ty, usize)> = self
            .scope
            .iter()
            .map(|(name, of)| (name.clone(), of.clone(), 0))
            .collect();
        while let Some((text, at, steps)) = reached.pop() {
            if at == *want {
                found.push(text.clone());
            }
            if steps > 3 || found.len() > 40 {
                continue;
            }
            let index =
                at.0.strip_prefix("object:")
                    .and_then(|index| index.parse::<usize>().ok());
            let name = at.0.as_str();
            if let Some(index) = index {
                for (field, of_field) in &self.objects[index] {
                    reached.push((format!("{text}.{field}"), of_field.clone(), steps + 1));
                    reached.push((
                        format!("{text}.?{field}"),
                        of("optional_type", of_field.clone()),
                        steps + 2,
                    ));
                    if want.0 == "bool" {
                        found.push(format!("has({text}.{field})"));
                    }
                }
            } else if name == "list" {
                reached.push((format!("{text}[0]"), at.1[0].clone(), steps + 1));
                reached.push((
                    format!("{text}[?1]"),
                    of("optional_type", at.1[0].clone()),
                    steps + 2,
                ));
            } else if name == "map" {
                reached.push((format!("{text}['k']"), at.1[1].clone(), steps + 1));
                reached.push((format!("{text}.k"), at.1[1].clone(), steps + 2));
            } else if name == "optional_type" {
                reached.push((format!("{text}.value()"), at.1[0].clone(), steps + 1));
            }
        }
        found.sort();
        let at = self.number(found.len());
        found.get(at).cloned()
    }

    fn literal(&mut self, want: &Ty) -> String {
        let text = match &*want.0 {
            "bool" => self.one(&["true", "false"]),
            "int" => self.one(&[
                "0",
                "1",
                "42",
                "-7",
                "0x1F",
                "-9223372036854775808",
                "9223372036854775807",
            ]),
            "uint" => self.one(&["0u", "7u", "0xFFu"]),
            "double" => self.one(&["1.5", "-2.0e3", "0.0", ".5"]),
            "string" => self.one(&[
                "'a'",
                "\"b\"",
                "''",
                "'1'",
                "'a.b-c'",
                "r'\\d+'",
                "'it\\'s'",
                "'''x'''",
                "'[a-z]+'",
                "'é'",
                "'\\u00e9'",
                "'1h'",
                "'2020-01-01T00:00:00Z'",
                "'('",
                "'%s'",
                "'1.2.3'",
                "'10.0.0.1'",
                "'1Gi'",
            ]),
            "bytes" => self.one(&["b'a'", "b\"\\xff\"", "b''"]),
            "null" => "null",
            "Timestamp" => self.one(&[
                "timestamp('2020-01-01T00:00:00Z')",
                "timestamp(1)",
                "timestamp('2020')",
            ]),
            "Duration" => self.one(&[
                "duration('1h')",
                "duration('1.5s')",
                "duration('x')",
                "duration('3600s')",
            ]),
            "kubernetes.URL" => "url('https://example.com:80/a')",
            "kubernetes.Quantity" => "quantity('1Gi')",
            "kubernetes.Semver" => "semver('1.2.3')",
            "kubernetes.NamedFormat" => "format.dns1123Label()",
            "net.IP" => "ip('10.0.0.1')",
            "net.CIDR" => "cidr('10.0.0.0/8')",
            "type" => self.one(&["type(1)", "int", "string", "net.IP", "timestamp"]),
            "list" => {
                let count = self.number(3);
                let items: Vec<String> = (0..count).map(|_| self.expression(&want.1[0], 0)).collect();
                return format!("[{}]", items.join(", "));
            }
            "map" => {
                if self.chance(3) {
                    return "{}".to_string();
                }
                let (key, value) = (self.literal(&want.1[0]), self.expression(&want.1[1], 0));
                return format!("{{{key}: {value}}}");
            }
            "optional_type" if self.chance(3) => "optional.none()",
            "optional_type" => return format!("optional.of({})", self.expression(&want.1[0], 0)),
            _ => {
                let other = self.any_type(0);
                let inner = if other.0 == "dyn" || other.0.starts_with("object") {
                    "1".to_string()
                } else {
                    self.literal(&other)
                };
                return format!("dyn({inner})");
            }
        };
        text.to_string()
    }

    fn with_macro(&mut self, want: &Ty, depth: usize) -> String {
        let outer = self.scope.clone();
        let is_map = self.chance(3);
        let item = self.item_type();
        let range = if is_map {
            map(item.clone())
        } else {
            of("list", item.clone())
        };
        let over = self.expression(&range, depth.min(1));
        let (first, mut second) = (self.fresh(), self.fresh());
        if second == first && !self.chance(6) {
            second.push('2');
        }
        let two = self.chance(3);
        let key = ty(if is_map { "string" } else { "int" });
        if two {
            self.scope.push((first.clone(), key));
            self.scope.push((second.clone(), item.clone()));
        } else {
            self.scope
                .push((first.clone(), if is_map { key } else { item.clone() }));
        }
        let variables = if two {
            format!("{first}, {second}")
        } else {
            first.clone()
        };
        let text = match &*want.0 {
            "bool" => {
                let name = self.one(&["all", "exists", "exists_one", "existsOne"]);
                format!(
                    "{over}.{name}({variables}, {})",
                    self.expression(&ty("bool"), depth)
                )
            }
            "list" if two => {
                let filter = if self.chance(2) {
                    self.expression(&ty("bool"), depth) + ", "
                } else {
                    String::new()
                };
                format!(
                    "{over}.transformList({variables}, {filter}{})",
                    self.expression(&want.1[0], depth)
                )
            }
            "list" if !is_map && item == want.1[0] => match self.number(3) {
                0 => format!("{over}.sortBy({first}, {})", self.expression(&ty("int"), depth)),
                _ => format!("{over}.filter({first}, {})", self.expression(&ty("bool"), depth)),
            },
            "list" => {
                let filter = if self.chance(3) {
                    self.expression(&ty("bool"), depth) + ", "
                } else {
                    String::new()
                };
                format!(
                    "{over}.map({first}, {filter}{})",
                    self.expression(&want.1[0], depth)
                )
            }
            "map" if two => match self.number(2) {
                0 => {
                    let key = self.literal(&ty("string"));
                    format!(
                        "{over}.transformMapEntry({variables}, {{{key}: {}}})",
                        self.expression(&want.1[1], depth)
                    )
                }
                _ => format!(
                    "{over}.transformMap({variables}, {})",
                    self.expression(&want.1[1], depth)
                ),
            },
            "optional_type" => {
                self.scope.truncate(outer.len());
                let over = self.expression(&of("optional_type", item.clone()), depth);
                self.scope.push((first.clone(), item));
                match self.number(2) {
                    0 => format!("{over}.optMap({first}, {})", self.expression(&want.1[0], depth)),
                    _ => format!("{over}.optFlatMap({first}, {})", self.expression(want, depth)),
                }
            }
            _ => {
                self.scope.truncate(outer.len());
                self.function(want, depth)
            }
        };
        self.scope = outer;
        text
    }

    /// The type of what a list or map in scope holds, or any.
    fn item_type(&mut self) -> Ty {
        let mut items: Vec<Ty> = self.scope.iter().map(|(_, of)| of.clone()).collect();
        let fields = self.objects.iter().flat_map(|fields| fields.values());
        items.extend(
            fields
                .filter(|of| matches!(&*of.0, "list" | "map"))
                .filter_map(|of| of.1.last().cloned()),
        );
        if self.chance(2) {
            return self.any_type(1);
        }
        let at = self.number(items.len());
        items.swap_remove(at)
    }

    /// A call of some function whose result has the type.
    fn function(&mut self, want: &Ty, depth: usize) -> String {
        let mut fitting: Vec<(usize, BTreeMap<String, Ty>)> = Vec::new();
        for (at, overload) in self.overloads.iter().enumerate() {
            let mut bound = BTreeMap::new();
            if fits(&overload.result, want, &mut bound) {
                fitting.push((at, bound));
            }
        }
        if fitting.is_empty() {
            return self.literal(want);
        }
        // Half of the time one of the operators, which are what real rules are made of.
        let is_operator = |at: &usize| self.overloads[*at].name.starts_with(['_', '!', '@', '-']);
        let (operators, others): (Vec<_>, Vec<_>) = fitting.into_iter().partition(|(at, _)| is_operator(at));
        let from = if operators.is_empty() || (!others.is_empty() && self.chance(2)) {
            others
        } else {
            operators
        };
        let at = self.number(from.len());
        let (at, mut bound) = from[at].clone();
        let (name, receiver) = (self.overloads[at].name.clone(), self.overloads[at].receiver);
        let wanted = self.overloads[at].operands.clone();
        let mut operands = Vec::new();
        for operand in &wanted {
            let of_operand = self.instance(operand, &mut bound);
            operands.push(self.expression(&of_operand, depth));
        }
        match (&*name, operands.as_slice()) {
            ("_?_:_", [a, b, c]) => format!("({a} ? {b} : {c})"),
            ("_[_]", [a, b]) => format!("{a}[{b}]"),
            ("_[?_]", [a, b]) => format!("{a}[?{b}]"),
            ("_?._", [a, _]) => format!("{a}.?a"),
            ("@in", [a, b]) => format!("({a} in {b})"),
            ("!_", [a]) => format!("!{a}"),
            ("-_", [a]) => format!("-({a})"),
            (operator, [a, b]) if operator.starts_with('_') => {
                let text = format!("{a} {} {b}", operator.trim_matches('_'));
                if self.chance(8) { text } else { format!("({text})") }
            }
            (_, [this, rest @ ..]) if receiver => format!("{this}.{name}({})", rest.join(", ")),
            _ => format!("{name}({})", operands.join(", ")),
        }
    }

    /// The type with something for each of its parameters.
    fn instance(&mut self, pattern: &Ty, bound: &mut BTreeMap<String, Ty>) -> Ty {
        if let Some(name) = pattern.0.strip_prefix('$') {
            if let Some(found) = bound.get(name) {
                return found.clone();
            }
            let found = if self.chance(2) {
                self.item_type()
            } else {
                self.any_type(1)
            };
            bound.insert(name.to_string(), found.clone());
            return found;
        }
        let of = pattern.1.iter().map(|of| self.instance(of, bound)).collect();
        Ty(pattern.0.clone(), of)
    }
}

/// Whether a type is an instance of a pattern; what its parameters stand for is bound.
fn fits(pattern: &Ty, want: &Ty, bound: &mut BTreeMap<String, Ty>) -> bool {
    if let Some(name) = pattern.0.strip_prefix('$') {
        return bound
            .insert(name.to_string(), want.clone())
            .is_none_or(|before| before == *want);
    }
    pattern.0 == want.0
        && pattern.1.len() == want.1.len()
        && pattern
            .1
            .iter()
            .zip(&want.1)
            .all(|(pattern, want)| fits(pattern, want, bound))
}

/// The functions of the table that expressions can call.
fn overloads() -> Vec<Overload> {
    let table = include_str!("../../src/cel/declarations.txt");
    let functions = table.lines().filter_map(|line| line.strip_prefix("fn "));
    let read = |line: &str| {
        let columns: Vec<&str> = line.split(" | ").collect();
        let operands = columns[4].split("; ").filter(|operand| !operand.is_empty());
        Overload {
            name: columns[0].to_string(),
            receiver: columns[2] == "receiver",
            operands: operands.map(|operand| read_type(&mut &*operand)).collect(),
            result: read_type(&mut &*columns[5]),
        }
    };
    let hidden = ["@not", "@sort", "cel.@", "__not", "_in_", "in"];
    functions
        .map(read)
        .filter(|overload| {
            !hidden
                .iter()
                .any(|name| overload.name == *name || name.len() > 3 && overload.name.starts_with(name))
        })
        .filter(|overload| {
            overload
                .operands
                .iter()
                .all(|operand| !operand.0.starts_with("kubernetes.authorization"))
        })
        .collect()
}

fn read_type(rest: &mut &str) -> Ty {
    let end = rest.find(['(', ')', ',']).unwrap_or(rest.len());
    let name = rest[..end].to_string();
    *rest = &rest[end..];
    let mut of = Vec::new();
    while rest.starts_with(['(', ',']) && (rest.starts_with('(') || !of.is_empty()) {
        *rest = rest[1..].trim_start();
        of.push(read_type(rest));
        if let Some(after) = rest.strip_prefix(')') {
            *rest = after;
            break;
        }
    }
    Ty(name, of)
}

/// The name of a field as CEL writes it, for the names that are used here.
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
