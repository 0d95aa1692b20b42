//! The overloads of the API server, and random operands for them.

use crate::dice::Dice;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A function for operands of some types.
pub struct Overload {
    pub id: &'static str,
    name: &'static str,
    is_receiver: bool,
    operands: Vec<&'static str>,
    result: &'static str,
}

/// The overloads that an expression of a rule can call. The authorizer is available only in policies.
pub fn overloads() -> Vec<Overload> {
    let table = include_str!("../../../../crates/krator-cel/src/check/declarations.txt");
    let functions = table.lines().filter_map(|line| line.strip_prefix("fn "));
    let all = functions.map(|line| {
        let columns: Vec<&'static str> = line.split(" | ").collect();
        let operands = columns[4].split("; ").filter(|operand| !operand.is_empty());
        Overload {
            id: columns[1],
            name: columns[0],
            is_receiver: columns[2] == "receiver",
            operands: operands.collect(),
            result: columns[5],
        }
    });
    // Internal names of operators, which expressions cannot contain.
    let is_hidden = |overload: &Overload| matches!(overload.name, "_in_" | "in" | "__not_strictly_false__");
    let is_of_policies =
        |overload: &Overload| overload.operands.iter().any(|of| of.contains("authorization"));
    all.filter(|overload| !is_hidden(overload) && !is_of_policies(overload))
        .collect()
}

/// The types that replace type parameters.
const TYPES: [&str; 9] = [
    "int",
    "uint",
    "double",
    "bool",
    "string",
    "bytes",
    "Timestamp",
    "Duration",
    "list(int)",
];

impl Overload {
    /// A call, and an expression for the text of its value.
    pub fn call(&self, dice: &mut Dice) -> (String, String) {
        let mut bound = BTreeMap::new();
        for parameter in ["$A", "$B", "$K", "$T", "$V"] {
            let of = match parameter {
                // Only simple types can be keys of maps.
                "$K" | "$A" if self.id.contains("map") => *dice.among(&["string", "int", "bool", "uint"]),
                "$B" | "$V" if self.id.contains("map") => *dice.among(&TYPES),
                _ => *dice.among(&TYPES),
            };
            bound.insert(parameter, of);
        }
        let of = |pattern: &str| {
            let mut of = pattern.to_owned();
            for (parameter, name) in &bound {
                of = of.replace(parameter, name);
            }
            of
        };
        let given: Vec<String> = self
            .operands
            .iter()
            .map(|operand| operand_of(dice, &of(operand), self.name))
            .collect();
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let call = match (self.name, given.as_slice()) {
            ("@not_strictly_false", [value]) => format!("[1].all(x, {value})"),
            ("@sortByAssociatedKeys", [_, keys]) => format!("{keys}.sortBy(x, x)"),
            ("cel.@mapInsert", [map, _, _]) => format!("{map}.transformMap(k, v, [v])"),
            ("cel.@mapInsert", [map, _]) => format!("{map}.transformMapEntry(k, v, {{'a' : v}})"),
            ("_?_:_", [a, b, c]) => format!("({a} ? {b} : {c})"),
            ("_[_]", [a, b]) => format!("{a}[{b}]"),
            ("_[?_]", [a, b]) => format!("{a}[?{b}]"),
            ("_?._", _) => dice
                .among(&[
                    "self.?map.?a",
                    "self.?number",
                    "self.?nothing.?x",
                    "self.?map.a",
                    "{'a': {'b': 1}}.?a.?c",
                ])
                .to_string(),
            ("@in", [a, b]) => format!("({a} in {b})"),
            ("!_", [a]) => format!("!({a})"),
            ("-_", [a]) => format!("-({a})"),
            (operator, [a, b]) if operator.starts_with('_') => {
                format!("({a} {} {b})", operator.trim_matches('_'))
            }
            (name, [this, rest @ ..]) if self.is_receiver => format!("{this}.{name}({})", rest.join(", ")),
            (name, given) => format!("{name}({})", given.join(", ")),
        };
        let result = match self.name {
            "cel.@mapInsert" => "map(string, int)".to_owned(),
            "@not_strictly_false" => "bool".to_owned(),
            _ => of(self.result),
        };
        let shown = shown(&call, &result);
        (call, shown)
    }
}

/// An expression for the text of a value.
fn shown(call: &str, of: &str) -> String {
    match of {
        // The cost of formatting these types as text is unknown.
        "net.IP" => format!("'%s'.format([[{call}.family(), {call} == ip('10.0.0.1') ? 1 : 0]])"),
        "net.CIDR" => {
            format!("'%s'.format([[{call}.prefixLength(), {call}.ip() == ip('10.0.0.0') ? 1 : 0]])")
        }
        "string" if call.starts_with("string(ip(") || call.starts_with("string(cidr(") => {
            format!("'%s'.format([size({call})])")
        }
        "kubernetes.URL" => format!(
            "'%s'.format([[{call}.getScheme(), {call}.getHost(), {call}.getHostname(), {call}.getPort(), \
             {call}.getEscapedPath()]])"
        ),
        "kubernetes.Quantity" => {
            format!("'%s %s'.format([{call}.asApproximateFloat(), {call}.isInteger()])")
        }
        "kubernetes.Semver" => {
            format!("'%s'.format([[{call}.major(), {call}.minor(), {call}.patch()]])")
        }
        "kubernetes.NamedFormat" => format!("'%s'.format([{call}.validate('-').hasValue()])"),
        "optional_type(kubernetes.NamedFormat)" => format!("'%s'.format([{call}.hasValue()])"),
        _ if of.starts_with("optional_type") => {
            format!("'%s'.format([{call}.hasValue() ? dyn({call}.value()) : dyn('none')])")
        }
        _ => format!("'%s'.format([{call}])"),
    }
}

