//! Estimates the highest cost of an expression, after `checker/cost.go` of cel-go.

use std::collections::BTreeMap;

use super::call_cost::{self, CallCost, Operand, TRAVERSAL};
use super::range::Range;
use super::sizes::Sizes;
use crate::check::Checked;
use crate::syntax::tree::{Literal, Loop, Node, NodeKind};
use crate::types::Type;

/// The sizes of the elements of a list or map.
#[derive(Debug, Clone, Copy)]
struct Entries {
    is_list: bool,
    key: Range,
    value: Range,
}

#[derive(Debug, Clone, Default)]
struct Local {
    path: Vec<String>,
    size: Option<Range>,
    entries: Option<Entries>,
}

pub(super) struct Coster<'a> {
    pub(super) checked: &'a Checked,
    pub(super) sizes: &'a Sizes<'a>,
    paths: BTreeMap<usize, Vec<String>>,
    computed: BTreeMap<usize, Range>,
    entries: BTreeMap<usize, Entries>,
    locals: Vec<(String, Local)>,
}

/// Estimates the cost of an expression.
pub(super) fn cost(expression: &Node, checked: &Checked, sizes: &Sizes<'_>) -> Range {
    let mut coster = Coster {
        checked,
        sizes,
        paths: BTreeMap::new(),
        computed: BTreeMap::new(),
        entries: BTreeMap::new(),
        locals: Vec::new(),
    };
    coster.cost(expression)
}

impl<'a> Coster<'a> {
    fn cost(&mut self, node: &'a Node) -> Range {
        match &node.kind {
            NodeKind::Literal(_) => Range::fixed(0),
            NodeKind::Ident(name) => self.ident(node, name),
            NodeKind::Select { operand, field, test } => {
                if let Some(name) = self.checked.references.get(&node.id) {
                    return self.ident(node, name);
                }
                let cost = self.cost(operand);
                if *test {
                    return cost;
                }
                let mut path = self.path_of(operand);
                path.push(field.clone());
                self.paths.insert(node.id, path);
                let costs = matches!(self.checked.type_of(operand), Type::Map(..) | Type::Struct(_));
                cost.plus(Range::fixed(u64::from(costs)))
            }
            NodeKind::Call {
                function,
                target,
                arguments,
            } => match self.checked.references.get(&node.id) {
                Some(name) => self.call(node, name, None, arguments),
                None => self.call(node, function, target.as_deref(), arguments),
            },
            NodeKind::List(elements) => {
                let mut cost = Range::fixed(10);
                let mut value = nothing(elements.is_empty());
                for (element, _) in elements {
                    cost = cost.plus(self.cost(element));
                    value = value.union(self.size_or_unknown(element));
                }
                let key = Range::fixed(1);
                self.entries.insert(
                    node.id,
                    Entries {
                        is_list: true,
                        key,
                        value,
                    },
                );
                cost
            }
            NodeKind::Map(entries) => {
                let mut cost = Range::fixed(30);
                let (mut keys, mut values) = (nothing(entries.is_empty()), nothing(entries.is_empty()));
                for (key, value, _) in entries {
                    cost = cost.plus(self.cost(key)).plus(self.cost(value));
                    keys = keys.union(self.size_or_unknown(key));
                    values = values.union(self.size_or_unknown(value));
                }
                let (key, value) = (keys, values);
                self.entries.insert(
                    node.id,
                    Entries {
                        is_list: false,
                        key,
                        value,
                    },
                );
                cost
            }
            NodeKind::Message(_, fields) => {
                let costs = fields.iter().map(|field| self.cost(field));
                costs.fold(Range::fixed(40), Range::plus)
            }
            NodeKind::Loop(fold) => self.fold(node, fold),
        }
    }

    fn ident(&mut self, node: &Node, name: &str) -> Range {
        let path = match self.local(name) {
            Some(local) => local.path.clone(),
            None => vec![name.to_string()],
        };
        self.paths.insert(node.id, path);
        Range::fixed(1)
    }

