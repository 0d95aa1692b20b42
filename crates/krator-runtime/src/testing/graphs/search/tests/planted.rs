//! A test of the search: for each promise, a machine that breaks it. The runtime obeys one graph and is judged by
//! another, which is a planted defect without another build of the runtime.

use super::{ONE_KEY, search};
use crate::graph::{Graph, Limit, OnSpecChange, Policy, SpecChange, StateId, StateKind, Watch};

const A: StateId = StateId(0);
const B: StateId = StateId(1);
const C: StateId = StateId(2);
const LEAVE: StateId = StateId(3);

type States = [Policy<'static>; 4];

/// A machine that works, checks, rests, and leaves when it is deleted.
fn states() -> States {
    [
        Policy::new("A").next(&[B]),
        Policy::new("B").next(&[C]),
        Policy::new("C")
            .kind(StateKind::Ready)
            .next(&[A])
            .watch(&[Watch::Owned]),
        Policy::new("Leave").kind(StateKind::Final).deletion_path(),
    ]
}

/// The name of the defect, the states by which it is judged, the states that the runtime obeys, and the message of the
/// search.
type Defect = (&'static str, fn(&mut States), fn(&mut States), &'static str);

/// A change of one field leads to A, or a change of any other field does.
const FIELD_TO_A: &[SpecChange<'static>] = &[SpecChange {
    of: &[".spec.field"],
    does: OnSpecChange::To(A),
}];
const OTHERS_TO_A: &[SpecChange<'static>] = &[SpecChange {
    of: &[".spec.field"],
    does: OnSpecChange::Ignore,
}];

fn field_to_a(states: &mut States) {
    states[2] = states[2]
        .on_spec_change_of(FIELD_TO_A)
        .on_spec_change(OnSpecChange::Ignore);
}

const DEFECTS: [Defect; 12] = [
    (
        "a change of a field that is taken for one of the others",
        field_to_a,
        |states| {
            states[2] = states[2]
                .on_spec_change_of(&[])
                .on_spec_change(OnSpecChange::Ignore);
        },
        "is not left by the change",
    ),
    (
        "a change of the others that is taken for one of the field",
        field_to_a,
        |states| {
            states[2] = states[2]
                .on_spec_change_of(OTHERS_TO_A)
                .on_spec_change(OnSpecChange::To(A));
        },
        "is entered for the change",
    ),
    (
        "the state is not stored",
        |_| (),
        |states| states[1] = states[1].no_checkpoint(),
        "before its state is stored",
    ),
    (
        "a handler runs twice",
        |states| states[1] = states[1].once().resume(C),
        |_| (),
        "runs twice for one entry",
    ),
    (
        "an edge that the graph lacks",
        |_| (),
        |states| states[0] = states[0].next(&[C]),
        "the graph has no edge",
    ),
    (
        "an entry that is not counted",
        |states| states[1] = states[1].limit(1, C),
        |_| (),
        "is not counted",
    ),
    (
        "a condition of another kind",
        |_| (),
        |states| states[2] = states[2].kind(StateKind::Failed),
        "the condition",
    ),
    (
        "a change of the spec that is lost",
        |_| (),
        |states| states[2] = states[2].once(),
        "the change of the spec is lost",
    ),
    (
        "a deletion that is lost",
        |_| (),
        |states| states[2] = states[2].deletion_path(),
        "the deletion is lost",
    ),
    (
        "a change of a child that is lost",
        |_| (),
        |states| states[2] = states[2].watch(&[Watch::Itself]),
        "ChildChange is lost",
    ),
    (
        "a deleted object that keeps its handlers",
        |_| (),
        |states| states[1] = states[1].deletion_path(),
        "for an object that is being deleted",
    ),
    (
        "a handler that nobody has written and that acts",
        |states| states[1] = states[1].handler("", false),
        |_| (),
        "which nobody has written",
    ),
];

#[tokio::test(start_paused = true)]
async fn a_defect_for_each_promise_is_found() {
    for (name, judged, obeyed, red) in DEFECTS {
        let (mut right, mut wrong) = (states(), states());
        judged(&mut right);
        obeyed(&mut wrong);
        let graph =
            |states: States| Graph::new(Vec::from(states).leak(), A, Some(LEAVE), "example.com/things");
        let found = search(&graph(right), &graph(wrong), None, ONE_KEY).await;
        assert!(
            found.wrong.iter().any(|line| line.contains(red)),
            "{name}: {:#?}",
            found.wrong
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_that_is_not_set_is_found() {
    let of = |deletion| Graph::new(Vec::from(states()).leak(), A, deletion, "example.com/things");
    let found = search(&of(Some(LEAVE)), &of(None), None, ONE_KEY).await;
    let red = "before the finalizer is set";
    assert!(
        found.wrong.iter().any(|line| line.contains(red)),
        "{:#?}",
        found.wrong
    );
}

#[tokio::test(start_paused = true)]
async fn an_entry_past_a_limit_is_found() {
    const LIMITS: [Limit<'static>; 1] = [Limit::new("limit", &[B], 1)];
    let graph = || Graph::new(Vec::from(states()).leak(), A, Some(LEAVE), "example.com/things");
    let limited = graph().limits(&LIMITS);
    let found = search(&limited, &limited, None, ONE_KEY).await;
    assert!(found.wrong.is_empty(), "{:#?}", found.wrong);
    let found = search(&limited, &graph(), None, ONE_KEY).await;
    let red = "nothing was stored that asks for a place";
    assert!(
        found.wrong.iter().any(|line| line.contains(red)),
        "{:#?}",
        found.wrong
    );
}

#[tokio::test(start_paused = true)]
async fn the_machine_itself_breaks_no_promise() {
    let graph = Graph::new(Vec::from(states()).leak(), A, Some(LEAVE), "example.com/things");
    let found = search(&graph, &graph, None, ONE_KEY).await;
    assert!(found.wrong.is_empty(), "{:#?}", found.wrong);
    assert!(found.schedules > 1_000, "{}", found.schedules);
}