/// Literals of texts that are meaningful to a function.
fn texts(function: &str) -> Vec<&'static str> {
    let sections = include_str!("texts.txt").split("\n[").skip(1);
    let sections: Vec<(&str, &str)> = sections.filter_map(|section| section.split_once("]\n")).collect();
    let of = |(names, _): &&(&str, &str)| names.split(' ').any(|name| name == function);
    let found = sections.iter().find(of).or(sections.last());
    found.map_or_else(Vec::new, |(_, texts)| {
        texts.lines().filter(|line| !line.is_empty()).collect()
    })
}

fn text(dice: &mut Dice, function: &str) -> String {
    // The receiver of a function is mostly a plain text.
    let function = if dice.one_in(8) { "" } else { function };
    let text = *dice.among(&texts(function));
    match dice.below(3) {
        // The concatenation hides the literal from the API server, which checks some literals when it compiles a rule.
        0 | 1 => format!("({text} + '')"),
        _ => text.to_owned(),
    }
}

/// An operand of a type, for a function.
fn operand_of(dice: &mut Dice, of: &str, function: &str) -> String {
    let one = |dice: &mut Dice, from: &[&str]| dice.among(from).to_string();
    if let Some(of) = of.strip_prefix("list(").and_then(|of| of.strip_suffix(')')) {
        let stored = match of {
            "int" => &["self.numbers", "self.numberSet"][..],
            "string" => &["self.texts", "self.textSet"],
            "double" => &["self.doubles"],
            "bool" => &["self.bools"],
            "Timestamp" => &["self.times"],
            "Duration" => &["self.waits"],
            "bytes" => &["self.data"],
            _ => &[],
        };
        if !stored.is_empty() && dice.one_in(4) {
            return one(dice, stored);
        }
        // An empty list has no element type, so functions for lists of a type would not accept it.
        let count = dice.below(5);
        let items: Vec<String> = (0..count).map(|_| operand_of(dice, of, function)).collect();
        return format!("[{}]", items.join(", "));
    }
    if let Some(of) = of.strip_prefix("map(").and_then(|of| of.strip_suffix(')')) {
        let (key, value) = of.split_once(", ").expect("a map has keys and values");
        if (key, value) == ("string", "int") && dice.one_in(2) {
            return one(dice, &["self.map"]);
        }
        let count = dice.below(3);
        let entries = (0..count).map(|_| {
            let key = operand_of(dice, key, "");
            format!("{key}: {}", operand_of(dice, value, function))
        });
        return format!("{{{}}}", entries.collect::<Vec<_>>().join(", "));
    }
    if let Some(of) = of
        .strip_prefix("optional_type(")
        .and_then(|of| of.strip_suffix(')'))
    {
        return match dice.below(4) {
            0 => "optional.none()".to_owned(),
            1 => format!("optional.ofNonZeroValue({})", operand_of(dice, of, function)),
            _ => format!("optional.of({})", operand_of(dice, of, function)),
        };
    }
    match of {
        // Small numbers, because the API server multiplies the cost by the depth.
        "int" if function == "flatten" => one(dice, &["0", "1", "2", "3"]),
        // No constants, because cel-go refuses them when it compiles the rule.
        "int" if function == "duration" => {
            one(dice, &["self.number", "(self.number * 1000)", "-self.number"])
        }
        "int" => one(
            dice,
            &[
                "0",
                "1",
                "-1",
                "2",
                "3",
                "7",
                "-7",
                "42",
                "1000000",
                "9223372036854775807",
                "-9223372036854775808",
                "self.number",
                "253402300800",
                "1577836800",
                "255",
            ],
        ),
        "uint" => one(
            dice,
            &[
                "0u",
                "1u",
                "7u",
                "255u",
                "18446744073709551615u",
                "9223372036854775808u",
            ],
        ),
        "double" => one(
            dice,
            &[
                "0.0",
                "1.5",
                "-1.5",
                "2.0",
                "1e6",
                "1e21",
                "1e-7",
                "123456.789",
                "9223372036854775808.0",
                "self.double",
                "0.1",
                "double('NaN')",
                "double('Infinity')",
                "-0.0",
                "1e100",
                "3.0",
                "18446744073709551616.0",
                "1234567.5",
            ],
        ),
        "bool" => one(dice, &["true", "false", "(1 / 0 > 0)", "self.bool"]),
        "string" => text(dice, function),
        "bytes" => one(
            dice,
            &[
                "b''",
                "b'abc'",
                "b'\\\\xff'",
                "bytes('é')",
                "b'\\\\x00a'",
                "self.datum",
            ],
        ),
        "Timestamp" => {
            let text = *dice.among(&texts("timestamp")[..5]);
            one(
                dice,
                &[
                    &format!("timestamp({text})"),
                    "self.time",
                    "timestamp(1577836800)",
                    "self.day",
                ],
            )
        }
        "Duration" => one(
            dice,
            &[
                "duration('1h')",
                "duration('1.5s')",
                "duration('-90m')",
                "duration('0')",
                "self.wait",
                "duration('2562047h')",
                "duration('1ns')",
            ],
        ),
        "dyn" => {
            let of = *dice.among(&[
                "int",
                "string",
                "double",
                "bool",
                "list(int)",
                "uint",
                "map(string, int)",
                "Duration",
            ]);
            format!("dyn({})", operand_of(dice, of, function))
        }
        "kubernetes.Quantity" => format!("quantity({})", dice.among(&texts("quantity")[..19])),
        "kubernetes.Semver" => format!("semver({}, true)", dice.among(&texts("semver")[..7])),
        "kubernetes.URL" => format!("url({})", dice.among(&texts("url"))),
        "kubernetes.NamedFormat" => one(
            dice,
            &[
                "format.dns1123Label()",
                "format.dns1123Subdomain()",
                "format.dns1035Label()",
                "format.qualifiedName()",
                "format.dns1123LabelPrefix()",
                "format.dns1123SubdomainPrefix()",
                "format.dns1035LabelPrefix()",
                "format.labelValue()",
                "format.uri()",
                "format.uuid()",
                "format.byte()",
                "format.date()",
                "format.datetime()",
            ],
        ),
        "net.IP" => format!("ip({})", dice.among(&texts("ip")[..14])),
        "net.CIDR" => format!("cidr({})", dice.among(&texts("cidr")[..5])),
        other => panic!("{other} has no operands"),
    }
}

