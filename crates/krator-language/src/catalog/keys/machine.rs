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
        "The state that a deleted object enters, from every state. A finalizer keeps the object until the handler of a \
         `final` state is done.",
        "machine: {deletion: Released}\nstates: {Released: {kind: final}}")
        .default("none: objects have no finalizer");
    Retry = optional("retry", Mapping(&RETRY),
        "The retries after an error of a handler.",
        "machine: {retry: {limit: 5, then: Lost}}");
    OnSpecChange = optional("onSpecChange", ON_SPEC_CHANGE,
        "The reaction to a change of `.spec`: `wake` runs the handler of the current state again, `ignore` does \
         nothing, and the name of a state enters that state. In a list, the first entry with a changed field decides; \
         an entry without `of` is the last one and is for all other changes, by default `wake`.",
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
        "A description of what happens in the state.",
        "states: {Roam: {doc: Wanders the wilderness.}}");
    Phase = optional("phase", String,
        "The value of `.status.phase`; several states may share a phase. The field exists only if a state of the kind \
         has a `phase`.",
        "states: {Roam: {phase: Roaming}}")
        .default("the name of the state");
    Message = optional("message", String,
        "The value of `.status.message` on entry; the handler may replace it.",
        "states: {Roam: {message: Gahrooo!}}")
        .default("empty");
    Kind = optional("kind", Word(&["working", "ready", "failed", "final"]),
        "The kind of the state, which determines the conditions Ready, Reconciling and Stalled.",
        "states: {Lost: {kind: failed}}")
        .default("`working`");
    Next = optional("next", List { of: &Either(&[State, Mapping(&EDGE)]), min: 0, max: None },
        "The states that the handler may choose.",
        "states: {Tagged: {next: [Roam, {to: Lost, when: no signal}]}}");
    Wait = optional("wait", Mapping(&WAIT),
        "Allows the handler to stay in the state. It runs again after the time `poll`, and after changes of the \
         objects in `watch`.",
        "states: {Roam: {wait: {poll: 30s}}}")
        .default("`{}` in `ready` and `failed` states; in other states the handler may not stay");
    Timeout = optional("timeout", Mapping(&TIMEOUT),
        "The state that an object enters after a time in this state. The time is measured from the entry, so a restart \
         of the operator does not reset it.",
        "states: {Roam: {timeout: {after: 1h, to: Lost}}}");
    Retry = optional("retry", Mapping(&RETRY),
        "The retries after an error of this state's handler. Each key overrides that of the machine.",
        "states: {Roam: {retry: {max: 1m}}}")
        .default("the machine's");
    OnSpecChange = optional("onSpecChange", ON_SPEC_CHANGE,
        "The reaction to a change of `.spec` in this state; the name of the state itself enters it anew. A list \
         replaces the list of the machine.",
        "states: {Roam: {onSpecChange: Roam}}")
        .default("the machine's");
    OnDelete = optional("onDelete", Either(&[Word(&["interrupt", "wait"]), State]),
        "The reaction to a deletion in this state: `interrupt`, `wait`, or the state that the object then enters.",
        "machine: {deletion: Released}\nstates: {Roam: {onDelete: Caught}, Caught: {next: [Released]}, Released: {kind: final}}")
        .default("the machine's");
    Effects = optional("effects", Word(&["idempotent", "once"]),
        "With `idempotent`, the handler may run again after a crash, an error or a wake. With `once`, it runs at most once per entry: it cannot `wait`, `retry` does not apply, and after a crash or an error the object goes to `resume`.",
        "states: {Tagged: {effects: once, resume: Roam}}")
        .default("`idempotent`");
    Resume = optional("resume", State,
        "The state that an object enters if a restarted operator finds it in this state; required with `effects: once`.",
        "states: {Tagged: {effects: once, resume: Roam}}")
        .default("this state");
    Limit = optional("limit", Mapping(&LIMIT),
        "The maximum number of entries into the state. The count starts again when the state's own `next` leads to a \
         `ready` state, or when the spec changes.",
        "states: {Roam: {limit: {times: 3, then: Lost}}}");
    Gate = optional("gate", Mapping(&GATE),
        "The condition for entering the state: a window of time, an approval, or both. If a handler or a timeout \
         chooses this state, the object waits in its present state, whose handler is still run; deletions, changes of \
         the spec, failures and limits do not wait.",
        "states: {Tagged: {gate: {during: {schedule: 0 22 * * MON-FRI, duration: 6h}}}}");
    Conditions = optional("conditions", Map { by: NameOf::Condition, of: &Either(&[Word(&["True", "False", "Unknown"]), Word(&["keep"])]) },
        "Conditions that are set on entry. They start as Unknown, and stay until another state or a handler sets them. `Ready: keep` leaves Ready as it was.",
        "states: {Roam: {conditions: {Fed: \"False\", Ready: keep}}}");
    Checkpoint = optional("checkpoint", Boolean,
        "Whether `.status` is written before the handler runs. `false` is allowed for `working` states without `wait`, \
         `timeout`, `limit` and `once` that are not entered from a `once` state.",
        "states: {Tagged: {checkpoint: false}}")
        .default("`true`");
    RenamedFrom = optional("renamedFrom", Either(&[Name(StateName::PATTERN), List { of: &Name(StateName::PATTERN), min: 0, max: None }]),
        "Former names of the state. Objects that are stored with one of them continue here.",
        "states: {Roam: {renamedFrom: Wander}}");
    Legacy = optional("legacy", Boolean,
        "No object enters the state, but stored objects may still be in it.",
        "states: {Grazing: {legacy: true, next: [Roam]}}")
        .default("`false`");
    Group = optional("group", String,
        "The cluster of the state in diagrams.",
        "states: {Roam: {group: Wilderness}}");
    Allow = optional("allow", Map { by: NameOf::Rule, of: &String },
        "Silences warnings and infos about this state. The value is the reason.",
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
        "The fields, each below `.spec`. An object or a list includes all fields in it; single items of a list cannot \
         be named.",
        "states: {Roam: {onSpecChange: [{of: [.spec.height, .spec.replicas], to: Tagged}]}}");
    To = required("to", Either(&REACTIONS),
        "The reaction to a change of one of the fields.",
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
        "The changes after which the handler runs again: `self` (labels, annotations, or status written by others), \
         all of `owns`, all of `watches`, or one of their kinds.",
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
        "A schedule, in place of `after`: at its first start after the entry, the object enters `to`. If starts were \
         missed, only the latest one is made up for.",
        "states: {Roam: {timeout: {at: {schedule: 0 3 * * *}, to: Tagged}}}");
    To = required("to", State,
        "The state that the object then enters.",
        "states: {Roam: {timeout: {after: 1h, to: Lost}}}");
}

