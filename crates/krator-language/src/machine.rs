//! The machine of a kind, as the engine of the runtime reads it. Generated code has the same graph as constants, so whoever asks this
//! one is told what an operator decides.

use krator_machine::FieldValue;
use krator_machine::graph::{self as rt, Graph, Limit, Objective, Policy, Watch};
use krator_machine::nearest;
use serde_json::Value as Json;
use std::collections::BTreeMap;

use crate::finding::Spanned;
use crate::model::{
    Effects, FieldPath, Kind, MomentUnit, ObjectKind, OnSpecChange, PathRoot, Period, Ready, Recurrence,
    Retry, RetryLimit, Segment, State, StateId, StateKind, TextSource, Times, WatchSource, When, Window,
};

/// A field that times, limits or gates are read from.
#[derive(Debug, Clone, Copy)]
struct Field<'k> {
    path: &'k FieldPath,
    holds: Holds,
}

/// What is read from a field.
#[derive(Debug, Clone, Copy)]
enum Holds {
    /// A time, written so.
    Moment(MomentUnit),
    Number,
    Text,
}

/// The states of a kind in the order of their numbers.
pub fn states(kind: &Kind) -> Vec<&State> {
    in_order(kind).into_iter().map(|(_, state)| state).collect()
}

fn in_order(kind: &Kind) -> Vec<(StateId, &State)> {
    let mut states: Vec<_> = kind.state_ids().collect();
    states.sort_by_key(|(_, state)| state.name.as_str());
    states
}

/// The finalizer of the objects of a kind, and the label of their children that have no owner reference.
pub fn finalizer(kind: &Kind) -> String {
    format!("{}/{}", kind.resource.group.value, kind.resource.plural.value)
}

/// The fields that times, limits and gates are read from, in the order of their numbers, and whether that is a text.
pub fn fields(kind: &Kind) -> Vec<(&FieldPath, bool)> {
    let fields = fields_of(kind).into_iter();
    fields
        .map(|field| (field.path, matches!(field.holds, Holds::Text)))
        .collect()
}

fn fields_of<'a>(kind: &'a Kind) -> Vec<Field<'a>> {
    let mut fields: Vec<Field<'a>> = Vec::new();
    let limits = kind.limits.iter().filter_map(|limit| limit.per.as_ref());
    let mut add = |field: Field<'a>| {
        if fields.iter().all(|known| known.path != field.path) {
            fields.push(field);
        }
    };
    for state in states(kind) {
        let poll = state.wait.as_ref().and_then(|wait| wait.poll.as_ref());
        let (after, slots) = match state.timeout.as_ref().map(|timeout| &timeout.when) {
            Some(When::After(after)) => (Some(after), None),
            Some(When::At(starts, deadline)) => (deadline.as_ref(), Some(starts)),
            None => (None, None),
        };
        let window = state.gate.as_ref().map(|gate| &gate.during);
        let periods = poll
            .into_iter()
            .chain(after)
            .chain(window.map(|window| &window.duration))
            .filter_map(|period| match &period.value {
                Period::Field(field) => Some(Field {
                    path: &field.path,
                    holds: Holds::Moment(field.unit),
                }),
                Period::Fixed(_) => None,
            });
        let times = state.limit.as_ref().and_then(|limit| match &limit.times.value {
            Times::Field(path) => Some(Field {
                path,
                holds: Holds::Number,
            }),
            Times::Number(_) => None,
        });
        let texts = slots
            .into_iter()
            .chain(window.map(|window| &window.starts))
            .flat_map(Recurrence::texts)
            .filter_map(|text| match &text.value {
                TextSource::Field(path) => Some(Field {
                    path,
                    holds: Holds::Text,
                }),
                TextSource::Fixed(_) => None,
            });
        periods.chain(times).chain(texts).for_each(&mut add);
    }
    limits.for_each(|path| {
        add(Field {
            path: &path.value,
            holds: Holds::Text,
        });
    });
    fields
}

