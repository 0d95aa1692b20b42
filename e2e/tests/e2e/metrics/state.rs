//! How an operator shows its objects: as JSON under `/state`, and as the page under `/`.

use super::controls::assert_no_controls;
use super::{bind_reader, browser, scrape, token};
use crate::cluster::until;
use crate::moose::{Fixture, UNTOUCHED, names, states};
use crate::probes::{get_as, logged_address};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A text that would be HTML without escaping.
const HOSTILE: &str = "<img src=x onerror=\"document.title='owned'\"></script>";

/// The state of each object, according to the API server.
fn stored_states(fixture: &Fixture) -> BTreeMap<String, String> {
    let list = fixture.kubectl(&["get", "moose", "--output=json"]);
    let list: Value = serde_json::from_str(&list).expect("kubectl writes JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items = list["items"].as_array().expect("a list");
    let of_item = |item: &Value| (text(&item["metadata"]["name"]), text(&item["status"]["state"]));
    items.iter().map(of_item).collect()
}

/// The state of each object, according to `/state`; None if its list and its count differ.
fn shown_states(read: impl Fn(&str) -> Value) -> Option<BTreeMap<String, String>> {
    let mut shown = BTreeMap::new();
    for state in read("/state")["kinds"][0]["states"].as_array().expect("a list") {
        let name = state["name"].as_str().expect("a name");
        let listed = read(&format!("/state?group=animals.com&kind=Moose&state={name}"));
        // An object may have moved between the two answers.
        if listed["objects"]["total"] != state["objects"] {
            return None;
        }
        for item in listed["objects"]["items"].as_array().expect("a list") {
            assert_eq!(item["state"], name);
            shown.insert(item["name"].as_str().expect("a name").to_owned(), name.to_owned());
        }
    }
    Some(shown)
}

#[test]
fn the_state_is_shown_to_those_who_have_its_right_and_is_what_is_stored() {
    let Some(mut fixture) = Fixture::new("state", &UNTOUCHED) else {
        return;
    };
    let moose = names(3);
    fixture.create(&moose);
    fixture.start(&["--metrics-bind-address=127.0.0.1:0"]);
    let address = logged_address(|| fixture.log(), "serving metrics");
    let (reader, viewer) = (token(&fixture, "reader"), token(&fixture, "viewer"));
    bind_reader(&fixture, "reader", "moose-tracker-metrics-reader");
    bind_reader(&fixture, "viewer", "moose-tracker-state-reader");
    let ask = |path: &str, token: &str| scrape(fixture.cluster, &address, path, Some(token));
    for (path, token) in [("/metrics", &reader), ("/state", &viewer), ("/", &viewer)] {
        until(&format!("the right to get {path} is in force"), || {
            ask(path, token).ok()
        });
    }
    for (path, token) in [("/metrics", &viewer), ("/state", &reader), ("/", &reader)] {
        let error = ask(path, token).expect_err("it is not their right");
        assert!(error.contains("Forbidden"), "{path}: {error}");
        let error = scrape(fixture.cluster, &address, path, None).expect_err("there is no token");
        assert!(
            error.contains("Unauthorized") || error.contains("provide credentials"),
            "{path}: {error}"
        );
    }
    let read = |path: &str| -> Value {
        let json = ask(path, &viewer).expect("the right was granted");
        serde_json::from_str(&json).expect("JSON")
    };
    until("what is shown is what is stored", || {
        let before = stored_states(&fixture);
        let shown = shown_states(read)?;
        (shown.len() == 3 && before == shown && stored_states(&fixture) == shown).then_some(())
    });
    let one = "/state?group=animals.com&kind=Moose&name=moose-1&namespace=";
    let one = format!("{one}{}", fixture.namespace);
    until("the transitions of a moose are those that were stored", || {
        let answer = read(&one);
        let text = answer.to_string();
        for hidden in ["450.5", "antlers"] {
            assert!(!text.contains(hidden), "{hidden} is of the spec: {text}");
        }
        let transitions = answer["transitions"].as_array().expect("a list");
        let entered: Vec<&str> = transitions
            .iter()
            .rev()
            .filter_map(|t| t["to"].as_str())
            .collect();
        let events = fixture.watch.events();
        let stored: Vec<&str> = states(&events, "moose-1")
            .into_iter()
            .filter(|state| !state.is_empty())
            .collect();
        (entered.contains(&"Sleep") && entered == stored && transitions[0]["from"] == "Eat").then_some(())
    });
    // kubectl adds the token, because a browser cannot, so that the page of an operator in a cluster can be opened.
    let mut proxy = Command::new(fixture.cluster.assets().join("kubectl"))
        .args(["--kubeconfig=/dev/null", "--insecure-skip-tls-verify", "--server"])
        .arg(format!("https://{address}"))
        .arg(format!("--token={viewer}"))
        .args(["proxy", "--port=0"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("kubectl runs");
    fixture.cluster.process_guard().hold(&proxy);
    let mut line = String::new();
    let output = proxy.stdout.take().expect("a pipe");
    BufReader::new(output)
        .read_line(&mut line)
        .expect("kubectl writes");
    let proxied = line.trim().rsplit(' ').next().expect("an address").to_owned();
    let (status, page) = get_as(&proxied, "/", &[("Host", &proxied)]);
    assert!(
        status == 200 && page.contains("<!doctype html>"),
        "{status}: {page}"
    );
    assert_eq!(get_as(&proxied, "/state", &[("Host", &proxied)]).0, 200);
    end(&fixture, proxy);

    fixture.kubectl(&["delete", "moose", "--all", "--timeout=120s"]);
    until("an object that is gone is not shown", || {
        let answer = read(&one);
        let last = &answer["transitions"][0]["to"];
        (answer["object"] == Value::Null && last == "Released").then_some(())
    });
    assert_eq!(fixture.terminate().code(), Some(0));
    assert_eq!(
        fixture.forbidden(),
        [""; 0],
        "the generated roles allow the reviews"
    );
}

fn end(fixture: &Fixture, mut process: Child) {
    process.kill().expect("our own child");
    process.wait().expect("our own child");
    fixture.cluster.process_guard().free(&process);
}

#[test]
fn without_tls_the_page_is_for_this_machine_and_shows_texts_of_objects_as_texts() {
    let Some(mut fixture) = Fixture::new("page", &UNTOUCHED) else {
        return;
    };
    fixture.create(&names(1));
    let status = json!({"status": {"state": "Fly", "message": HOSTILE}}).to_string();
    let patch = [
        "patch",
        "moose/moose-1",
        "--subresource=status",
        "--type=merge",
        "--patch",
        &status,
    ];
    fixture.kubectl(&patch);
    fixture.start(&["--metrics-bind-address=127.0.0.1:0", "--metrics-secure=false"]);
    let address = logged_address(|| fixture.log(), "serving metrics");
    let (_, port) = address.rsplit_once(':').expect("a port");
    let (local, origin) = (format!("localhost:{port}"), format!("http://localhost:{port}"));
    let parked = "/state?kind=Moose&parked=true";
    let list = until("the moose is parked", || {
        let (_, json) = get_as(&address, parked, &[("Host", &address)]);
        let answer: Value = serde_json::from_str(&json).expect("JSON");
        let item = answer["objects"]["items"].get(0)?.clone();
        (item["conditions"][0]["type"] == "Stalled").then_some(item)
    });
    assert_eq!(
        (&list["message"], &list["storedState"]),
        (&json!(HOSTILE), &json!("Fly"))
    );
    for path in ["/state", "/", "/metrics"] {
        for (headers, status) in [
            (&[("Host", local.as_str())][..], 200),
            (&[("Host", &local), ("Origin", &origin)], 200),
            (&[("Host", &local), ("Origin", "https://example.com")], 403),
            (&[("Host", &local), ("Sec-Fetch-Site", "cross-site")], 403),
            (&[("Host", "rebound.example.com")], 403),
        ] {
            assert_eq!(get_as(&address, path, headers).0, status, "{path}: {headers:?}");
        }
    }
    assert_eq!(get_as(&address, "/favicon.ico", &[("Host", &address)]).0, 404);
    assert_no_controls(&fixture, &address);

    let Some(chromium) = browser::chromium() else {
        return;
    };
    let shown = |select: &str| {
        let profile = tempfile::tempdir().expect("a temporary folder");
        let output = Command::new(chromium)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .arg("--virtual-time-budget=10000")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("http://{address}/#{select}"))
            .output()
            .expect("Chromium runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let object = format!("kind=Moose&namespace={}&name=moose-1", fixture.namespace);
    for select in ["kind=Moose&parked=true", &object] {
        let document = shown(select);
        // The script is part of the document, but it is not compared.
        let (_, body) = document.split_once("<main>").expect("a page");
        let (body, _) = body.split_once("<script>").expect("a script");
        for there in ["moose-1", "&lt;img src=x onerror=", ">Roam</text>"] {
            assert!(body.contains(there), "no {there}:\n{body}");
        }
        assert!(!body.contains("<img"), "{body}");
        assert!(document.contains("<title>moose-tracker</title>"), "{document}");
    }
}
