//! Rules about the state graph: its edges, its cycles, its deletion path and its properties.

use super::rules;

rules! {
    Error DUPLICATE_EDGE "duplicate-edge": "`next` names the same state twice",
"A handler chooses the target state, so there is only one edge between two states. If the edge has two reasons, write
both into one `when`.

Bad:

    Roam: {next: [{to: Eat, when: hungry}, {to: Eat, when: bored}]}

Good:

    Roam: {next: [{to: Eat, when: hungry or bored}]}";
    Error SELF_EDGE "self-edge": "`next` names the state itself",
"To run again in the same state, a handler stays in it, which requires `wait`.

Bad:

    Roam: {next: [Roam, Eat]}

Good:

    Roam: {next: [Eat], wait: {poll: 10s}}";
    Error UNREACHED_CHANGE "unreached-change": "an entry of `onSpecChange` names a field whose changes an earlier path decides, or that never changes",
"The first entry of the list with a changed field decides, and the path of an object covers the fields in it. So a path
behind one that is the same, or that covers it, decides nothing, and neither does an entry behind one without `of`. A field
that is `immutable` never changes, so that its path decides nothing, either.

Bad:

    Ready: {kind: ready, onSpecChange: [{of: .spec.storage, to: Moving}, {of: .spec.storage.size, to: Growing}]}

Good:

    Ready: {kind: ready, onSpecChange: [{of: .spec.storage.size, to: Growing}, {of: .spec.storage, to: Moving}]}";
    Error LEGACY_ENTERED "legacy-entered": "an edge leads to a `legacy` state",
"`legacy: true` says that no object enters the state any more, which an edge to it contradicts.

Bad:

    Roam: {next: [Graze]}
    Graze: {legacy: true, next: [Roam]}

Good:

    Roam: {next: [Eat]}
    Graze: {legacy: true, next: [Roam]}";
    Error LEGACY_DEAD_END "legacy-dead-end": "a `legacy` state has no way out",
"Objects that are still in a legacy state are supposed to leave it. Without a way out they stay there forever.

Bad:

    Graze: {legacy: true}

Good:

    Graze: {legacy: true, next: [Roam]}";
    Error CONFLICTING_RENAME "conflicting-rename": "`renamedFrom` names the state itself, an existing state, or a name that another state claims too",
"A former name says which state of the former description this state was: its stored objects continue here, and its handler
becomes the handler of this state. A former name must therefore belong to a state that no longer exists, and only one
state may claim it. In a chain or a swap of names, the name does exist again, but belongs to a state that was itself
renamed: see `reused-name`.

In this example, the former description had the states `Roam` and `Graze`.

Bad:

    Roam: {next: [Eat]}
    Wander: {renamedFrom: [Roam], next: [Eat]}

Good:

    Roam: {next: [Eat]}
    Feed: {renamedFrom: [Graze], next: [Roam]}";

    Warning REUSED_NAME "reused-name": "a former name of one state is now the name of another state that was renamed too",
"One edit may rename `A` to `B` while it renames `B` to `D`, or swap the names of two states. `krator gen` then moves each
handler to the state that it belongs to. But a stored object contains only the name of its state: once the new operator has
started, an object that was in the former `B` is taken for one in the new `B`, and nothing can tell the two apart.

Such an edit is therefore safe only while no object is stored in a state whose name is reused, as in a test cluster.
Otherwise rename in two releases: first `B` to `D`, and then `A` to `B` when no object is stored in `B` any more. When all
stored objects have the new names, remove the former name, or `allow` this warning.

In this example, the former description had the states `Roam` and `Graze`.

Bad:

    Graze: {renamedFrom: [Roam], next: [Feed]}
    Feed: {renamedFrom: [Graze], next: [Graze]}

Good:

    Roam: {next: [Feed]}
    Feed: {renamedFrom: [Graze], next: [Roam]}";

    Error NO_PATH_TO_FINAL "no-path-to-final": "no `final` state can be reached from a state of the deletion path",
"A deleted object keeps its finalizer until the handler of a `final` state is done. Every state of the deletion path
therefore needs a path to a `final` state along `next`, `timeout`, `retry` and `limit` edges. Without one, the object is
never removed.

Bad:

    machine: {initial: Roam, deletion: Release}
    states:
      Roam: {kind: ready}
      Release: {next: [Check], wait: {poll: 1m}}
      Check: {next: [Release]}

Good:

    machine: {initial: Roam, deletion: Release}
    states:
      Roam: {kind: ready}
      Release: {next: [Check], wait: {poll: 1m}}
      Check: {next: [Release, Released]}
      Released: {kind: final}";
    Error DELETION_ESCAPE "deletion-escape": "a state is both on the deletion path and reachable without a deletion",
"The deletion path consists of the states that can be reached from `deletion` and from the targets of `onDelete`. No such
state, except a `final` one, may also be reachable from `initial` without a deletion: the state has to tell a restarted
operator whether the object is being deleted.

Bad:

    machine: {initial: Roam, deletion: Release}
    states:
      Roam: {kind: ready, next: [Release]}
      Release: {next: [Released, Roam]}
      Released: {kind: final}

Good:

    machine: {initial: Roam, deletion: Release}
    states:
      Roam: {kind: ready}
      Release: {next: [Released]}
      Released: {kind: final}";
    Warning DELETION_NO_BAILOUT "deletion-no-bailout": "a state of the deletion path retries or waits without an end",
"While a handler of the deletion path keeps failing or staying, the object cannot be removed, and neither can its namespace.
A `timeout` says when to give up. For a state without `wait`, whose handler cannot stay, a retry `limit` with a `then` does so
too. A timeout whose time is in a field that may be absent, or is 0 by default, is none for objects that do not set the field.
If giving up would be worse, `allow` the rule and give the reason.

Bad:

    Release: {next: [Released], wait: {poll: 10s}, retry: {limit: 5, then: Released}}

Good:

    Release: {next: [Released], wait: {poll: 10s}, timeout: {after: 1h, to: Released}}";
    Error UNREACHABLE_STATE "unreachable-state": "no object can ever be in the state",
"There is no path of edges to the state from `initial`, `deletion` or a `legacy` state. If several unreachable states lead
to each other, only the first of them is reported.

Bad:

    machine: {initial: Roam}
    states:
      Roam: {next: [Eat]}
      Eat: {next: [Roam], wait: {poll: 1m}}
      Sleep: {next: [Roam], wait: {poll: 1m}}

Good:

    machine: {initial: Roam}
    states:
      Roam: {next: [Eat]}
      Eat: {next: [Sleep], wait: {poll: 1m}}
      Sleep: {next: [Roam], wait: {poll: 1m}}

If stored objects may still be in the state because an earlier description used it, mark it `legacy: true`.";
    Error NO_EXIT "no-exit": "a `working` state without `next` and `timeout`, or a `final` state with an edge",
"Objects pass through a `working` state, so it needs an edge to another state. A state in which objects rest is `ready`
or `failed`, and a state after which they are removed is `final`. A `final` state has no edges.

Bad:

    Eat: {wait: {poll: 1m}}
    Released: {kind: final, next: [Roam]}

Good:

    Eat: {wait: {poll: 1m}, next: [Sleep]}
    Released: {kind: final}";
    Error HOT_LOOP "hot-loop": "a cycle of `next`, `limit` and `resume` edges in which nothing takes time",
"An object in such a cycle changes its state as fast as the API server answers. At least one state of each cycle has to
wait, time out, or limit how often it is entered. Past a limit, an object goes to `then` without entering the state. So if
`then` leads back to the state, the cycle has no end, and another state of it has to wait or time out.

Bad:

    Roam: {next: [Eat]}
    Eat: {next: [Roam]}

Good:

    Roam: {next: [Eat], wait: {poll: 2s}}
    Eat: {next: [Roam]}";
    Warning UNBOUNDED_LOOP "unbounded-loop": "a cycle of `timeout`, `retry` and `limit` edges",
"The runtime takes these edges without asking a handler, so an object can follow the cycle forever although no code
decided that it should.

Bad:

    Pull: {next: [Done], timeout: {after: 5m, to: Backoff}}
    Backoff: {next: [Pull], wait: {}, timeout: {after: 1m, to: Pull}}

Good:

    Pull: {next: [Done], timeout: {after: 5m, to: Backoff}, limit: {times: 5, then: Failed}}
    Backoff: {next: [Pull], wait: {poll: 1m}}";
    Warning FAST_LOOP "fast-loop": "a cycle with an edge of `retry`, or of a `timeout` below a second, in which nothing takes time",
"A permanent error leads to `retry.then` at once, and so does a `timeout` of less than a second to its state. Where the way back
takes no time either, an object can go round the cycle as fast as the API server answers. After a hundred states the runtime
slows it to one a second, and each of them is a write of the status.

Bad:

    Apply: {next: [Done], retry: {limit: 3, then: Broken}}
    Broken: {next: [Apply]}

Good:

    Apply: {next: [Done], retry: {limit: 3, then: Broken}}
    Broken: {next: [Apply], wait: {poll: 1m}}";
    Error PROPERTY_VIOLATED "property-violated": "a property of `properties` does not hold for the graph",
"`properties` state what must remain true when the graph is edited. All edges count that an object may take although nobody
touches it: those of handlers and those of the runtime, `resume` after a restart included. Edges of `onSpecChange` count only
for `canReach`, unless `specChanges` says otherwise. Those of a deletion, and with `\"*\"` the states that only deleted objects
come to, count if the property names such a state. The finding shows a path that violates the property, with the key and
the line of each edge.

    {from: [A], canReach: B}     there is a path from A to B
    {never: A -> B}              there is no path from A to B
    {only: B, through: A}        every path from `initial` to B contains A
    {leadsTo: B, from: A}        every path from A reaches B

Bad:

    states:
      Pay: {next: [Ship], wait: {}}
      Ship: {kind: ready, next: [Pay]}
    properties: [{never: Ship -> Pay}]

Good:

    states:
      Pay: {next: [Ship], wait: {}}
      Ship: {kind: ready}
    properties: [{never: Ship -> Pay}]";
    Error INVALID_OBJECTIVE "invalid-objective": "an objective of `slo` cannot be met, or is there twice",
"An objective says how soon an object that enters the state `from` is to enter the state `to`. So these are different states,
and edges lead from one to the other; those of a deletion do not count, because it ends the measurement. Metrics know an
objective by its states, so that two with the same ones cannot be told apart.

Bad:

    states:
      Pay: {next: [Ship], wait: {}}
      Ship: {kind: ready}
    slo: {from: Ship, to: Pay, within: 1h, objective: 99}

Good:

    states:
      Pay: {next: [Ship], wait: {}}
      Ship: {kind: ready}
    slo: {from: Pay, to: Ship, within: 1h, objective: 99}";
}
