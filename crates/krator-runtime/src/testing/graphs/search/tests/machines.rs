//! The small machines of the search: every graph of `next` edges with up to three states, without keys, with each key
//! of the language at each place, and with each pair of keys.

use crate::graph::{
    Graph, Limit, OnDelete, OnSpecChange, Policy, Retry, SpecChange, StateId, StateKind, Watch,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// A key of the language at one place. The numbers are those of its state, and of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Kind(usize, Kind),
    Poll(usize),
    Watch(usize),
    Timeout(usize, usize),
    Retry(usize, usize),
    Limit(usize, usize),
    Once(usize, usize),
    Resume(usize, usize),
    IgnoresChanges(usize),
    ChangesTo(usize, usize),
    /// Changes of one field have the first effect, and those of other fields the second.
    ByField(usize, Reaction, Reaction),
    NoCheckpoint(usize),
    Conditions(usize),
    Deletion,
    /// A deletion path with work on it, and whether its handler is written.
    Cleanup(bool),
    WaitsOnDelete(usize),
    NotWritten(usize),
    /// A limit counts the objects of this state.
    Limited(usize),
}

/// The effect of a change of the spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reaction {
    Wake,
    Ignore,
    To(usize),
}

impl Reaction {
    fn all(states: usize) -> impl Iterator<Item = Reaction> {
        [Reaction::Wake, Reaction::Ignore]
            .into_iter()
            .chain((0..states).map(Reaction::To))
    }

    fn as_policy(self) -> OnSpecChange {
        match self {
            Reaction::Wake => OnSpecChange::Wake,
            Reaction::Ignore => OnSpecChange::Ignore,
            Reaction::To(state) => OnSpecChange::To(id(state)),
        }
    }
}

fn id(state: usize) -> StateId {
    StateId(u16::try_from(state).expect("few states"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Ready,
    Failed,
    Final,
}

/// A machine, as its `next` edges and its keys. State 0 is the initial one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Small {
    pub next: Vec<BTreeSet<usize>>,
    pub keys: Vec<Key>,
}

impl Key {
    /// Every key at every place of a machine with this many states.
    pub fn all(states: usize) -> Vec<Key> {
        let mut keys = vec![Key::Deletion, Key::Cleanup(true), Key::Cleanup(false)];
        for at in 0..states {
            keys.extend([Kind::Ready, Kind::Failed, Kind::Final].map(|kind| Key::Kind(at, kind)));
            keys.extend([
                Key::Poll(at),
                Key::Watch(at),
                Key::IgnoresChanges(at),
                Key::NoCheckpoint(at),
                Key::Conditions(at),
                Key::WaitsOnDelete(at),
                Key::NotWritten(at),
                Key::Limited(at),
            ]);
            for to in 0..states {
                keys.extend([Key::Timeout(at, to), Key::Retry(at, to), Key::ChangesTo(at, to)]);
                if to != at {
                    keys.extend([Key::Limit(at, to), Key::Once(at, to), Key::Resume(at, to)]);
                }
            }
        }
        keys
    }

    /// Whether the key is a deletion path.
    fn deletes(self) -> bool {
        matches!(self, Key::Deletion | Key::Cleanup(_))
    }

    /// Every way to distinguish changes of a field, at every place of a machine with this many states.
    fn by_field(states: usize) -> Vec<Key> {
        let pairs = Reaction::all(states).flat_map(|of| Reaction::all(states).map(move |rest| (of, rest)));
        let pairs: Vec<_> = pairs.filter(|(of, rest)| of != rest).collect();
        let places =
            (0..states).flat_map(|at| pairs.iter().map(move |(of, rest)| Key::ByField(at, *of, *rest)));
        places.collect()
    }

    fn place(self) -> Option<usize> {
        match self {
            Key::Deletion | Key::Cleanup(_) => None,
            Key::Kind(at, _)
            | Key::Poll(at)
            | Key::Watch(at)
            | Key::IgnoresChanges(at)
            | Key::NoCheckpoint(at)
            | Key::Conditions(at)
            | Key::WaitsOnDelete(at)
            | Key::NotWritten(at)
            | Key::Limited(at)
            | Key::Timeout(at, _)
            | Key::Retry(at, _)
            | Key::Limit(at, _)
            | Key::Once(at, _)
            | Key::Resume(at, _)
            | Key::ChangesTo(at, _)
            | Key::ByField(at, ..) => Some(at),
        }
    }

    fn leads_to(self) -> Vec<usize> {
        match self {
            Key::ByField(_, of, rest) => [of, rest]
                .into_iter()
                .filter_map(|does| match does {
                    Reaction::To(to) => Some(to),
                    Reaction::Wake | Reaction::Ignore => None,
                })
                .collect(),
            Key::Timeout(_, to)
            | Key::Retry(_, to)
            | Key::Limit(_, to)
            | Key::Once(_, to)
            | Key::Resume(_, to)
            | Key::ChangesTo(_, to) => vec![to],
            _ => Vec::new(),
        }
    }

    /// Whether both are the same key of the same state.
    fn is_same_key(self, other: Key) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other) && self.place() == other.place()
            || matches!(
                (self, other),
                (Key::Once(a, _), Key::Resume(b, _)) | (Key::Resume(a, _), Key::Once(b, _)) if a == b
            )
            || matches!(
                (self, other),
                (Key::IgnoresChanges(a), Key::ChangesTo(b, _)) | (Key::ChangesTo(a, _), Key::IgnoresChanges(b)) if a == b
            )
            || self.deletes() && other.deletes()
    }
}

