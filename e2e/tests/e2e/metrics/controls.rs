//! The controls of the page, which exist only in operators that were built for development.

use super::browser::{self, Page};
use crate::cluster::until;
use crate::moose::{Fixture, Variant};
use crate::operator::OperatorProcess;
use crate::probes::{ask, get_as, logged_address};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::process::ExitStatusExt;

/// The header of each request to a control.
const HEADER: &str = "krator-dev";
/// The paths of the controls.
const PATHS: [&str; 9] = [
    "/dev",
    "/dev/create",
    "/dev/spec",
    "/dev/edit",
    "/dev/delete",
    "/dev/fail",
    "/dev/take",
    "/dev/clock",
    "/dev/kill",
];

/// The moose operator as `krator dev` builds it. Its moose sleep for two hours.
const DEVELOPMENT: Variant = Variant {
    name: "moose-dev",
    description: |description| description.replace("{after: 20s, to: Roam}", "{after: 2h, to: Roam}"),
    edit: |dir| {
        let manifest = dir.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).expect("generated");
        let with = text.replace("[features]\n", "[features]\ndefault = [\"dev\"]\n");
        assert_ne!(with, text, "the crate has features");
        fs::write(&manifest, with).expect("generated");
        fs::write(dir.join("src/moose/states/eat.rs"), GREEDY).expect("generated");
    },
};

/// A handler that does not end for a heavy moose.
const GREEDY: &str = r"use super::{Eat, Sleep};
use crate::moose::prelude::*;

impl State for Eat {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.manifest().spec.weight > 1000.0 {
            std::future::pending::<()>().await;
        }
        Ok(Transition::to(Sleep))
    }
}
";

/// Asserts that the operator of a fixture, which serves its page without TLS at this address, has no controls.
pub fn assert_no_controls(fixture: &Fixture, address: &str) {
    let program = fs::read(fixture.binary()).expect("the operator's program");
    let is_there = |text: &str| program.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(is_there("this server has /metrics, /state and /"));
    assert!(!is_there(HEADER), "the program knows of controls");
    let headers = [("Host", address), (HEADER, "test")];
    for path in PATHS {
        assert_eq!(get_as(address, path, &headers).0, 404, "{path}");
        let (code, body) = ask("POST", address, path, &headers, "{}");
        assert_eq!((code, body.as_str()), (405, "only GET is allowed"), "{path}");
    }
    let (_, page) = get_as(address, "/", &headers);
    assert!(!page.contains(HEADER), "{page}");
    assert!(!get_as(address, "/state", &headers).1.contains("ahead"));
}

/// Grants the rights of a developer to the operator.
fn grant(fixture: &Fixture) {
    let verbs = "--verb=create,get,update,delete";
    fixture.kubectl(&[
        "create",
        "role",
        "developer",
        verbs,
        "--resource=moose.animals.com",
    ]);
    fixture.kubectl(&[
        "create",
        "rolebinding",
        "developer",
        "--role=developer",
        "--user=operator",
    ]);
}

fn moose(fixture: &Fixture) -> Vec<Value> {
    let list = fixture.kubectl(&["get", "moose", "--output=json"]);
    let list: Value = serde_json::from_str(&list).expect("kubectl writes JSON");
    list["items"].as_array().expect("a list").clone()
}

#[test]
fn what_development_may_do_is_asked_by_no_website_and_never_off_this_machine() {
    let Some(mut fixture) = Fixture::new("controls", &DEVELOPMENT) else {
        return;
    };
    let log = fixture.cluster.dir().join("controls.refused.log");
    for address in [":0", "0.0.0.0:0"] {
        let args = ["run", "--metrics-bind-address", address];
        let mut refused = OperatorProcess::start(fixture.cluster, fixture.binary(), &args, &log);
        let ended = until("the operator refuses to start", || refused.ended());
        assert_eq!(ended.code(), Some(1));
        let log = fs::read_to_string(&log).expect("it was started");
        assert!(log.contains("built for development"), "{log}");
    }

    fixture.start(&["--metrics-bind-address=127.0.0.1:0", "--metrics-secure=false"]);
    let address = logged_address(|| fixture.log(), "serving metrics");
    let (_, port) = address.rsplit_once(':').expect("a port");
    let (local, origin) = (format!("localhost:{port}"), format!("http://localhost:{port}"));
    let turn = json!({"seconds": 1}).to_string();
    let ours = (HEADER, "test");
    for (headers, code) in [
        (&[("Host", local.as_str()), ours][..], 200),
        (&[("Host", &local), ("Origin", &origin), ours], 200),
        (&[("Host", &local)], 403),
        (&[("Host", &local), ("Origin", &origin)], 403),
        (&[("Host", &local), ("Origin", "https://example.com"), ours], 403),
        (&[("Host", &local), ("Sec-Fetch-Site", "cross-site"), ours], 403),
        (&[("Host", "rebound.example.com"), ours], 403),
    ] {
        let (got, body) = ask("POST", &address, "/dev/clock", headers, &turn);
        assert_eq!(got, code, "{headers:?}: {body}");
        assert_eq!(get_as(&address, "/dev", headers).0, code, "{headers:?}");
    }
    // Before it sends the header to another site, a browser makes a preflight request, and the answer does not allow
    // the header.
    let asks = [
        ("Host", local.as_str()),
        ("Access-Control-Request-Headers", HEADER),
    ];
    assert_eq!(ask("OPTIONS", &address, "/dev/clock", &asks, "").0, 405);
    let large = "x".repeat(4 << 20);
    let (code, _) = ask("POST", &address, "/dev/clock", &[("Host", &local), ours], &large);
    assert_eq!(code, 413);

    // The deadline of a running handler, ten minutes after its entry, passes at once.
    let heavy = json!({
        "apiVersion": "animals.com/v1",
        "kind": "Moose",
        "metadata": {"name": "heavy", "namespace": fixture.namespace},
        "spec": {"height": 2.1, "weight": 2000, "antlers": true},
    });
    fixture.cluster.apply(&heavy.to_string(), &[]);
    let is_in =
        |state: &str| (moose(&fixture)[0].pointer("/status/state") == Some(&json!(state))).then_some(());
    until("it eats", || is_in("Eat"));
    let turn = json!({"seconds": 600}).to_string();
    let (code, body) = ask("POST", &address, "/dev/clock", &[("Host", &local), ours], &turn);
    assert_eq!(code, 200, "{body}");
    until("it is lost", || is_in("Lost"));
    assert!(fixture.is_running());
}

