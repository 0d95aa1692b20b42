//! Rules of the state graph: its edges, its loops, its deletion path and its properties.

use super::rules;

rules! {
    Error DUPLICATE_EDGE "duplicate-edge": "`next` names a state twice",
"An edge is there or not; a handler chooses the target, not the line that names it. Two reasons for one edge go into
one label.

Bad:

    Roam: {next: [{to: Eat, when: hungry}, {to: Eat, when: bored}]}

Good:

    Roam: {next: [{to: Eat, when: hungry or bored}]}";
    Error SELF_EDGE "self-edge": "`next` names its own state",
"A handler that is to run again in the same state stays, which is what `wait` is for.

Bad:

    Roam: {next: [Roam, Eat]}

Good:

    Roam: {next: [Eat], wait: {poll: 10s}}";
    Error LEGACY_ENTERED "legacy-entered": "an edge leads to a `legacy` state",
"`legacy: true` says that nothing enters the state any more. An edge to it says otherwise.

Bad:

    Roam: {next: [Graze]}
    Graze: {legacy: true, next: [Roam]}

Good:

    Roam: {next: [Eat]}
    Graze: {legacy: true, next: [Roam]}";
    Error LEGACY_DEAD_END "legacy-dead-end": "a `legacy` state has no way out",
"Stored objects are to leave the state, since nobody wants them there any more. Without a way out they stay for ever.

Bad:

    Graze: {legacy: true}

Good:

    Graze: {legacy: true, next: [Roam]}";
    Error NO_PATH_TO_FINAL "no-path-to-final": "a state of the deletion path cannot reach a `final` one",
"A deleted object keeps its finalizer until a `final` state has done its work. From every state of the deletion path
one must be reached by next, timeout, retry and limit edges, or the object can never go.

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
    Error DELETION_ESCAPE "deletion-escape": "the deletion path and ordinary life share a state",
"The deletion path is what `deletion` and the states named by `onDelete` lead to; ordinary life is what `initial`
leads to otherwise. They share no state but final ones: after a restart nobody could tell from the state whether the
object is being deleted.

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
    Warning DELETION_NO_BAILOUT "deletion-no-bailout": "the deletion path retries without limit or timeout",
"While a handler of the deletion path fails, the object cannot go, and with it its namespace. A limit with a `then`,
or a timeout, says when to give up. Where giving up would be worse, `allow` the finding and say why.

Bad:

    Release: {next: [Released]}

Good:

    Release: {next: [Released], retry: {limit: 5, then: Released}}";
    Error UNREACHABLE_STATE "unreachable-state": "no edge of any kind leads to the state",
"No object could ever be in the state: no edge leads there from `initial`, `deletion` or a `legacy` state. Of
states that only an unreachable one leads to, the first is named.

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

Where objects of an earlier description may still be in the state, say `legacy: true`.";
    Error NO_EXIT "no-exit": "a `working` state has neither `next` nor `timeout`, or a `final` one has them",
"A `working` state is on its way somewhere. One that leads nowhere keeps its objects unfinished for ever: a state
where objects rest is `ready` or `failed`, one after which they go is `final`. A `final` state leads nowhere.

Bad:

    Eat: {wait: {poll: 1m}}
    Released: {kind: final, next: [Roam]}

Good:

    Eat: {wait: {poll: 1m}, next: [Sleep]}
    Released: {kind: final}";
    Error HOT_LOOP "hot-loop": "a cycle of `next`, `limit` and `resume` edges in which no state may stay, times out or has a `limit`",
"An object in such a cycle goes round as fast as the API server answers, and never rests. At least one state of each
cycle waits, times out, or counts its entries.

Bad:

    Roam: {next: [Eat]}
    Eat: {next: [Roam]}

Good:

    Roam: {next: [Eat], wait: {poll: 2s}}
    Eat: {next: [Roam]}";
    Warning UNBOUNDED_LOOP "unbounded-loop": "a cycle of edges that only the runtime takes",
"Timeouts, retries and limits lead round in a circle: an object can go round for ever, and no code ever decides that
it should.

Bad:

    Pull: {next: [Done], timeout: {after: 5m, to: Backoff}}
    Backoff: {next: [Pull], wait: {}, timeout: {after: 1m, to: Pull}}

Good:

    Pull: {next: [Done], timeout: {after: 5m, to: Backoff}, limit: {times: 5, then: Failed}}
    Backoff: {next: [Pull], wait: {poll: 1m}}";
    Error PROPERTY_VIOLATED "property-violated": "a property does not hold; the path shows why",
"`properties` say what must hold of the graph whatever becomes of it: all kinds of edges count, those of the runtime
too, but for `resume`.

    {from: [A], canReach: B}     from each there is a path
    {never: A -> B}              there is no path
    {only: B, through: A}        every path from `initial` to B passes A
    {leadsTo: B, from: A}        every path from A ends up in B

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
}
