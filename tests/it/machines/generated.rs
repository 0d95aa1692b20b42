//! Reads the state graph from the generated file, and takes its edges in this process. So random descriptions need no
//! compiler, and the test covers the code of a real crate.

use crate::graph_edges::{Edge, edges};
use krator::model::{self, Description, Kind};
use krator::render::rust::machine;
use krator_runtime::testing::drive;
use krator_runtime::{
    Graph, Objective, OnDelete, OnSpecChange, Policy, Retry, SpecChange, StateId, StateKind, Watch,
};
use std::collections::BTreeSet;
use std::time::Duration;
use syn::{Expr, ExprMethodCall, Item, Lit};

/// A generated state graph, and its edges according to the description.
pub struct Generated {
    names: Vec<String>,
    states: &'static [Policy<'static>],
    /// The names of the final states, whose handlers are correct as generated.
    ends: BTreeSet<String>,
    pub graph: Graph<'static>,
    edges: Vec<Edge>,
}

impl Generated {
    /// The states that the runtime may store after this one, or in a new object.
    pub fn may_follow(&self, from: Option<&str>) -> BTreeSet<&str> {
        let id = |name: &str| {
            let at = self.names.iter().position(|other| other == name);
            StateId(u16::try_from(at.expect("a state")).expect("few states"))
        };
        let states = krator_runtime::testing::may_follow(&self.graph, from.map(id));
        states
            .into_iter()
            .map(|id| self.names[usize::from(id.0)].as_str())
            .collect()
    }

    /// The generated graph of a kind.
    pub fn of(description: &Description, kind: &Kind) -> Generated {
        let names = kind.states.iter().map(|state| state.name.value.to_string());
        // States are numbered in the order of their names.
        let names = names.collect::<BTreeSet<_>>().into_iter().collect();
        let machine = machine::machine(description, kind);
        let machine = syn::parse_file(&machine).expect("a generated file");
        let shared_retry = machine.items.iter().find_map(|item| match item {
            Item::Const(item) if item.ident == "RETRY" => Some((*item.expr).clone()),
            _ => None,
        });
        let names = Names {
            states: names,
            shared_retry,
        };
        let (mut states, mut graph) = (&[][..], None);
        for item in &machine.items {
            match item {
                Item::Static(item) if item.ident == "STATES" => {
                    states = leak(
                        items(&item.expr)
                            .iter()
                            .map(|state| names.policy(state))
                            .collect(),
                    );
                }
                Item::Static(item) if item.ident == "GRAPH" => graph = Some(names.graph(&item.expr, states)),
                _ => {}
            }
        }
        Generated {
            graph: graph.expect("a graph"),
            states,
            ends: {
                let is_final = |state: &&model::State| state.kind.value == model::StateKind::Final;
                let ends = kind.states.iter().filter(is_final);
                ends.map(|state| state.name.value.to_string()).collect()
            },
            edges: edges(kind),
            names: names.states,
        }
    }

    /// Takes every edge with every fault. Returns all defects, each with its edge.
    pub fn test(&self) -> Vec<String> {
        let clock = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("tokio can start");
        let mut wrong = Vec::new();
        for (from, cause, to) in &self.edges {
            let mut found = clock.block_on(drive(&self.graph, *from, *cause, *to));
            // The same object in the same state, whose handler is not written.
            let mut states = self.states.to_vec();
            let at = usize::from(from.0);
            if !self.ends.contains(&self.names[at]) {
                states[at] = states[at].handler("", false);
                let graph = self.graph.with_states(&states);
                found.extend(clock.block_on(drive(&graph, *from, *cause, *to)));
            }
            if !found.is_empty() {
                let name = |id: StateId| &self.names[usize::from(id.0)];
                let to = to.map_or("gone", |to| name(to));
                wrong.push(format!(
                    "{} to {to}, {cause:?}:\n{}",
                    name(*from),
                    found.join("\n")
                ));
            }
        }
        wrong
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }
}

/// A graph borrows its parts, and the leak is small in a test.
fn leak<T>(items: Vec<T>) -> &'static [T] {
    items.leak()
}

/// The names in generated code that refer to other values.
struct Names {
    /// The names of the states, in the order of their numbers.
    states: Vec<String>,
    /// The retry policy in the constant `RETRY`, which states share.
    shared_retry: Option<Expr>,
}

