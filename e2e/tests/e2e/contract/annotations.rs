//! Pauses and run requests by annotations, set with kubectl as users do, on a real API server.

use super::session::{Session, resource};
use crate::cluster::until;
use crate::scripted_operator::prepared;
use serde_json::{Value, json};

#[test]
fn an_object_is_paused_and_run_once_by_annotations() {
    let Some(scripted) = &prepared() else { return };
    let kind = scripted.kind("Backup");
    let mut session = Session::new(scripted, "annotations", &[kind]);
    let group = kind.resource.group.as_str();
    let (paused, requested) = (format!("{group}/paused"), format!("{group}/requestedAt"));
    let namespace = session.namespace.clone();
    // The last state of the object has no poll, so its handler runs only because of the actions of this test.
    let create = |name: &str| {
        scripted
            .program
            .object(kind, &namespace, name, Some("New>FailedValidation,"))
    };
    let mut unseen = create("unseen");
    unseen["metadata"]["annotations"][&paused] = json!("true");
    scripted.create(&[create("known"), unseen]);
    let (known, unseen) = (resource(kind, "known"), resource(kind, "unseen"));
    let operator = session.start(&json!({}));
    let run = |args: &[&str]| {
        let output = session.kubectl(args);
        output.unwrap_or_else(|error| panic!("{args:?}: {error}"))
    };
    let wait = |object: &str, for_: &str| drop(run(&["wait", for_, object, "--timeout=60s"]));
    let get = |object: &str| -> Value {
        let text = run(&["get", object, "--output=json"]);
        serde_json::from_str(&text).expect("kubectl writes JSON")
    };
    let starts = |object: &Value| {
        let uid = object["metadata"]["uid"].as_str().expect("a uid").to_owned();
        let all = session.files.handler_starts();
        all.lines().filter(|line| line.contains(&uid)).count()
    };
    // Waits until the object is in its last state, and the handler of that state has run for its entry.
    let come_to_rest = |object: &str| -> Value {
        wait(object, "--for=condition=Stalled");
        let object = get(object);
        let entry = object["status"]["entry"].as_str().expect("an entry").to_owned();
        let start = format!("{entry} FailedValidation ");
        until("the handler of the last state runs", || {
            session.files.handler_starts().contains(&start).then_some(())
        });
        object
    };

    // An object that is created paused: no handler runs, and it has no state and no finalizer.
    wait(&unseen, "--for=condition=Paused");
    let object = get(&unseen);
    assert_eq!(object["status"].get("state"), None, "{object}");
    assert_eq!(object["metadata"].get("finalizers"), None, "{object}");
    assert_eq!(starts(&object), 0);
    run(&["delete", &unseen]);

    // An object at rest: a change of its spec is handled when the pause ends.
    come_to_rest(&known);
    run(&["annotate", &known, &format!("{paused}=true")]);
    wait(&known, "--for=condition=Paused");
    let before = starts(&get(&known));
    let change = scripted.program.change(kind, 7).expect("its spec may change");
    run(&["patch", &known, "--type=merge", "--patch", &change]);
    run(&["annotate", &known, &format!("{requested}=one")]);
    // Changes are handled in their order, so the object that is created now is handled after both changes.
    scripted.create(&[create("later")]);
    wait(&resource(kind, "later"), "--for=condition=Stalled");
    let object = get(&known);
    assert_eq!(starts(&object), before, "nothing runs in a pause");
    assert_eq!(object["status"].get("lastHandledRequest"), None, "{object}");
    run(&["annotate", &known, &format!("{paused}-")]);
    wait(&known, "--for=jsonpath={.status.lastHandledRequest}=one");
    wait(&known, "--for=jsonpath={.status.observedGeneration}=2");
    let object = come_to_rest(&known);
    assert!(starts(&object) > before);
    let conditions = object["status"]["conditions"].as_array().expect("conditions");
    assert!(
        conditions.iter().all(|condition| condition["type"] != "Paused"),
        "{object}"
    );

    // Another request runs the handler of the state once more.
    let before = starts(&object);
    run(&["annotate", "--overwrite", &known, &format!("{requested}=two")]);
    wait(&known, "--for=jsonpath={.status.lastHandledRequest}=two");
    assert_eq!(starts(&get(&known)), before + 1);

    operator.kill();
    session.judge();
}