/// All graphs with up to three states, one of each class of isomorphic graphs. The initial state is fixed.
pub fn graphs() -> Vec<Vec<BTreeSet<usize>>> {
    let mut graphs = Vec::new();
    for states in 1..=3 {
        let pairs: Vec<(usize, usize)> = (0..states)
            .flat_map(|from| (0..states).map(move |to| (from, to)))
            .filter(|(from, to)| from != to)
            .collect();
        for chosen in 0..1_usize << pairs.len() {
            let graph = |name: &dyn Fn(usize) -> usize| {
                let mut next = vec![BTreeSet::new(); states];
                for (bit, (from, to)) in pairs.iter().enumerate() {
                    if chosen & (1 << bit) != 0 {
                        next[name(*from)].insert(name(*to));
                    }
                }
                next
            };
            let swapped = graph(&|state| match state {
                1 if states == 3 => 2,
                2 => 1,
                other => other,
            });
            let graph = graph(&|state| state);
            if graph <= swapped {
                graphs.push(graph);
            }
        }
    }
    graphs
}

impl Small {
    /// Every machine with this many keys that a description may have.
    pub fn all(keys: usize) -> Vec<Small> {
        let mut all = Vec::new();
        for next in graphs() {
            let known = Key::all(next.len());
            let mut add = |keys: Vec<Key>| {
                let small = Small {
                    next: next.clone(),
                    keys,
                };
                all.extend(small.is_accepted().then_some(small));
            };
            match keys {
                0 => add(Vec::new()),
                1 => known.iter().for_each(|key| add(vec![*key])),
                _ => {
                    for (at, first) in known.iter().enumerate() {
                        for second in &known[at + 1..] {
                            if !first.is_same_key(*second) {
                                add(vec![*first, *second]);
                            }
                        }
                    }
                }
            }
        }
        all
    }

    /// Every machine that distinguishes changes of a field in one state, and has one other key or none.
    pub fn by_field(with_another: bool) -> Vec<Small> {
        let mut all = Vec::new();
        for next in graphs() {
            let others = Key::all(next.len());
            for key in Key::by_field(next.len()) {
                let may_stand = |other: &&Key| {
                    !(matches!(other, Key::IgnoresChanges(_) | Key::ChangesTo(..))
                        && other.place() == key.place())
                };
                let keys: Vec<Vec<Key>> = if with_another {
                    others
                        .iter()
                        .filter(may_stand)
                        .map(|other| vec![key, *other])
                        .collect()
                } else {
                    vec![vec![key]]
                };
                let smalls = keys.into_iter().map(|keys| Small {
                    next: next.clone(),
                    keys,
                });
                all.extend(smalls.filter(Small::is_accepted));
            }
        }
        all
    }