/// The values at a path of an object. A path leads to several where it leads through lists.
pub fn values_at<'a>(object: &'a Json, path: &FieldPath) -> Vec<&'a Json> {
    let root = match &path.root {
        PathRoot::Spec => &object["spec"],
        PathRoot::Status => &object["status"],
        PathRoot::Metadata => &object["metadata"],
        PathRoot::Label(key) => return object["metadata"]["labels"].get(key).into_iter().collect(),
    };
    let step = |values: Vec<&'a Json>, segment: &Segment| -> Vec<&'a Json> {
        let below = |value: &'a Json| -> Vec<&'a Json> {
            let items = || value.as_array().into_iter().flatten();
            match segment {
                Segment::Field(name) => value.get(name).into_iter().collect(),
                Segment::Each => items().collect(),
                Segment::Where { field, value } => items().filter(|item| item[field] == **value).collect(),
            }
        };
        values.into_iter().flat_map(below).collect()
    };
    path.segments.iter().fold(vec![root], step)
}

/// The values of these fields in an object, as an operator reads them from its type.
pub fn field_values(kind: &Kind, object: &Json) -> Vec<Option<FieldValue>> {
    fields_of(kind)
        .into_iter()
        .map(|field| field.value(object))
        .collect()
}

impl Field<'_> {
    fn value(&self, object: &Json) -> Option<FieldValue> {
        let value = values_at(object, self.path).into_iter().next()?;
        match self.holds {
            Holds::Text => match value.as_str()? {
                "" => None,
                text => Some(FieldValue::Text(text.into())),
            },
            Holds::Moment(MomentUnit::Instant) => nearest::time(value.as_str()?).map(FieldValue::At),
            Holds::Moment(MomentUnit::Duration) => {
                let duration = nearest::duration(value.as_str()?)?;
                (!duration.is_zero()).then_some(FieldValue::For(duration))
            }
            Holds::Moment(MomentUnit::Seconds) | Holds::Number => {
                u32::try_from(value.as_i64()?).ok().map(FieldValue::Number)
            }
        }
    }
}

/// The numbers of the states and of the fields of a kind.
struct Numbers<'k> {
    states: BTreeMap<StateId, rt::StateId>,
    fields: Vec<&'k FieldPath>,
}

impl<'k> Numbers<'k> {
    fn of(kind: &'k Kind) -> Self {
        // The text of a description is far too short for more states.
        let ids = in_order(kind).into_iter().zip(0..u16::MAX);
        Self {
            states: ids.map(|((id, _), number)| (id, rt::StateId(number))).collect(),
            fields: fields_of(kind).into_iter().map(|field| field.path).collect(),
        }
    }

    fn state(&self, state: &Spanned<StateId>) -> rt::StateId {
        self.states[&state.value]
    }

    fn field(&self, path: &FieldPath) -> u16 {
        let at = self.fields.iter().position(|known| *known == path);
        at.and_then(|at| u16::try_from(at).ok()).unwrap_or_default()
    }

    fn text<'a>(&self, text: &'a TextSource) -> rt::Text<'a> {
        match text {
            TextSource::Fixed(text) => rt::Text::Fixed(text),
            TextSource::Field(path) => rt::Text::FromField(self.field(path)),
        }
    }

    fn recurrence<'a>(&self, starts: &'a Recurrence) -> rt::Recurrence<'a> {
        let recurrence = rt::Recurrence::new(self.text(&starts.schedule.value));
        match &starts.time_zone {
            Some(zone) => recurrence.time_zone(self.text(&zone.value)),
            None => recurrence,
        }
    }

    fn period(&self, period: &Period) -> rt::Period {
        match period {
            Period::Fixed(time) => rt::Period::Fixed(*time),
            Period::Field(field) => rt::Period::FromField(self.field(&field.path)),
        }
    }

    fn reaction(&self, does: OnSpecChange) -> rt::OnSpecChange {
        match does {
            OnSpecChange::Wake => rt::OnSpecChange::Wake,
            OnSpecChange::Ignore => rt::OnSpecChange::Ignore,
            OnSpecChange::Enter(to) => rt::OnSpecChange::To(self.states[&to]),
        }
    }
}

/// What the policy of a state refers to and the model has in another form.
struct Owned<'k> {
    names: Vec<&'k str>,
    next: Vec<rt::StateId>,
    watch: Vec<Watch>,
    paths: Vec<Vec<String>>,
    conditions: Vec<(&'k str, &'k str)>,
}