impl Names {
    fn id(&self, name: &str) -> StateId {
        let at = self
            .states
            .iter()
            .position(|known| known == name)
            .expect("a state");
        StateId(u16::try_from(at).expect("few states"))
    }

    /// The state that `State::ID` or `State` names.
    fn state(&self, expr: &Expr) -> StateId {
        self.id(&segments(expr)[0])
    }

    fn states(&self, expr: &Expr) -> &'static [StateId] {
        leak(items(expr).iter().map(|state| self.state(state)).collect())
    }

    fn graph(&self, expr: &Expr, states: &'static [Policy<'static>]) -> Graph<'static> {
        let (start, calls) = chain(expr);
        let Expr::Call(new) = start else { panic!("no call") };
        let deletion = match &new.args[2] {
            Expr::Call(some) => Some(self.state(&some.args[0])),
            _ => None,
        };
        let graph = Graph::new(states, self.state(&new.args[1]), deletion, text(&new.args[3]));
        calls
            .iter()
            .fold(graph, |graph, call| match call.method.to_string().as_str() {
                "conditions" => {
                    graph.conditions(leak(items(&call.args[0]).iter().map(|kind| text(kind)).collect()))
                }
                "objectives" => {
                    let objectives = items(&call.args[0]);
                    graph.objectives(leak(objectives.iter().map(|new| self.objective(new)).collect()))
                }
                other => panic!("a graph has no `{other}` here"),
            })
    }

    fn objective(&self, expr: &Expr) -> Objective {
        let Expr::Call(new) = expr else { panic!("no call") };
        let [from, to] = [0, 1].map(|at| self.state(&new.args[at]));
        Objective::new(from, to, duration(&new.args[2]))
    }

    fn policy(&self, expr: &Expr) -> Policy<'static> {
        let (start, calls) = chain(expr);
        let Expr::Call(new) = start else { panic!("no call") };
        let policy = Policy::new(text(&new.args[0]));
        calls.iter().fold(policy, |policy, call| self.with(policy, call))
    }

    /// A policy after one call of the builder chain.
    fn with(&self, policy: Policy<'static>, call: &ExprMethodCall) -> Policy<'static> {
        let arg = |at: usize| &call.args[at];
        let texts = || leak(items(arg(0)).iter().map(|name| text(name)).collect());
        match call.method.to_string().as_str() {
            "renamed_from" => policy.renamed_from(texts()),
            "phase" => policy.phase(text(arg(0))),
            "message" => policy.message(text(arg(0))),
            "kind" => policy.kind(match last(arg(0)).as_str() {
                "Ready" => StateKind::Ready,
                "Failed" => StateKind::Failed,
                "Final" => StateKind::Final,
                other => panic!("no kind `{other}`"),
            }),
            "next" => policy.next(self.states(arg(0))),
            "poll" => policy.poll(duration(arg(0))),
            "poll_from_field" => policy.poll_from_field(number(arg(0))),
            "watch" => policy.watch(leak(items(arg(0)).iter().map(|what| watch(what)).collect())),
            "timeout" => policy.timeout(duration(arg(0)), self.state(arg(1))),
            "timeout_from_field" => policy.timeout_from_field(number(arg(0)), self.state(arg(1))),
            "retry" => policy.retry(self.retry(arg(0))),
            "limit" => policy.limit(number(arg(0)), self.state(arg(1))),
            "limit_from_field" => policy.limit_from_field(number(arg(0)), self.state(arg(1))),
            "once" => policy.once(),
            "resume" => policy.resume(self.state(arg(0))),
            "on_spec_change" => policy.on_spec_change(self.reaction(arg(0))),
            "on_spec_change_of" => {
                let changes = items(arg(0)).into_iter().map(|change| self.change(change));
                policy.on_spec_change_of(leak(changes.collect()))
            }
            "on_delete" => policy.on_delete(match arg(0) {
                Expr::Call(to) => OnDelete::To(self.state(&to.args[0])),
                _ => OnDelete::Wait,
            }),
            "deletion_path" => policy.deletion_path(),
            "conditions" => {
                policy.conditions(leak(items(arg(0)).iter().map(|pair| condition(pair)).collect()))
            }
            "no_checkpoint" => policy.no_checkpoint(),
            // All handlers in these tests count as written.
            "handler" => policy,
            other => panic!("a policy has no `{other}` here"),
        }
    }

    fn change(&self, expr: &Expr) -> SpecChange<'static> {
        let Expr::Struct(change) = expr else {
            panic!("no change of the spec")
        };
        let field = |at: usize| &change.fields[at].expr;
        SpecChange {
            of: leak(items(field(0)).iter().map(|path| text(path)).collect()),
            does: self.reaction(field(1)),
        }
    }

    fn reaction(&self, expr: &Expr) -> OnSpecChange {
        match expr {
            Expr::Call(to) => OnSpecChange::To(self.state(&to.args[0])),
            word if last(word) == "Wake" => OnSpecChange::Wake,
            _ => OnSpecChange::Ignore,
        }
    }

    fn retry(&self, expr: &Expr) -> Retry {
        let (start, calls) = chain(expr);
        if last(start) == "RETRY" {
            return self.retry(self.shared_retry.as_ref().expect("the file has it"));
        }
        calls.iter().fold(Retry::DEFAULT, |retry, call| {
            let arg = |at: usize| &call.args[at];
            match call.method.to_string().as_str() {
                "backoff" => retry.backoff(duration(arg(0)), float(arg(1)), duration(arg(2))),
                "limit" => retry.limit(number(arg(0)), self.state(arg(1))),
                "at_most" => retry.at_most(number(arg(0))),
                other => panic!("a retry has no `{other}` here"),
            }
        })
    }
}

