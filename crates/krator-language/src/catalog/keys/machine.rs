//! The machine and its states.

use super::Type::{
    Boolean, Duration, Either, Integer, Kind, List, Map, Mapping, Name, Number, Path, State, String, Word,
};
use super::{NameOf, Type, optional, required, section};
use crate::names::{NamePattern, ResourceName, StateName};

/// A number of retries or entries.
const AT_LEAST_0: Type = Integer {
    min: 0,
    max: i32::MAX as i64,
};
const AT_LEAST_1: Type = Integer {
    min: 1,
    max: i32::MAX as i64,
};

/// The reactions to a change.
const REACTIONS: [Type; 2] = [Word(&["wake", "ignore"]), State];

/// The reactions to a change of the spec, as a whole or by field.
const ON_SPEC_CHANGE: Type = Either(&[
    REACTIONS[0],
    REACTIONS[1],
    List {
        of: &Either(&[REACTIONS[0], REACTIONS[1], Mapping(&SPEC_CHANGE)]),
        min: 1,
        max: None,
    },
]);

section! {
    /// The mapping under `machine`.
    MachineKey in MACHINE, "`machine`":
    Initial = required("initial", State,
        "The state of a new object.",
        "machine: {initial: Tagged}");
    Deletion = optional("deletion", State,
        "The state that a deleted object goes to, from every state. A finalizer holds the object until a `final` state has ended.",
        "machine: {deletion: Released}\nstates: {Released: {kind: final}}")
        .default("none: objects have no finalizer");
    Retry = optional("retry", Mapping(&RETRY),
        "What happens after a handler's error.",
        "machine: {retry: {limit: 5, then: Lost}}");
    OnSpecChange = optional("onSpecChange", ON_SPEC_CHANGE,
        "What a change of `.spec` does: run the handler of the current state again, nothing, or go to a state. In a list, the first entry with a changed field decides; an entry without `of` stands last and is for all other changes, by default `wake`.",
        "machine: {onSpecChange: [{of: .spec.height, to: Tagged}, wake]}")
        .default("`wake`");
    OnDelete = optional("onDelete", Word(&["interrupt", "wait"]),
        "Whether deletion interrupts a running handler or waits for its end.",
        "machine: {onDelete: wait}")
        .default("`interrupt`");
}