section! {
    /// The mapping under `limit`.
    LimitKey in LIMIT, "a limit":
    Times = required("times", Either(&[AT_LEAST_1, Path]),
        "The maximum number of entries. An integer field may hold it: 0 allows no entry, and if the number is absent \
         or negative, there is no limit.",
        "states: {Roam: {limit: {times: 3, then: Lost}}}");
    Then = required("then", State,
        "The state that the object enters instead of exceeding the limit.",
        "states: {Roam: {limit: {times: 3, then: Lost}}}");
}

section! {
    /// The mapping under `gate`.
    GateKey in GATE, "a gate":
    During = optional("during", Mapping(&WINDOW),
        "The window of time in which objects may enter the state. They may stay in the state after the window.",
        "states: {Tagged: {gate: {during: {schedule: 0 22 * * MON-FRI, duration: 6h}}}}")
        .default("at any time");
    Approval = optional("approval", Word(&["required"]),
        "`required`: each entry has to be approved, with `krator approve`. A policy allows that only to clients with \
         the verb `approve` on the resource.",
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
    expected: "an IANA time zone",
    pattern: "^[A-Za-z0-9][A-Za-z0-9+/_-]*$",
    is: |text| krator_machine::Schedule::parse("* * * * *", text).is_ok(),
};

section! {
    /// The mapping under `during`.
    WindowKey in WINDOW, "a window":
    Schedule = required("schedule", Either(&[Name(SCHEDULE), Path]),
        "When the window opens: minute, hour, day of the month, month and day of the week, as in cron. A string field \
         may hold it; without a value there, objects do not wait.",
        "states: {Tagged: {gate: {during: {schedule: 0 22 * * MON-FRI, duration: 6h}}}}");
    Duration = required("duration", Either(&[Duration, Path]),
        "How long the window is open. A field of type `duration` or `integer` (seconds) may hold it.",
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
        "The schedule, in the format of the `schedule` of a gate. A string field may hold it; without a value there, \
         the timeout never fires.",
        "states: {Roam: {timeout: {at: {schedule: 0 3 * * *}, to: Tagged}}}");
    TimeZone = optional("timeZone", Either(&[Name(TIME_ZONE), Path]),
        "The time zone of the schedule. A string field may hold it.",
        "states: {Roam: {timeout: {at: {schedule: 0 3 * * *, timeZone: Europe/Oslo}, to: Tagged}}}")
        .default("`UTC`");
    StartingDeadline = optional("startingDeadline", Either(&[Duration, Path]),
        "The maximum delay after which a missed start is still made up for, after a pause or before a closed gate.",
        "states: {Roam: {timeout: {at: {schedule: 0 3 * * *, startingDeadline: 1h}, to: Tagged}}}")
        .default("any time");
}

section! {
    /// The mapping under `retry`.
    RetryKey in RETRY, "a retry policy":
    Limit = optional("limit", Either(&[AT_LEAST_0, Word(&["unlimited"])]),
        "The maximum number of retries of a failed handler. A number needs `then`.",
        "machine: {retry: {limit: 5, then: Lost}}")
        .default("`unlimited`, 5 in `final` states");
    Initial = optional("initial", Duration,
        "The first delay. Delays are jittered.",
        "machine: {retry: {initial: 500ms}}")
        .default("`1s`");
    Factor = optional("factor", Number(Some((1.0, 1000.0))),
        "The factor by which each delay is multiplied for the next one.",
        "machine: {retry: {factor: 1.5}}")
        .default("2");
    Max = optional("max", Duration,
        "The longest delay.",
        "machine: {retry: {max: 1m}}")
        .default("`5m`, or `initial` if that is longer");
    Then = optional("then", State,
        "The state that the object enters when the limit is exceeded.",
        "machine: {retry: {limit: 5, then: Lost}}");
}

section! {
    /// An item of `limits`.
    PlacesKey in PLACES, "a limit":
    Name = required("name", Name(ResourceName::PATTERN),
        "The name of the limit. The option `--limit` of the operator changes the number of the limit with this name.",
        "limits: [{name: hungry, states: [Roam], atMost: 3}]");
    States = required("states", List { of: &State, min: 1, max: None },
        "The states that the limit counts. An object that goes from one of them to another keeps its place.",
        "limits: [{name: hungry, states: [Roam, Lost], atMost: 3}]");
    AtMost = required("atMost", Integer { min: 1, max: 4_294_967_295 },
        "The maximum number of objects in these states.",
        "limits: [{name: hungry, states: [Roam], atMost: 3}]");
    Per = optional("per", Path,
        "A string field of the spec, or `.metadata.namespace`: the objects with each of its values are counted \
         separately.",
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
        "The percentage of objects that should reach `to` in this time.",
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
        "Every path from `initial` to this state contains the state of `through`.",
        "properties: [{only: Roam, through: Tagged}]");
    LeadsTo = optional("leadsTo", State,
        "Every path from each state of `from` reaches this one: it does not end elsewhere, or in a cycle without this \
         state.",
        "properties: [{from: Tagged, leadsTo: Roam}]");
    From = optional("from", STATES,
        "The states that `canReach` and `leadsTo` start from; required with them.",
        "properties: [{from: \"*\", canReach: Lost}]");
    Through = optional("through", State,
        "The state that every path contains; required with `only`.",
        "properties: [{only: Roam, through: Tagged}]");
    SpecChanges = optional("specChanges", Boolean,
        "Whether paths may follow edges of `onSpecChange`.",
        "properties: [{never: Lost -> Tagged, specChanges: true}]")
        .default("`true` for `canReach`, `false` for the others");
}