impl<'k> Owned<'k> {
    fn of(kind: &'k Kind, state: &'k State, numbers: &Numbers<'_>) -> Self {
        let sources = state.wait.iter().flat_map(|wait| &wait.watch);
        let is_owned = |named: &ObjectKind| kind.owns.iter().any(|owned| owned.kind.value == *named);
        let watch = sources.map(|source| match &source.value {
            WatchSource::Itself => Watch::Itself,
            WatchSource::Owned => Watch::Owned,
            WatchSource::Watched => Watch::Watched,
            // The names of kinds are constants of generated code.
            WatchSource::Kind(named) if is_owned(named) => Watch::Owned,
            WatchSource::Kind(_) => Watch::Watched,
        });
        let texts = |of: &[Spanned<FieldPath>]| of.iter().map(|path| path.value.to_string()).collect();
        let keep = (state.standard_conditions.ready == Ready::Keep).then_some(("Ready", "keep"));
        let set = state.conditions.iter();
        let set = set.map(|set| (set.name.value.as_str(), set.status.value.as_str()));
        Self {
            names: state.renamed_from.iter().map(|name| name.as_str()).collect(),
            next: state.next.iter().map(|next| numbers.state(&next.to)).collect(),
            watch: watch.collect(),
            paths: state
                .on_spec_change_of
                .iter()
                .map(|change| texts(&change.of))
                .collect(),
            conditions: keep.into_iter().chain(set).collect(),
        }
    }
}