/// A chain of method calls: where it starts, and the calls in order.
fn chain(expr: &Expr) -> (&Expr, Vec<&ExprMethodCall>) {
    let (mut at, mut calls) = (expr, Vec::new());
    while let Expr::MethodCall(call) = at {
        calls.push(call);
        at = &call.receiver;
    }
    calls.reverse();
    (at, calls)
}

/// The items of an array, or of a reference to one.
fn items(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Reference(reference) => items(&reference.expr),
        Expr::Array(array) => array.elems.iter().collect(),
        _ => panic!("no array"),
    }
}

fn segments(expr: &Expr) -> Vec<String> {
    let Expr::Path(path) = expr else { panic!("no path") };
    path.path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect()
}

fn last(expr: &Expr) -> String {
    segments(expr).pop().expect("a path has segments")
}

fn literal(expr: &Expr) -> &Lit {
    let Expr::Lit(literal) = expr else {
        panic!("no literal")
    };
    &literal.lit
}

fn text(expr: &Expr) -> &'static str {
    let Lit::Str(text) = literal(expr) else {
        panic!("no text")
    };
    text.value().leak()
}

fn number<N: TryFrom<u64>>(expr: &Expr) -> N {
    let number = match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().expect("a number"),
            _ => panic!("no number"),
        },
        _ => u64::from(u32::MAX), // The one named constant is `u32::MAX`.
    };
    N::try_from(number).ok().expect("a number that fits")
}

fn float(expr: &Expr) -> f64 {
    match literal(expr) {
        Lit::Float(number) => number.base10_parse().expect("a number"),
        Lit::Int(number) => number.base10_parse().expect("a number"),
        _ => panic!("no number"),
    }
}

fn duration(expr: &Expr) -> Duration {
    let Expr::Call(call) = expr else { panic!("no call") };
    match last(&call.func).as_str() {
        "from_secs" => Duration::from_secs(number(&call.args[0])),
        "from_millis" => Duration::from_millis(number(&call.args[0])),
        "new" => Duration::new(number(&call.args[0]), number(&call.args[1])),
        other => panic!("no duration is `{other}`"),
    }
}

fn watch(expr: &Expr) -> Watch {
    if let Expr::Call(kind) = expr {
        return Watch::Kind(text(&kind.args[0]));
    }
    match last(expr).as_str() {
        "Itself" => Watch::Itself,
        "Owned" => Watch::Owned,
        "Watched" => Watch::Watched,
        other => panic!("no `{other}` is watched"),
    }
}

fn condition(expr: &Expr) -> (&'static str, &'static str) {
    let Expr::Tuple(pair) = expr else {
        panic!("no pair")
    };
    (text(&pair.elems[0]), text(&pair.elems[1]))
}