    fn fold(&mut self, node: &'a Node, fold: &'a Loop) -> Range {
        let mut cost = self.cost(&fold.range).plus(self.cost(&fold.start));
        let accumulator = Local {
            path: self.path_of(&fold.start),
            size: self.size(&fold.start),
            entries: self.entries_of(&fold.start),
        };
        self.locals.push((fold.accumulator.clone(), accumulator));
        if fold.is_binding() {
            cost = cost.plus(self.cost(&fold.result));
            self.locals.pop();
            self.copy_sizes(node, &fold.result);
            return cost;
        }
        let entries = self.entries_of(&fold.range);
        let is_list = match entries {
            Some(entries) => entries.is_list,
            None => matches!(self.checked.type_of(&fold.range), Type::List(_)),
        };
        let path = self.path_of(&fold.range);
        let local = |step: &str, size: Option<Range>| Local {
            path: path.iter().cloned().chain([step.to_string()]).collect(),
            size,
            entries: None,
        };
        let key = local(
            if is_list { "@indices" } else { "@keys" },
            entries.map(|entries| entries.key),
        );
        let value = local(
            if is_list { "@items" } else { "@values" },
            entries.map(|entries| entries.value),
        );
        let variables = self.locals.len();
        match &fold.second_variable {
            Some(second) => {
                self.locals.push((fold.variable.clone(), key));
                self.locals.push((second.clone(), value));
            }
            None => self
                .locals
                .push((fold.variable.clone(), if is_list { value } else { key })),
        }
        let each = self.cost(&fold.condition).plus(self.cost(&fold.step));
        self.locals.truncate(variables);
        cost = cost.plus(self.cost(&fold.result));
        self.locals.pop();
        let rounds = self.size_or_unknown(&fold.range);
        match &fold.start.kind {
            NodeKind::Literal(_) => {
                if let Some(size) = self.size(&fold.start) {
                    self.computed.insert(node.id, size);
                }
            }
            NodeKind::List(_) | NodeKind::Map(_) => {
                self.computed.insert(node.id, rounds);
                if let Some(entries) = self.entries_of(&fold.step) {
                    self.entries.insert(node.id, entries);
                }
            }
            _ => {}
        }
        cost.plus(rounds.times(each))
    }

    fn call(
        &mut self,
        node: &'a Node,
        function: &str,
        target: Option<&'a Node>,
        arguments: &'a [Node],
    ) -> Range {
        if function == "dyn"
            && let [argument] = arguments
        {
            let cost = self.cost(argument);
            self.copy_sizes(node, argument);
            return cost.plus(Range::fixed(1));
        }
        let mut costs = Vec::new();
        let mut operands = Vec::new();
        for argument in arguments {
            costs.push(self.cost(argument));
            operands.push(self.operand(argument));
        }
        let Some(overloads) = self.checked.overloads.get(&node.id) else {
            return Range::default();
        };
        let mut total = Range::default();
        let target = target.map(|target| {
            total = self.cost(target);
            self.operand(target)
        });
        let mut most = nothing(false);
        let mut result: Option<Range> = None;
        for overload in overloads {
            let call = call_cost::CallOf {
                function,
                overload,
                target: target.as_ref(),
                arguments: &operands,
            };
            let cost = match call_cost::library(&call, self.sizes) {
                Some(found) => CallCost {
                    cost: costs.iter().copied().fold(found.cost, Range::plus),
                    result: found.result,
                },
                None => self.standard(node, &call, &costs),
            };
            most = most.union(cost.cost);
            if let Some(size) = cost.result {
                result = Some(result.map_or(size, |before| before.union(size)));
            }
            let step = match *overload {
                "index_list" => Some("@items"),
                "index_map" => Some("@values"),
                _ => None,
            };
            if let (Some(step), Some(container)) = (step, arguments.first()) {
                result = self.entries_of(container).map(|entries| entries.value);
                let mut path = self.path_of(container);
                path.push(step.to_string());
                self.paths.insert(node.id, path);
            }
            result = result.or_else(|| self.size(node));
        }
        if let Some(size) = result {
            self.computed.insert(node.id, size);
        }
        total.plus(most)
    }