/// The schema of the object whose fields are used as operands.
pub fn schema() -> Value {
    let list = |items: Value| json!({"type": "array", "maxItems": 5, "items": items});
    let text = json!({"type": "string", "maxLength": 10});
    let formatted = |format: &str| json!({"type": "string", "format": format});
    let set = |items: Value| {
        let mut set = list(items);
        set["x-kubernetes-list-type"] = json!("set");
        set
    };
    json!({"type": "object", "properties": {
        "number": {"type": "integer"},
        "double": {"type": "number"},
        "bool": {"type": "boolean"},
        "datum": {"type": "string", "format": "byte", "maxLength": 10},
        "time": formatted("date-time"),
        "day": formatted("date"),
        "wait": formatted("duration"),
        "numbers": list(json!({"type": "integer"})),
        "numberSet": set(json!({"type": "integer"})),
        "texts": list(text.clone()),
        "textSet": set(text),
        "doubles": list(json!({"type": "number"})),
        "bools": list(json!({"type": "boolean"})),
        "times": list(formatted("date-time")),
        "waits": list(formatted("duration")),
        "data": list(json!({"type": "string", "format": "byte", "maxLength": 10})),
        "map": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "integer"}},
        "nothing": {"type": "object", "properties": {"x": {"type": "integer"}}},
    }})
}

/// Values of the schema.
pub fn values(dice: &mut Dice) -> Value {
    let some = |dice: &mut Dice, from: &[Value]| {
        let mut all: Vec<Value> = from.to_vec();
        all.retain(|_| !dice.one_in(3));
        Value::Array(all)
    };
    let numbers = [json!(3), json!(1), json!(2), json!(-7)];
    let texts = [json!("b"), json!("a"), json!("é"), json!("")];
    let times = [
        json!("2020-01-01T00:00:00Z"),
        json!("2019-01-01T00:00:00.5+01:00"),
    ];
    let mut values = json!({
        "number": dice.below(9),
        "double": dice.below(9) as f64 / 2.0,
        "bool": dice.one_in(2),
        "datum": "YWI=",
        "time": "2020-06-15T12:30:45.123+02:00",
        "day": "2020-02-29",
        "wait": *dice.among(&["1h", "2 weeks", "90s"]),
        "numbers": some(dice, &numbers),
        "numberSet": some(dice, &numbers),
        "texts": some(dice, &texts),
        "textSet": some(dice, &texts),
        "doubles": some(dice, &[json!(1.5), json!(2), json!(-0.5)]),
        "bools": some(dice, &[json!(true), json!(false)]),
        "times": some(dice, &times),
        "waits": some(dice, &[json!("1s"), json!("2h")]),
        "data": some(dice, &[json!("YQ=="), json!("YWI=")]),
        "map": {"a": 1},
    });
    if dice.one_in(2) {
        values["map"]["b"] = json!(2);
    }
    values
}