section! {
    /// A state.
    StateKey in STATE, "a state":
    Doc = optional("doc", String,
        "What happens in the state.",
        "states: {Roam: {doc: Wanders the wilderness.}}");
    Phase = optional("phase", String,
        "What `.status.phase` shows; several states may share a phase. Only kinds with a state that has one have that field.",
        "states: {Roam: {phase: Roaming}}")
        .default("the name of the state");
    Message = optional("message", String,
        "The value of `.status.message` on entry; the handler may replace it.",
        "states: {Roam: {message: Gahrooo!}}")
        .default("empty");
    Kind = optional("kind", Word(&["working", "ready", "failed", "final"]),
        "The kind of the state, which gives the conditions Ready, Reconciling and Stalled.",
        "states: {Lost: {kind: failed}}")
        .default("`working`");
    Next = optional("next", List { of: &Either(&[State, Mapping(&EDGE)]), min: 0, max: None },
        "The states that the handler may choose.",
        "states: {Tagged: {next: [Roam, {to: Lost, when: no signal}]}}");
    Wait = optional("wait", Mapping(&WAIT),
        "The handler may stay in the state; it runs again after a time, and when something changes.",
        "states: {Roam: {wait: {poll: 30s}}}")
        .default("`{}` in `ready` and `failed` states, others may not stay");
    Timeout = optional("timeout", Mapping(&TIMEOUT),
        "Where time leads. It is measured from the entry, so a restart of the operator does not reset it.",
        "states: {Roam: {timeout: {after: 1h, to: Lost}}}");
    Retry = optional("retry", Mapping(&RETRY),
        "What happens after an error of this state's handler; overrides the machine's keys one by one.",
        "states: {Roam: {retry: {max: 1m}}}")
        .default("the machine's");
    OnSpecChange = optional("onSpecChange", ON_SPEC_CHANGE,
        "What a change of `.spec` does in this state; its own name enters it anew. A list replaces that of the machine.",
        "states: {Roam: {onSpecChange: Roam}}")
        .default("the machine's");
    OnDelete = optional("onDelete", Either(&[Word(&["interrupt", "wait"]), State]),
        "What deletion does in this state; a state is where the object then goes.",
        "machine: {deletion: Released}\nstates: {Roam: {onDelete: Caught}, Caught: {next: [Released]}, Released: {kind: final}}")
        .default("the machine's");
    Effects = optional("effects", Word(&["idempotent", "once"]),
        "With `idempotent`, the handler may run again after a crash, an error or a wake. With `once`, it runs at most once per entry: it cannot `wait`, `retry` does not apply, and after a crash or an error the object goes to `resume`.",
        "states: {Tagged: {effects: once, resume: Roam}}")
        .default("`idempotent`");
    Resume = optional("resume", State,
        "Where an object goes that a restarted operator finds in this state; required with `effects: once`.",
        "states: {Tagged: {effects: once, resume: Roam}}")
        .default("this state");
    Limit = optional("limit", Mapping(&LIMIT),
        "How often the state may be entered since its own `next` last led to a `ready` state, or since the spec changed.",
        "states: {Roam: {limit: {times: 3, then: Lost}}}");
    Gate = optional("gate", Mapping(&GATE),
        "When objects may enter the state. An object whose handler or timeout chooses this state waits in its former state, whose handler keeps running; deletions, changes of the spec, failures and limits do not wait.",
        "states: {Tagged: {gate: {during: {schedule: 0 22 * * MON-FRI, duration: 6h}}}}");
    Conditions = optional("conditions", Map { by: NameOf::Condition, of: &Either(&[Word(&["True", "False", "Unknown"]), Word(&["keep"])]) },
        "Conditions that are set on entry. They start as Unknown, and stay until another state or a handler sets them. `Ready: keep` leaves Ready as it was.",
        "states: {Roam: {conditions: {Fed: \"False\", Ready: keep}}}");
    Checkpoint = optional("checkpoint", Boolean,
        "Whether `.status` is written before the handler runs. `false` is for `working` states without `wait`, `timeout`, `limit` and `once` that are not entered from a `once` state.",
        "states: {Tagged: {checkpoint: false}}")
        .default("`true`");
    RenamedFrom = optional("renamedFrom", Either(&[Name(StateName::PATTERN), List { of: &Name(StateName::PATTERN), min: 0, max: None }]),
        "Earlier names of the state: stored objects resume here.",
        "states: {Roam: {renamedFrom: Wander}}");
    Legacy = optional("legacy", Boolean,
        "No object enters the state, but stored objects may still be in it.",
        "states: {Grazing: {legacy: true, next: [Roam]}}")
        .default("`false`");
    Group = optional("group", String,
        "The cluster of the state in diagrams.",
        "states: {Roam: {group: Wilderness}}");
    Allow = optional("allow", Map { by: NameOf::Rule, of: &String },
        "Silences warnings and infos on this state. The value is the reason.",
        "states: {Lost: {allow: {no-timeout: A collar may be silent for years.}}}");
}

section! {
    /// An edge of `next` that has a label.
    EdgeKey in EDGE, "an edge":
    To = required("to", State,
        "The state that the edge leads to.",
        "states: {Tagged: {next: [{to: Roam, when: awake}]}}");
    When = optional("when", String,
        "The label of the edge in diagrams.",
        "states: {Tagged: {next: [{to: Roam, when: awake}]}}");
}

section! {
    /// An entry of `onSpecChange` for some fields.
    SpecChangeKey in SPEC_CHANGE, "a change of the spec":
    Of = required("of", Either(&[Path, List { of: &Path, min: 1, max: None }]),
        "The fields, each below `.spec`. That of an object or a list covers everything in it; single items of a list cannot be named.",
        "states: {Roam: {onSpecChange: [{of: [.spec.height, .spec.replicas], to: Tagged}]}}");
    To = required("to", Either(&REACTIONS),
        "What a change of one of them does.",
        "states: {Roam: {onSpecChange: [{of: .spec.replicas, to: ignore}, Tagged]}}");
}

/// The sources that a state may watch.
const WATCHED: Type = Either(&[Word(&["self", "owned", "watched"]), Kind]);

section! {
    /// The mapping under `wait`.
    WaitKey in WAIT, "`wait`":
    Poll = optional("poll", Either(&[Duration, Path]),
        "The time after a run until the handler runs again. A field of type `duration`, `integer` (seconds) or `date-time` may hold it.",
        "states: {Roam: {wait: {poll: 30s}}}");
    Watch = optional("watch", Either(&[WATCHED, List { of: &WATCHED, min: 0, max: None }]),
        "What wakes the handler: `self` (labels, annotations, or status written by others), all of `owns`, all of `watches`, or one of their kinds.",
        "states: {Roam: {wait: {watch: self}}}")
        .default("`[owned, watched]`");
}