    /// The cost of a call of the standard library.
    fn standard(&mut self, node: &Node, call: &call_cost::CallOf<'_>, costs: &[Range]) -> CallCost {
        let operands = call.arguments;
        match (call.overload, costs) {
            ("logical_or" | "logical_and", [left, right]) => CallCost {
                cost: Range::new(left.min, left.plus(*right).max),
                result: None,
            },
            ("conditional", [condition, yes, no]) => {
                let entries = self
                    .entries_of(operands[1].node)
                    .zip(self.entries_of(operands[2].node));
                self.set_united(node, entries);
                CallCost {
                    cost: condition.plus(yes.union(*no)),
                    result: Some(operands[1].size_or_unknown().union(operands[2].size_or_unknown())),
                }
            }
            ("add_string" | "add_bytes" | "add_list", [_, _]) => {
                let entries = self
                    .entries_of(operands[0].node)
                    .zip(self.entries_of(operands[1].node));
                self.set_united(node, entries);
                let size = operands[0].size_or_unknown().plus(operands[1].size_or_unknown());
                let own = if call.overload == "add_list" {
                    Range::fixed(1)
                } else {
                    size.scaled(TRAVERSAL)
                };
                CallCost {
                    cost: costs.iter().copied().fold(own, Range::plus),
                    result: Some(size),
                }
            }
            _ => {
                let found = call_cost::standard(call);
                CallCost {
                    cost: costs.iter().copied().fold(found.cost, Range::plus),
                    result: found.result,
                }
            }
        }
    }

    fn set_united(&mut self, node: &Node, entries: Option<(Entries, Entries)>) {
        if let Some((one, other)) = entries {
            let united = Entries {
                is_list: one.is_list,
                key: one.key.union(other.key),
                value: one.value.union(other.value),
            };
            self.entries.insert(node.id, united);
        }
    }

    fn copy_sizes(&mut self, to: &Node, from: &Node) {
        if let Some(size) = self.size(from) {
            self.computed.insert(to.id, size);
        }
        if let Some(entries) = self.entries_of(from) {
            self.entries.insert(to.id, entries);
        }
    }

    fn operand(&mut self, node: &'a Node) -> Operand<'a> {
        let mut path = self.path_of(node);
        if path.first().is_some_and(|first| first == "@result") {
            path.clear();
        }
        Operand {
            node,
            of: self.checked.type_of(node).clone(),
            path,
            computed: self.size(node),
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        let found = self.locals.iter().rev().find(|(variable, _)| variable == name);
        found.map(|(_, local)| local)
    }

    fn path_of(&self, node: &Node) -> Vec<String> {
        if let NodeKind::Ident(name) = &node.kind
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&node.id).cloned().unwrap_or_default()
    }

    fn size_or_unknown(&mut self, node: &Node) -> Range {
        self.size(node).unwrap_or(Range::UNKNOWN)
    }

    fn size(&mut self, node: &Node) -> Option<Range> {
        if let Some(size) = self.computed.get(&node.id) {
            return Some(*size);
        }
        if let Some(size) = literal_size(node) {
            return Some(Range::fixed(size));
        }
        if let Some(size) = self.sizes.at(&self.path_of(node)) {
            self.computed.insert(node.id, size);
            return Some(size);
        }
        if is_scalar(self.checked.type_of(node)) {
            return Some(Range::fixed(1));
        }
        match &node.kind {
            NodeKind::Ident(name) => self.local(name)?.size,
            _ => None,
        }
    }

    fn entries_of(&self, node: &Node) -> Option<Entries> {
        if let Some(entries) = self.entries.get(&node.id) {
            return Some(*entries);
        }
        match &node.kind {
            NodeKind::Ident(name) => self.local(name)?.entries,
            _ => None,
        }
    }
}

/// The initial range of a union: zero if there are no elements, and otherwise the neutral element.
fn nothing(is_empty: bool) -> Range {
    Range::new(if is_empty { 0 } else { u64::MAX }, 0)
}

fn literal_size(node: &Node) -> Option<u64> {
    Some(match &node.kind {
        NodeKind::Literal(Literal::String(text)) => text.chars().count() as u64,
        NodeKind::Literal(Literal::Bytes(bytes)) => bytes.len() as u64,
        NodeKind::Literal(_) => 1,
        NodeKind::List(elements) => elements.len() as u64,
        NodeKind::Map(entries) => entries.len() as u64,
        _ => return None,
    })
}

fn is_scalar(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        _ => of.unwrap_optional().is_some_and(is_scalar),
    }
}

impl Loop {
    /// Whether the loop only binds a value to a name.
    pub(super) fn is_binding(&self) -> bool {
        matches!(&self.range.kind, NodeKind::List(elements) if elements.is_empty())
            && matches!(self.condition.kind, NodeKind::Literal(Literal::Bool(false)))
    }
}
