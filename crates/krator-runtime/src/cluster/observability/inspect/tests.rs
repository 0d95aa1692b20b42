use super::*;
use crate::{
    cluster::observability::metrics::{Counted, Metrics},
    engine::{Engine, Now},
    graph::{OnDelete, Policy, Retry, StateKind},
    local::{LocalObject, LocalStatus},
    status::{Ask, Condition},
};
use jiff::Timestamp;
use serde_json::{Value, json};

/// A text that is HTML if somebody takes it for that.
const HOSTILE: &str = "<img src=x onerror=\"alert(1)\"></script>\u{2028}";

const ROAM: StateId = StateId(0);
const EAT: StateId = StateId(1);
const LOST: StateId = StateId(2);
const RELEASED: StateId = StateId(3);
const STATES: [Policy<'static>; 4] = [
    Policy::new("Roam").message(HOSTILE).next(&[EAT]),
    Policy::new("Eat")
        .retry(Retry::DEFAULT.limit(3, LOST))
        .next(&[ROAM])
        .on_delete(OnDelete::To(LOST)),
    Policy::new("Lost").kind(StateKind::Failed),
    Policy::new("Released").kind(StateKind::Final).deletion_path(),
];
const GRAPH: Graph<'static> = Graph::new(&STATES, ROAM, Some(RELEASED), "animals.com/moose");

/// A spec that nobody may see.
type Moose = LocalObject<&'static str>;

fn moose(name: &str, machine: MachineStatus) -> Arc<Moose> {
    let mut moose = Moose::new(name, "the secret of the moose");
    moose.status = Some(LocalStatus { fields: (), machine });
    Arc::new(moose)
}

fn stored(state: &str) -> MachineStatus {
    MachineStatus {
        state: Some(state.to_owned()),
        state_entered_time: Some(Timestamp::UNIX_EPOCH),
        ..MachineStatus::default()
    }
}

fn counts() -> Arc<KindMetrics> {
    Metrics::new().of_kind("animals.com".into(), "Moose".into(), &GRAPH)
}

fn inspected(inspection: &Inspection, counts: &Arc<KindMetrics>) -> Inspected {
    Inspected::new(
        Some(inspection),
        counts,
        "animals.com".into(),
        "Moose".into(),
        &GRAPH,
    )
}

/// An inspection of moose in these states, and what counts them.
fn of_moose(objects: Vec<(Option<StateId>, Arc<Moose>)>) -> (Inspection, Arc<History>, Vec<Counted>) {
    let (inspection, kind) = (Inspection::of_nothing(), counts());
    let Inspected {
        history,
        mut requests,
    } = inspected(&inspection, &kind);
    let counted = objects
        .iter()
        .map(|(at, _)| Counted::new(Arc::clone(&kind), *at))
        .collect();
    tokio::spawn(async move {
        while let Some(mut request) = requests.recv().await {
            for (at, object) in &objects {
                let entered = object.status.as_ref().and_then(|s| s.machine.state_entered_time);
                let object = Arc::clone(object);
                let ask = object.status.as_ref().and_then(|s| s.machine.ask.as_ref());
                let position = Position {
                    since: at.zip(entered),
                    waits_for: ask.and_then(|ask| GRAPH.find(&ask.to)),
                };
                request.see(
                    || position,
                    || FoundObject::new(*at, move || Some(Shown::of(&*object))),
                );
            }
            request.answer();
        }
    });
    (inspection, history.expect("somebody looks"), counted)
}

async fn ask(inspection: &Inspection, query: &str) -> (u16, String) {
    let answer = inspection.respond(Some(query)).await;
    (answer.status().as_u16(), answer.into_body())
}

async fn json_of(inspection: &Inspection, query: &str) -> Value {
    let (status, body) = ask(inspection, query).await;
    assert_eq!(status, 200, "{query}: {body}");
    serde_json::from_str(&body).expect("JSON")
}