section! {
    /// The mapping under `timeout`.
    TimeoutKey in TIMEOUT, "a timeout":
    After = optional("after", Either(&[Duration, Path]),
        "The time after the entry. A field of type `duration`, `integer` (seconds) or `date-time` may hold it.",
        "states: {Roam: {timeout: {after: .spec.patience, to: Lost}}}");
    At = optional("at", Mapping(&SLOTS),
        "The schedule whose first start after the entry leads on, in place of `after`. Of the starts that were missed, the latest one is made up for.",
        "states: {Roam: {timeout: {at: {schedule: 0 3 * * *}, to: Tagged}}}");
    To = required("to", State,
        "The state that the object then goes to.",
        "states: {Roam: {timeout: {after: 1h, to: Lost}}}");
}

section! {
    /// The mapping under `limit`.
    LimitKey in LIMIT, "a limit":
    Times = required("times", Either(&[AT_LEAST_1, Path]),
        "How many entries are allowed. An integer field may hold the number: 0 is none, and an absent or negative one is without limit.",
        "states: {Roam: {limit: {times: 3, then: Lost}}}");
    Then = required("then", State,
        "The state that the object goes to instead of one entry more.",
        "states: {Roam: {limit: {times: 3, then: Lost}}}");
}

section! {
    /// The mapping under `gate`.
    GateKey in GATE, "a gate":
    During = optional("during", Mapping(&WINDOW),
        "The times in which objects may enter the state. What they do there may end later.",
        "states: {Tagged: {gate: {during: {schedule: 0 22 * * MON-FRI, duration: 6h}}}}")
        .default("at any time");
    Approval = optional("approval", Word(&["required"]),
        "`required`: each entry has to be approved, with `krator approve`. A policy requires the verb `approve` on the resource.",
        "states: {Tagged: {gate: {approval: required}}}")
        .default("not required");
}

/// Five fields of cron.
const SCHEDULE: NamePattern = NamePattern {
    expected: "a schedule of five fields",
    pattern: r"^\s*[0-9A-Za-z*/,#-]+(\s+[0-9A-Za-z*/,#-]+){4}\s*$",
    is: |text| krator_machine::Schedule::parse(text, "UTC").is_ok(),
};

/// The name of a time zone.
const TIME_ZONE: NamePattern = NamePattern {
    expected: "a time zone of IANA",
    pattern: "^[A-Za-z0-9][A-Za-z0-9+/_-]*$",
    is: |text| krator_machine::Schedule::parse("* * * * *", text).is_ok(),
};

section! {
    /// The mapping under `during`.
    WindowKey in WINDOW, "a window":
    Schedule = required("schedule", Either(&[Name(SCHEDULE), Path]),
        "When the window opens: minute, hour, day of the month, month and day of the week, as cron has them. A string field may hold it; without a value there, objects do not wait.",
        "states: {Tagged: {gate: {during: {schedule: 0 22 * * MON-FRI, duration: 6h}}}}");
    Duration = required("duration", Either(&[Duration, Path]),
        "How long it is open. A field of type `duration` or `integer` (seconds) may hold it.",
        "states: {Tagged: {gate: {during: {schedule: 30 1 * * *, duration: 90m}}}}");
    TimeZone = optional("timeZone", Either(&[Name(TIME_ZONE), Path]),
        "The time zone of the schedule. A string field may hold it.",
        "states: {Tagged: {gate: {during: {schedule: 0 22 * * *, duration: 6h, timeZone: Europe/Berlin}}}}")
        .default("`UTC`");
}

section! {
    /// The mapping under `at`.
    SlotsKey in SLOTS, "a schedule":
    Schedule = required("schedule", Either(&[Name(SCHEDULE), Path]),
        "When it starts, as for `gate`. A string field may hold it; without a value there, it never does.",
        "states: {Roam: {timeout: {at: {schedule: 0 3 * * *}, to: Tagged}}}");
    TimeZone = optional("timeZone", Either(&[Name(TIME_ZONE), Path]),
        "The time zone of the schedule. A string field may hold it.",
        "states: {Roam: {timeout: {at: {schedule: 0 3 * * *, timeZone: Europe/Oslo}, to: Tagged}}}")
        .default("`UTC`");
    StartingDeadline = optional("startingDeadline", Either(&[Duration, Path]),
        "How late a start is still made up for, after a pause or behind a gate.",
        "states: {Roam: {timeout: {at: {schedule: 0 3 * * *, startingDeadline: 1h}, to: Tagged}}}")
        .default("any time");
}