#[test]
fn the_controls_of_the_page_do_what_they_say() {
    let Some(chromium) = browser::chromium() else {
        return;
    };
    let Some(mut fixture) = Fixture::new("page-controls", &DEVELOPMENT) else {
        return;
    };
    grant(&fixture);
    fixture.start(&["--metrics-bind-address=127.0.0.1:0", "--metrics-secure=false"]);
    let address = logged_address(|| fixture.log(), "serving metrics");
    let mut page = Page::open(fixture.cluster, chromium, &format!("http://{address}/"));

    // Creates a sample with the keyboard alone.
    page.wait("create.textContent === 'Create a Moose'");
    page.tab_to("create");
    page.press("Enter");
    page.wait("byId('said').textContent.startsWith('created ')");
    let name = moose(&fixture)[0]["metadata"]["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    assert!(name.starts_with("moose-sample-"), "{name}");
    let stored = |fixture: &Fixture, path: &str| -> Value {
        moose(fixture)[0].pointer(path).cloned().unwrap_or_default()
    };
    until("it sleeps", || {
        (stored(&fixture, "/status/state") == "Sleep").then_some(())
    });
    page.value(&format!(
        "location.hash = 'group=animals.com&kind=Moose&namespace={}&name={name}'",
        fixture.namespace
    ));
    page.wait("answer.object?.state === 'Sleep' && !ofObjectAlone.hidden");

    // An edit that the API server refuses, and one that it accepts.
    page.tab_to("edit");
    page.press("Enter");
    page.wait("editor.open && document.activeElement === text");
    page.write("weight: -1\nheight: 1\nantlers: false\n");
    page.press("Tab");
    page.press("Enter");
    page.wait("refusal.textContent.includes('spec.weight')");
    page.value("text.focus()");
    page.write("weight: 7.5\nheight: 2\nantlers: true\n");
    page.press("Tab");
    page.press("Enter");
    page.wait("!editor.open && byId('said').textContent.startsWith('edited ')");
    assert_eq!(
        stored(&fixture, "/spec"),
        json!({"weight": 7.5, "height": 2, "antlers": true})
    );
    // Escape closes the editor, but the object stays selected.
    page.tab_to("edit");
    page.press("Enter");
    page.wait("editor.open");
    page.press("Escape");
    page.wait("!editor.open && document.activeElement === edit");
    assert_eq!(page.value("route.name"), json!(name));

    // Makes the next handler of the moose fail, which is that of Roam, after two hours of sleep.
    page.tab_to("severity");
    page.value("severity.value = 'permanent'");
    page.tab_to("message");
    page.write("the collar broke");
    page.press("Enter");
    page.wait("planned.textContent === '1 planned'");
    page.tab_to("duration");
    page.write("1h59m");
    page.press("Enter");
    page.wait("ahead.textContent.startsWith('1 h 59 min')");
    assert_eq!(stored(&fixture, "/status/state"), "Sleep");
    page.tab_to("duration");
    page.write("1m");
    page.press("Enter");
    until("the failure is stored", || {
        stored(&fixture, "/status")
            .to_string()
            .contains("the collar broke")
            .then_some(())
    });
    page.wait("planned.textContent === ''");
    page.write("soon");
    page.press("Enter");
    page.wait("byId('said').className === 'bad'");

    page.tab_to("remove");
    page.press("Enter");
    until("it is gone", || moose(&fixture).is_empty().then_some(()));

    page.tab_to("kill");
    page.press("Enter");
    page.wait("byId('said').textContent === 'the process was killed'");
    let ended = until("the process ends", || fixture.ended());
    assert_eq!(ended.signal(), Some(9));
    page.wait("!byId('trouble').hidden");
}