/// Does something with the graph of a kind whose description has no errors. The policies of its states name no files, and say that
/// all handlers are written: whether they are is in another place than the description. A kind that a state waits for by its name is
/// one of those that are owned or watched.
pub fn with_graph<T>(kind: &Kind, does: impl FnOnce(&Graph<'_>) -> T) -> T {
    let numbers = Numbers::of(kind);
    let states = states(kind);
    let owned: Vec<_> = states
        .iter()
        .map(|state| Owned::of(kind, state, &numbers))
        .collect();
    let paths: Vec<Vec<Vec<&str>>> = owned
        .iter()
        .map(|owned| {
            let paths = owned.paths.iter();
            paths
                .map(|paths| paths.iter().map(String::as_str).collect())
                .collect()
        })
        .collect();
    let changes: Vec<Vec<_>> = states
        .iter()
        .zip(&paths)
        .map(|(state, paths)| {
            let changes = paths.iter().zip(&state.on_spec_change_of);
            changes
                .map(|(of, change)| rt::SpecChange {
                    of,
                    does: numbers.reaction(change.does.value),
                })
                .collect()
        })
        .collect();
    let parts = states.iter().zip(&owned).zip(&changes);
    let policies: Vec<_> = parts
        .map(|((state, owned), changes)| policy(kind, state, &numbers, owned, changes))
        .collect();
    let mut conditions: Vec<&str> = kind
        .conditions
        .iter()
        .map(|condition| condition.name.as_str())
        .collect();
    conditions.sort_unstable();
    let objectives: Vec<_> = kind
        .objectives
        .iter()
        .map(|it| Objective::new(numbers.state(&it.from), numbers.state(&it.to), it.within.value))
        .collect();
    let counted: Vec<Vec<_>> = kind
        .limits
        .iter()
        .map(|limit| limit.states.iter().map(|state| numbers.state(state)).collect())
        .collect();
    let limits = kind.limits.iter().zip(&counted);
    let limits: Vec<_> = limits
        .map(|(limit, states)| {
            let counts = Limit::new(&limit.name.value, states, limit.at_most.value);
            match &limit.per {
                Some(path) => counts.per_field(numbers.field(&path.value)),
                None => counts,
            }
        })
        .collect();
    let finalizer = finalizer(kind);
    let (initial, deletion) = (&kind.machine.initial, &kind.machine.deletion);
    let deletion = deletion.as_ref().map(|state| numbers.state(state));
    let graph = Graph::new(&policies, numbers.state(initial), deletion, &finalizer);
    let graph = graph.conditions(&conditions).objectives(&objectives);
    does(&graph.limits(&limits))
}

fn policy<'a>(
    kind: &'a Kind,
    state: &'a State,
    numbers: &Numbers<'_>,
    owned: &'a Owned<'_>,
    changes: &'a [rt::SpecChange<'a>],
) -> Policy<'a> {
    // This names every field of a state, so that a new one does not compile until somebody has decided where it belongs, and the
    // fields of the policy are bound, so that the compiler warns of one that is not used.
    let State {
        name,
        phase,
        message,
        kind: meaning,
        wait,
        timeout,
        retry,
        limit,
        gate,
        effects,
        resume,
        on_spec_change,
        on_delete,
        on_deletion_path,
        checkpoint,
        // These are lists.
        renamed_from: _,
        next: _,
        on_spec_change_of: _,
        conditions: _,
        standard_conditions: _,
        // For people, or for krator itself.
        doc: _,
        group: _,
        legacy: _,
        allow: _,
        lacks_edges: _,
    } = state;
    let mut policy = Policy::new(name.as_str())
        .renamed_from(&owned.names)
        .message(message.as_ref().map_or("", |message| message.as_str()))
        .kind(match meaning.value {
            StateKind::Working => rt::StateKind::Working,
            StateKind::Ready => rt::StateKind::Ready,
            StateKind::Failed => rt::StateKind::Failed,
            StateKind::Final => rt::StateKind::Final,
        })
        .next(&owned.next)
        .watch(&owned.watch)
        .on_spec_change_of(changes)
        .on_spec_change(numbers.reaction(on_spec_change.value))
        .conditions(&owned.conditions);
    if let Some(phase) = phase {
        policy = policy.phase(phase.as_str());
    }
    policy = match wait
        .as_ref()
        .and_then(|wait| wait.poll.as_ref())
        .map(|poll| &poll.value)
    {
        Some(Period::Fixed(every)) => policy.poll(*every),
        Some(Period::Field(every)) => policy.poll_from_field(numbers.field(&every.path)),
        None => policy,
    };
    if let Some(timeout) = timeout {
        let to = numbers.state(&timeout.to);
        policy = match &timeout.when {
            When::After(after) => match &after.value {
                Period::Fixed(after) => policy.timeout(*after, to),
                Period::Field(after) => policy.timeout_from_field(numbers.field(&after.path), to),
            },
            When::At(starts, deadline) => {
                let deadline = deadline.as_ref().map(|deadline| numbers.period(&deadline.value));
                policy.timeout_at(numbers.recurrence(starts), deadline, to)
            }
        };
    }
    if let Some(retry) = retry {
        policy = policy.retry(self::retry(numbers, retry, meaning.value));
    }
    if let Some(limit) = limit {
        let then = numbers.state(&limit.then);
        policy = match &limit.times.value {
            Times::Number(times) => policy.limit(*times, then),
            Times::Field(path) => policy.limit_from_field(numbers.field(path), then),
        };
    }
    if let Some(gate) = gate {
        let Window { starts, duration } = &gate.during;
        let window = rt::Window::new(numbers.recurrence(starts), numbers.period(&duration.value));
        policy = policy.during(window);
    }
    if effects.value == Effects::Once {
        policy = policy.once();
    }
    if let Some(resume) = resume {
        policy = policy.resume(numbers.state(resume));
    }
    let deletion = kind.machine.deletion.as_ref().map(|deletion| deletion.value);
    policy = match (on_delete.value.waits, on_delete.value.to) {
        (true, _) => policy.on_delete(rt::OnDelete::Wait),
        (false, Some(to)) if deletion != Some(to) => policy.on_delete(rt::OnDelete::To(numbers.states[&to])),
        (false, _) => policy,
    };
    if *on_deletion_path {
        policy = policy.deletion_path();
    }
    if !checkpoint.value {
        policy = policy.no_checkpoint();
    }
    policy
}

fn retry(numbers: &Numbers<'_>, retry: &Retry, of: StateKind) -> rt::Retry {
    let backoff = rt::Retry::DEFAULT.backoff(retry.initial.value, retry.factor.value, retry.max.value);
    match (retry.limit.value, &retry.then) {
        (RetryLimit::Times(limit), Some(then)) => backoff.limit(limit, numbers.state(then)),
        (RetryLimit::Times(limit), None) => backoff.at_most(limit),
        // By default the retries of a final state are limited, so "no limit" is written as the largest one.
        (RetryLimit::Unlimited, _) if of == StateKind::Final => backoff.at_most(u32::MAX),
        (RetryLimit::Unlimited, _) => backoff,
    }
}
