//! The rooms of both crates form layers: the uses between rooms have no cycles, not even longer ones.
//!
//! A room is a top-level module. A path belongs to the room that defines the named item: re-exports are followed, and a
//! re-export of another room counts as a use of both.
//!
//! Within a room the modules form layers too: the uses between the children of one module, each including all modules
//! below it, have no cycles. A module and its children may use each other.

mod modules;
mod planted;
mod rooms;

use crate::documents::CRATES;
use modules::Sources;
use rooms::{Rooms, inner_cycles, rooms_of};
use std::fs;
use std::path::Path;

fn sources(folder: &Path) -> Sources {
    let mut sources = Sources::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder of the repository") {
            let path = entry.expect("a folder of the repository").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(folder).expect("found below it");
                let text = fs::read_to_string(&path).expect("Rust is UTF-8");
                sources.insert(name.to_str().expect("a plain name").to_owned(), text);
            }
        }
    }
    sources
}

fn sources_at(folder: &str) -> Sources {
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
}

fn crate_at(name: &str, folder: &str) -> Rooms {
    rooms_of(name, &sources_at(folder))
}

fn assert_layers(name: &str, folder: &str) {
    let rooms = crate_at(name, folder);
    assert!(rooms.edges.len() > 10, "{folder}: not read");
    let cycle = rooms.cycle_report();
    assert!(
        cycle.is_none(),
        "the rooms of {folder} form a cycle:\n{}",
        cycle.unwrap_or_default()
    );
    let order = rooms.order_report();
    assert!(
        order.is_none(),
        "{folder}/lib.rs lists a room before one that it uses:\n{}",
        order.unwrap_or_default()
    );
    let circles = circles(name, &sources_at(folder));
    assert!(
        circles.is_empty(),
        "modules within the rooms of {folder} use each other:\n{circles}"
    );
}

/// The cycles among the modules within the rooms of a crate.
fn circles(name: &str, sources: &Sources) -> String {
    let circles = inner_cycles(name, sources).into_iter();
    circles
        .map(|circle| format!("in {}:\n{}", circle.parent, circle.report))
        .collect()
}

/// A longer file should be split by topic.
const LONGEST_FILE: usize = 450;

#[test]
fn no_file_is_too_long_to_be_read_at_once() {
    let folders: Vec<String> = CRATES.map(|folder| format!("{folder}/src")).into();
    let long: Vec<String> = folders
        .iter()
        .map(String::as_str)
        .chain(["src"])
        .flat_map(|folder| {
            sources_at(folder)
                .into_iter()
                .map(move |(name, text)| (format!("{folder}/{name}"), text))
        })
        .filter(|(_, text)| text.lines().count() > LONGEST_FILE)
        .map(|(path, text)| format!("{path}: {} lines", text.lines().count()))
        .collect();
    assert!(long.is_empty(), "split these files by meaning: {long:#?}");
}

#[test]
fn the_rooms_of_krator_are_layers() {
    assert_layers("krator", "src");
}

#[test]
fn the_rooms_of_the_language_are_layers() {
    assert_layers("krator_language", "crates/krator-language/src");
}

#[test]
fn the_rooms_of_the_machine_are_layers() {
    assert_layers("krator_machine", "crates/krator-machine/src");
}

#[test]
fn the_rooms_of_the_runtime_are_layers() {
    assert_layers("krator_runtime", "crates/krator-runtime/src");
}

#[test]
fn the_rooms_of_cel_are_layers() {
    assert_layers("krator_cel", "crates/krator-cel/src");
}

#[test]
fn the_rooms_of_the_schema_crate_are_layers() {
    assert_layers("krator_schema", "crates/krator-schema/src");
}

#[test]
fn the_rooms_of_the_embedded_api_server_are_layers() {
    assert_layers("krator_apiserver", "crates/krator-apiserver/src");
}

/// Two of the crates had such a cycle: the reader imported the checks of rules, and the core of the runtime the cluster.
#[test]
fn a_cycle_that_was_removed_is_found_when_it_comes_back() {
    for (name, folder, file, import, edge) in [
        (
            "krator_language",
            "crates/krator-language/src",
            "spec/parse.rs",
            "use crate::rules::judge;",
            "spec -> rules",
        ),
        (
            "krator_runtime",
            "crates/krator-runtime/src",
            "world.rs",
            "use crate::OperatorRuntime;",
            "world -> cluster",
        ),
    ] {
        let mut sources = sources_at(folder);
        let text = sources.get_mut(file).expect("a file of the crate");
        text.push_str(import);
        let line = text.lines().count();
        let cycle = rooms_of(name, &sources).cycle_report().unwrap_or_default();
        assert!(
            cycle.contains(&format!("{edge}: {file}:{line}\n")),
            "{folder}: {cycle}"
        );
    }
}

/// One crate had such a cycle: the watches took a limit from the world, which uses them.
#[test]
fn a_circle_within_a_room_is_found_when_it_comes_back() {
    let (name, folder) = ("krator_runtime", "crates/krator-runtime/src");
    let mut sources = sources_at(folder);
    let text = sources
        .get_mut("cluster/related/watches/cache.rs")
        .expect("a file of the crate");
    text.push_str("use crate::cluster::objects::remote::Remote;");
    let line = text.lines().count();
    let circles = circles(name, &sources);
    let edge = format!("related -> objects: cluster/related/watches/cache.rs:{line}\n");
    assert!(circles.contains(&edge), "{circles}");
}