#[tokio::test]
async fn each_state_lists_the_objects_that_it_counts() {
    let (inspection, _, _counted) = of_moose(vec![
        (Some(EAT), moose("c", stored("Eat"))),
        (Some(EAT), moose("a", stored("Eat"))),
        (Some(EAT), moose("ab", stored("Roam"))),
        (Some(ROAM), moose("d", stored("Roam"))),
        (None, moose("e", stored("Fly"))),
    ]);
    let overview = json_of(&inspection, "").await;
    assert_eq!(overview["operator"], "moose-operator");
    assert_eq!(
        (&overview["leads"], &overview["ready"]),
        (&json!(true), &json!(true))
    );
    let kind = &overview["kinds"][0];
    assert_eq!(
        (&kind["group"], &kind["kind"]),
        (&json!("animals.com"), &json!("Moose"))
    );
    let names = |answer: &Value| -> Vec<String> {
        let items = answer["objects"]["items"].as_array().expect("a list");
        items
            .iter()
            .map(|item| item["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    for state in kind["states"].as_array().expect("a list") {
        let name = state["name"].as_str().expect("a name");
        let listed = json_of(&inspection, &format!("group=animals.com&kind=Moose&state={name}")).await;
        assert_eq!(listed["objects"]["total"], state["objects"], "{name}");
        assert_eq!(json!(names(&listed).len()), state["objects"], "{name}");
    }
    let parked = json_of(&inspection, "kind=Moose&parked=true").await;
    assert_eq!(
        (names(&parked), &kind["parked"]),
        (vec!["e".to_owned()], &json!(1))
    );
    assert_eq!(parked["objects"]["items"][0]["storedState"], "Fly");
    assert_eq!(parked["objects"]["items"][0]["state"], Value::Null);

    let eating = json_of(&inspection, "kind=Moose&state=Eat&limit=2").await;
    assert_eq!(
        (names(&eating), &eating["objects"]["total"]),
        (vec!["a".to_owned(), "ab".to_owned()], &json!(3))
    );
    assert_eq!(eating["objects"]["items"][0]["since"], "1970-01-01T00:00:00Z");
    // The entry is not stored yet.
    assert_eq!(eating["objects"]["items"][1]["since"], Value::Null);
    let found = json_of(&inspection, "kind=Moose&state=Eat&search=b").await;
    assert_eq!(
        (names(&found), &found["objects"]["total"]),
        (vec!["ab".to_owned()], &json!(1))
    );
}

#[tokio::test]
async fn oldest_entries_and_waits_for_gates_are_found_among_all_objects() {
    let entered = |state: &str, second: i64| MachineStatus {
        state_entered_time: Some(Timestamp::from_second(second).expect("a time")),
        ..stored(state)
    };
    let asking = |state: &str| {
        let ask = Ask {
            to: "Roam".to_owned(),
            since: Timestamp::UNIX_EPOCH,
            id: None,
            leader: None,
        };
        MachineStatus {
            ask: Some(ask),
            ..entered(state, 50)
        }
    };
    let (inspection, _, _counted) = of_moose(vec![
        (Some(EAT), moose("a", entered("Eat", 30))),
        (Some(EAT), moose("b", entered("Eat", 10))),
        (Some(EAT), moose("c", entered("Eat", 20))),
        (Some(ROAM), moose("d", entered("Roam", 40))),
        (None, moose("e", entered("Fly", 5))),
        (Some(EAT), moose("f", asking("Eat"))),
        (Some(EAT), moose("g", asking("Eat"))),
    ]);
    let kinds = inspection.kinds();
    let measures = kinds[0].measures().await.expect("an answer");
    let seconds: Vec<_> = measures
        .iter()
        .map(|state| state.oldest.map(Timestamp::as_second))
        .collect();
    assert_eq!(seconds, [Some(40), Some(10), None, None]);
    let waiting: Vec<_> = measures.iter().map(|state| state.waiting).collect();
    assert_eq!(waiting, [2, 0, 0, 0]);
}

#[tokio::test]
async fn a_process_that_waits_says_for_what() {
    let (leading, leads) = watch::channel(false);
    let (clock, health) = (Arc::new(Clock::new()), Health::default());
    let listing = health.waits_for("moose.animals.com");
    let inspection = Inspection::new("moose-operator", "0.1.0", clock, health, leads);
    let waits = json_of(&inspection, "").await;
    assert_eq!((&waits["leads"], &waits["ready"]), (&json!(false), &json!(false)));
    assert_eq!(waits["problems"], json!(["moose.animals.com: not seen yet"]));
    listing.done();
    leading.send_replace(true);
    let acts = json_of(&inspection, "").await;
    assert_eq!((&acts["leads"], &acts["ready"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn the_graph_has_every_edge_that_an_object_may_take() {
    let (inspection, _, _counted) = of_moose(Vec::new());
    let overview = json_of(&inspection, "").await;
    let kind = &overview["kinds"][0];
    let edge = |from: &str, to: &str, by: &str| json!({"from": from, "to": to, "by": by});
    let edges = json!([
        edge("Roam", "Eat", "next"),
        edge("Roam", "Released", "deletion"),
        edge("Eat", "Roam", "next"),
        edge("Eat", "Lost", "retry"),
        edge("Eat", "Lost", "onDelete"),
        edge("Lost", "Released", "deletion"),
    ]);
    assert_eq!(kind["edges"], edges);
    let released =
        json!({"name": "Released", "kind": "final", "initial": false, "onDeletionPath": true, "objects": 0});
    assert_eq!(kind["states"][3], released);
    assert_eq!(kind["states"][0]["initial"], true);
}

#[tokio::test]
async fn texts_of_objects_stay_texts_and_the_spec_stays_hidden() {
    let condition = Condition {
        kind: "Ready".into(),
        status: "False".into(),
        reason: "Retrying".to_owned(),
        message: HOSTILE.to_owned(),
        last_transition_time: Timestamp::UNIX_EPOCH,
        observed_generation: Some(1),
    };
    let status = MachineStatus {
        message: Some(HOSTILE.to_owned()),
        attempts: Some(2),
        conditions: vec![condition],
        ..stored("Roam")
    };
    let (inspection, history, _counted) = of_moose(vec![(Some(ROAM), moose("a", status))]);
    let now = Now {
        elapsed: Duration::ZERO,
        time: Timestamp::UNIX_EPOCH,
        random: 0,
        leader: 0,
    };
    for moved in Engine::new(&GRAPH, None, 1, Vec::new(), now).take_moves() {
        history.record(&*moose("a", stored("Roam")), &moved, now.time);
        history.record(&*moose("b", stored("Roam")), &moved, now.time);
    }

    let answer = inspection.respond(Some("kind=Moose&name=a")).await;
    assert_eq!(answer.headers()["content-type"], "application/json");
    assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    assert_eq!(answer.headers()["cache-control"], "no-store");
    let body = answer.into_body();
    assert!(!body.contains("secret"), "{body}");
    let answer: Value = serde_json::from_str(&body).expect("JSON");
    let object = &answer["object"];
    assert_eq!(object["message"], HOSTILE);
    assert_eq!(object["lastError"], json!({"attempts": 2, "message": HOSTILE}));
    assert_eq!(object["conditions"][0]["message"], HOSTILE);
    assert_eq!(object["conditions"][0]["reason"], "Retrying");
    let transitions = answer["transitions"].as_array().expect("a list");
    assert_eq!(transitions.len(), 1, "those of other objects are left out");
    let transition = &transitions[0];
    assert_eq!(
        (&transition["from"], &transition["to"]),
        (&Value::Null, &json!("Roam"))
    );
    assert_eq!(
        (&transition["cause"], &transition["message"]),
        (&json!("Created"), &json!(HOSTILE))
    );
    let of_kind = json_of(&inspection, "kind=Moose").await;
    assert_eq!(of_kind["transitions"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn only_so_many_transitions_are_kept() {
    let (inspection, history, _counted) = of_moose(Vec::new());
    let now = Now {
        elapsed: Duration::ZERO,
        time: Timestamp::UNIX_EPOCH,
        random: 0,
        leader: 0,
    };
    let moves = Engine::new(&GRAPH, None, 1, Vec::new(), now).take_moves();
    for number in 0..600 {
        history.record(&*moose(&number.to_string(), stored("Roam")), &moves[0], now.time);
    }
    let kept = json_of(&inspection, "kind=Moose&limit=500").await;
    let kept = kept["transitions"].as_array().expect("a list").clone();
    assert_eq!((kept.len(), &kept[0]["name"]), (500, &json!("599")));
    for (name, found) in [("88", 1), ("87", 0)] {
        let of_one = json_of(&inspection, &format!("kind=Moose&name={name}")).await;
        assert_eq!(of_one["object"], Value::Null, "it is gone by now");
        assert_eq!(
            of_one["transitions"].as_array().map(Vec::len),
            Some(found),
            "{name}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_is_refused_in_words() {
    let (inspection, ..) = of_moose(Vec::new());
    for (query, status, words) in [
        ("kind=Elk", 404, "no such kind"),
        ("group=other.com&kind=Moose", 404, "no such kind"),
        ("kind=Moose&state=Fly", 404, "no such state"),
        ("state=Roam", 400, "`kind` is missing"),
        ("kind=Moose&state=Roam&name=a", 400, "only one of"),
        ("kind=Moose&limit=501", 400, "from 1 to 500"),
        ("kind=Moose&limit=0", 400, "from 1 to 500"),
        ("kind=Moose&secret=1", 400, "the parameters are"),
    ] {
        let (got, body) = ask(&inspection, query).await;
        assert_eq!(got, status, "{query}: {body}");
        assert!(body.contains(words), "{query}: {body}");
    }
    // A dispatcher that does not answer, and one that has ended.
    let busy = Inspection::of_nothing();
    let inspected = inspected(&busy, &counts());
    assert_eq!(ask(&busy, "kind=Moose&state=Roam").await.0, 503);
    drop(inspected);
    assert_eq!(ask(&busy, "kind=Moose&state=Roam").await.0, 503);
    assert_eq!(ask(&busy, "kind=Moose").await.0, 200);
}