section! {
    /// The mapping under `retry`.
    RetryKey in RETRY, "a retry policy":
    Limit = optional("limit", Either(&[AT_LEAST_0, Word(&["unlimited"])]),
        "How often a failed handler is run again. A number needs `then`.",
        "machine: {retry: {limit: 5, then: Lost}}")
        .default("`unlimited`, 5 in `final` states");
    Initial = optional("initial", Duration,
        "The first delay. Delays are jittered.",
        "machine: {retry: {initial: 500ms}}")
        .default("`1s`");
    Factor = optional("factor", Number(Some((1.0, 1000.0))),
        "What each delay is multiplied by for the next one.",
        "machine: {retry: {factor: 1.5}}")
        .default("2");
    Max = optional("max", Duration,
        "The longest delay.",
        "machine: {retry: {max: 1m}}")
        .default("`5m`, or `initial` where it is longer");
    Then = optional("then", State,
        "The state that the object goes to past the limit.",
        "machine: {retry: {limit: 5, then: Lost}}");
}

section! {
    /// An item of `limits`.
    PlacesKey in PLACES, "a limit":
    Name = required("name", Name(ResourceName::PATTERN),
        "The name of the limit, by which `--limit` of the operator gives another number.",
        "limits: [{name: hungry, states: [Roam], atMost: 3}]");
    States = required("states", List { of: &State, min: 1, max: None },
        "The states. An object that goes from one of them to another one keeps its place.",
        "limits: [{name: hungry, states: [Roam, Lost], atMost: 3}]");
    AtMost = required("atMost", Integer { min: 1, max: 4_294_967_295 },
        "How many objects may be in these states.",
        "limits: [{name: hungry, states: [Roam], atMost: 3}]");
    Per = optional("per", Path,
        "A string field of the spec, or `.metadata.namespace`: the objects with each of its values are counted apart.",
        "limits: [{name: herd, states: [Roam], atMost: 1, per: .metadata.namespace}]");
}

section! {
    /// The mapping under `slo`.
    ObjectiveKey in OBJECTIVE, "an objective":
    From = required("from", State,
        "The clock starts when an object enters this state, unless it runs already.",
        "slo: {from: Tagged, to: Roam, within: 5m, objective: 99}");
    To = required("to", State,
        "The clock stops when the object enters this state.",
        "slo: {from: Tagged, to: Roam, within: 5m, objective: 99}");
    Within = required("within", Duration,
        "The time that an object may take. A deletion ends the measurement without a result.",
        "slo: {from: Tagged, to: Roam, within: 5m, objective: 99}");
    Objective = required("objective", Number(Some((0.001, 99.999))),
        "The percentage of objects that are to make it in time.",
        "slo: {from: Tagged, to: Roam, within: 5m, objective: 99.9}");
}

/// One state, several, or all of them.
const STATES: Type = Either(&[
    Word(&["*"]),
    State,
    List {
        of: &State,
        min: 1,
        max: None,
    },
]);

/// Two states.
const ARROW: NamePattern = NamePattern {
    expected: "`A -> B`, where A and B are states",
    pattern: "->",
    is: |text| text.contains("->"),
};

section! {
    /// An item of `properties`. It has one of `canReach`, `never`, `only` and `leadsTo`.
    PropertyKey in PROPERTY, "a property":
    CanReach = optional("canReach", State,
        "There is a path from each state of `from` to this one.",
        "properties: [{from: [Tagged], canReach: Lost}]");
    Never = optional("never", Name(ARROW),
        "There is no path from the first state to the second.",
        "properties: [{never: Lost -> Tagged}]");
    Only = optional("only", State,
        "Every path from `initial` to this state passes the state of `through`.",
        "properties: [{only: Roam, through: Tagged}]");
    LeadsTo = optional("leadsTo", State,
        "Every path from each state of `from` ends up in this one: it does not escape into a cycle or an end.",
        "properties: [{from: Tagged, leadsTo: Roam}]");
    From = optional("from", STATES,
        "The states that `canReach` and `leadsTo` start from; required with them.",
        "properties: [{from: \"*\", canReach: Lost}]");
    Through = optional("through", State,
        "The state that every path passes; required with `only`.",
        "properties: [{only: Roam, through: Tagged}]");
    SpecChanges = optional("specChanges", Boolean,
        "Whether paths may lead along edges of `onSpecChange`.",
        "properties: [{never: Lost -> Tagged, specChanges: true}]")
        .default("`true` for `canReach`, `false` for the others");
}