    fn has(&self, wanted: impl Fn(Key) -> bool) -> bool {
        self.keys.iter().any(|key| wanted(*key))
    }

    fn kind(&self, at: usize) -> StateKind {
        let written = self.keys.iter().find_map(|key| match key {
            Key::Kind(of, kind) if *of == at => Some(*kind),
            _ => None,
        });
        let leads_on =
            !self.next[at].is_empty() || self.has(|key| matches!(key, Key::Timeout(from, _) if from == at));
        match written {
            Some(Kind::Ready) => StateKind::Ready,
            Some(Kind::Failed) => StateKind::Failed,
            Some(Kind::Final) => StateKind::Final,
            None if leads_on => StateKind::Working,
            // An object rests in a state without exits.
            None => StateKind::Ready,
        }
    }

    /// Whether `krator check` reports no error about these keys.
    fn is_accepted(&self) -> bool {
        let at =
            |wanted: fn(Key) -> bool, state: usize| self.has(|key| wanted(key) && key.place() == Some(state));
        let states = 0..self.next.len();
        let sound = states.clone().all(|state| {
            let is_final = self.kind(state) == StateKind::Final;
            let is_once = at(|key| matches!(key, Key::Once(..)), state);
            let waits = at(|key| matches!(key, Key::Poll(_) | Key::Watch(_)), state);
            let only_final = [waits, is_once, !self.next[state].is_empty()];
            let bound = at(
                |key| {
                    matches!(
                        key,
                        Key::Timeout(..) | Key::Retry(..) | Key::Limit(..) | Key::Resume(..) | Key::ChangesTo(..)
                            | Key::IgnoresChanges(_) | Key::ByField(..)
                    )
                },
                state,
            );
            let no_checkpoint = at(|key| matches!(key, Key::NoCheckpoint(_)), state);
            let saved = at(|key| matches!(key, Key::Timeout(..) | Key::Limit(..)), state);
            let from_once = self.keys.iter().any(|key| {
                matches!(key, Key::Once(from, resume) if self.next[*from].contains(&state) || *resume == state)
            });
            let retries = at(|key| matches!(key, Key::Retry(..)), state);
            !(is_final && (only_final.contains(&true) || bound))
                && !(is_once && (waits || retries))
                && !(no_checkpoint
                    && (saved || waits || is_once || from_once || self.kind(state) != StateKind::Working))
        });
        let once = |state: usize| self.has(|key| matches!(key, Key::Once(at, _) if at == state));
        let resumes = self.has(|key| matches!(key, Key::Once(_, to) if once(to)));
        let deletes = self.has(Key::deletes) || !self.has(|key| matches!(key, Key::WaitsOnDelete(_)));
        sound && !resumes && deletes && self.asks_where_it_is_stored() && self.reaches_all()
    }

    /// Whether handlers and timeouts enter states of limits only from states that are stored and whose handlers run
    /// again.
    fn asks_where_it_is_stored(&self) -> bool {
        self.keys.iter().all(|key| match *key {
            Key::Once(at, _) | Key::NoCheckpoint(at) => !self.has(|other| match other {
                Key::Limited(to) => {
                    to != at && (self.next[at].contains(&to) || self.has(|key| key == Key::Timeout(at, to)))
                }
                _ => false,
            }),
            _ => true,
        })
    }

    fn reaches_all(&self) -> bool {
        let keys = |state: usize| self.keys.iter().filter(move |key| key.place() == Some(state));
        let reached = self.reached_from(0, |state| keys(state).flat_map(|key| key.leads_to()).collect());
        reached.len() == self.next.len()
    }

