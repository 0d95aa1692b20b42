//! The machine of a kind, in the form of the runtime's engine. Generated code has the same graph as constants, so
//! decisions on this graph are those of an operator.

mod digests;
mod fields;

pub use digests::{Digests, digested_fields, spec_schema};
pub use fields::{field_values, fields, values_at};

use fields::fields_of;
use krator_machine::graph::{self as rt, Graph, Limit, Objective, Policy, Watch};
use std::collections::BTreeMap;

use crate::finding::Spanned;
use crate::model::{
    Effects, FieldPath, Kind, ObjectKind, OnSpecChange, Period, Ready, Recurrence, Retry, RetryLimit, State,
    StateId, StateKind, TextSource, Times, WatchSource, When, Window,
};

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

/// The numbers of the states and of the fields of a kind.
struct Numbers<'k> {
    states: BTreeMap<StateId, rt::StateId>,
    fields: Vec<&'k FieldPath>,
}

impl<'k> Numbers<'k> {
    fn of(kind: &'k Kind) -> Self {
        // The size of a description limits it to fewer states.
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

/// Data of a state's policy that the model has in another form.
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
            // Generated code has constants for the names of kinds.
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

/// Calls a function with the graph of a kind whose description has no errors. The policies of its states name no files,
/// and mark all handlers as written, because the description does not contain this. A kind that a state waits for by
/// its name becomes a source of all owned or all watched objects.
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
    does(
        &graph
            .conditions(&conditions)
            .objectives(&objectives)
            .limits(&limits),
    )
}

fn policy<'a>(
    kind: &'a Kind,
    state: &'a State,
    numbers: &Numbers<'_>,
    owned: &'a Owned<'_>,
    changes: &'a [rt::SpecChange<'a>],
) -> Policy<'a> {
    // All fields of a state are named, so that a new field does not compile until it is handled here, and all are
    // bound, so that the compiler warns of unused ones.
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
        // These are lists, which are converted elsewhere.
        renamed_from: _,
        next: _,
        on_spec_change_of: _,
        conditions: _,
        standard_conditions: _,
        // Documentation, or settings for krator itself.
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
    if let Some(Window { starts, duration }) = gate.as_ref().and_then(|gate| gate.during.as_ref()) {
        let window = rt::Window::new(numbers.recurrence(starts), numbers.period(&duration.value));
        policy = policy.during(window);
    }
    if state.needs_approval() {
        policy = policy.needs_approval();
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
        // By default the retries of a final state are limited, so unlimited retries are expressed by the largest
        // number.
        (RetryLimit::Unlimited, _) if of == StateKind::Final => backoff.at_most(u32::MAX),
        (RetryLimit::Unlimited, _) => backoff,
    }
}
