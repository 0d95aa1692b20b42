//! Random expressions of a type, with functions, macros, literals and paths.

use super::overloads::fits;
use super::{Random, Ty, map, of, ty};
use std::collections::BTreeMap;

impl Random<'_> {
    /// An expression of a type, unless an error is generated on purpose.
    pub(super) fn expression(&mut self, want: &Ty, depth: usize) -> String {
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

    /// A path from a variable to a value of a type.
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

    /// The element type of a list or map in scope, or any type.
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

    /// A call of a random function whose result has the type.
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
        // Half of the calls are operators, because they prevail in real rules.
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

    /// The type with its parameters replaced by types.
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