    /// Whether handlers can lead an object back into a state from the target of its limit.
    pub fn has_way_back(&self) -> bool {
        self.has(|key| match key {
            Key::Limit(at, then) => self.reached_from(then, |_| Vec::new()).contains(&at),
            _ => false,
        })
    }

    /// The states that can be reached by `next` and by other edges, which are given by their source.
    fn reached_from(&self, start: usize, others: impl Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::from([start]);
        let mut queue = vec![start];
        while let Some(state) = queue.pop() {
            for to in self.next[state].iter().copied().chain(others(state)) {
                if reached.insert(to) {
                    queue.push(to);
                }
            }
        }
        reached
    }

    /// The graph. Its parts are leaked, which is acceptable because the process runs only briefly.
    pub fn graph(&self) -> Graph<'static> {
        const NAMES: [&str; 4] = ["A", "B", "C", "Leave"];
        let mut policies: Vec<Policy<'static>> = (0..self.next.len())
            .map(|at| {
                let next: Vec<StateId> = self.next[at].iter().map(|to| id(*to)).collect();
                let mut policy = Policy::new(NAMES[at]).kind(self.kind(at)).next(next.leak());
                let is_once = self.has(|key| matches!(key, Key::Once(of, _) if of == at));
                if matches!(self.kind(at), StateKind::Ready | StateKind::Failed) && !is_once {
                    policy = policy.watch(&[Watch::Owned, Watch::Watched]);
                }
                let keys = self.keys.iter().filter(|key| key.place() == Some(at));
                keys.fold(policy, |policy, key| match *key {
                    Key::Poll(_) => policy.poll(Duration::from_secs(10)),
                    Key::Watch(_) => policy.watch(&[Watch::Owned]),
                    Key::Timeout(_, to) => policy.timeout(Duration::from_secs(60), id(to)),
                    Key::Retry(_, to) => policy.retry(Retry::DEFAULT.limit(1, id(to))),
                    Key::Limit(_, to) => policy.limit(1, id(to)),
                    Key::Once(_, to) => policy.once().resume(id(to)),
                    Key::Resume(_, to) => policy.resume(id(to)),
                    Key::IgnoresChanges(_) => policy.on_spec_change(OnSpecChange::Ignore),
                    Key::ChangesTo(_, to) => policy.on_spec_change(OnSpecChange::To(id(to))),
                    Key::ByField(_, of, rest) => {
                        let change = SpecChange {
                            of: &[".spec.field"],
                            does: of.as_policy(),
                        };
                        policy
                            .on_spec_change_of(vec![change].leak())
                            .on_spec_change(rest.as_policy())
                    }
                    Key::NoCheckpoint(_) => policy.no_checkpoint(),
                    Key::Conditions(_) => policy.conditions(&[("Fed", "True")]),
                    Key::WaitsOnDelete(_) => policy.on_delete(OnDelete::Wait),
                    Key::NotWritten(_) => policy.handler("", false),
                    Key::Kind(..) | Key::Deletion | Key::Cleanup(_) | Key::Limited(_) => policy,
                })
            })
            .collect();
        let deletion = self.has(Key::deletes).then(|| id(policies.len()));
        if let Some(Key::Cleanup(written)) = self.keys.iter().find(|key| matches!(key, Key::Cleanup(_))) {
            let next = [id(policies.len() + 1)];
            let cleanup = Policy::new("Clean").next(Vec::from(next).leak()).deletion_path();
            policies.push(cleanup.handler("", *written));
        }
        if deletion.is_some() {
            policies.push(Policy::new("Leave").kind(StateKind::Final).deletion_path());
        }
        let limits = self.keys.iter().filter_map(|key| match *key {
            Key::Limited(at) => Some(Limit::new(NAMES[at], vec![id(at)].leak(), 1)),
            _ => None,
        });
        let limits: Vec<Limit<'static>> = limits.collect();
        Graph::new(policies.leak(), id(0), deletion, "example.com/things").limits(limits.leak())
    }
}
