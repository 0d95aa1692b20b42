//! Checks that a real server still answers as in the records in `testdata/builtin/`, which the tests of
//! `krator-apiserver` use. No command updates the records: if a new version of Kubernetes answers differently, the
//! record is changed by hand.

use super::{masked::UID, real, real_cluster, runtime};
use krator_apiserver::builtin;
use kube::Client;
use serde_json::Value as Json;
use std::{fs, path::Path};

/// Services whose address or port is refused: dry runs do not allocate any.
const LEFT_OUT: [&str; 3] = ["node port out of range", "address out of range", "taken address"];

/// The server's answer to a creation as a dry run: the code, and the errors or the spec with its defaults.
async fn answer(client: &Client, record: &Json) -> String {
    let (group, resource) = (&record["group"], &record["resource"]);
    let mut kinds = builtin::kinds().iter();
    let kind = kinds.find(|kind| *group == kind.group && *resource == kind.resource);
    let kind = kind.unwrap_or_else(|| panic!("{resource} of {group} are no builtin kind"));
    let root = match kind.group.as_str() {
        "" => format!("/api/{}", kind.version),
        group => format!("/apis/{group}/{}", kind.version),
    };
    let namespace = if kind.namespaced {
        "/namespaces/default"
    } else {
        ""
    };
    let path = format!("{root}{namespace}/{}?dryRun=All", kind.resource);
    let request = http::Request::post(path).header(http::header::CONTENT_TYPE, "application/json");
    let body = record["create"].to_string().into_bytes();
    match client
        .request::<Json>(request.body(body).expect("a request"))
        .await
    {
        Ok(object) => accepted(&object),
        Err(kube::Error::Api(status)) => masked(format!("{} {}", status.code, status.message)),
        Err(error) => panic!("{} {}: {error}", record["resource"], record["name"]),
    }
}

/// The part of an accepted object that is the same each time. Services get allocated addresses and ports.
fn accepted(object: &Json) -> String {
    match object["kind"] == "Service" {
        true => "201".to_owned(),
        false => masked(format!("201 {}", object["spec"])),
    }
}

fn masked(text: String) -> String {
    UID.replace_all(&text, "UID").into_owned()
}

/// The recorded answer to the same request.
fn recorded(record: &Json) -> String {
    match record["refusal"]["message"].as_str() {
        Some(message) => masked(format!("{} {message}", record["code"])),
        None => accepted(&record["answer"]),
    }
}

#[test]
fn records_are_what_a_real_server_answers() {
    let Some(cluster) = real_cluster() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/krator-apiserver/testdata/builtin");
    let files = fs::read_dir(folder).expect("the folder of the records");
    let texts =
        files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("a file of records"));
    let text: String = texts.collect();
    let records = text
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).expect("a record"));
    let mut different = Vec::new();
    runtime().block_on(async {
        let client = real(&cluster).await;
        for record in records.filter(|record| !LEFT_OUT.iter().any(|name| record["name"] == *name)) {
            let (then, now) = (recorded(&record), answer(&client, &record).await);
            if then != now {
                different.push(format!(
                    "{} {}\n-{then}\n+{now}",
                    record["resource"], record["name"]
                ));
            }
        }
    });
    assert!(different.is_empty(), "not as recorded:\n{}", different.join("\n"));
}
