//! Cycles that are planted in small crates, each found at its lines.

use super::modules::Sources;
use super::rooms::{inner_cycles, rooms_of};

/// The shortest cycle of a crate whose files follow lines `== NAME`.
fn cycle_in(files: &str) -> String {
    rooms_of("planted", &sources_of(files))
        .cycle_report()
        .unwrap_or_default()
}

fn sources_of(files: &str) -> Sources {
    let mut sources = Sources::new();
    for file in files.split("== ").skip(1) {
        let (name, text) = file.split_once('\n').expect("a name has a line of its own");
        sources.insert(name.to_owned(), text.to_owned());
    }
    sources
}

/// The cycles within the rooms of a crate, in the same form.
fn inner_cycles_in(files: &str) -> String {
    let cycles = inner_cycles("planted", &sources_of(files)).into_iter();
    cycles
        .map(|cycle| format!("{}:\n{}", cycle.parent, cycle.report))
        .collect()
}

#[test]
fn a_direct_cycle() {
    let files = "\
== lib.rs
mod high;
mod low;
== high.rs
use crate::low::Low as Renamed;
pub struct High;
== low.rs
pub struct Low;
pub fn up(_: crate::high::High) {}
";
    assert_eq!(cycle_in(files), "high -> low: high.rs:1\nlow -> high: low.rs:2\n");
}

#[test]
fn a_cycle_over_three_rooms_with_groups_and_globs() {
    let files = "\
== lib.rs
mod a;
mod b;
mod c;
== a.rs
use crate::{
    b::{self, B},
};
== b.rs
use super::c::*;
== c.rs
fn f() {
    use crate::a;
}
";
    assert_eq!(
        cycle_in(files),
        "a -> b: a.rs:2\nb -> c: b.rs:1\nc -> a: c.rs:2\n"
    );
}

#[test]
fn a_cycle_through_super_at_any_depth() {
    let files = "\
== lib.rs
mod high;
mod low;
== high.rs
use crate::low::Low;
== low.rs
mod deep;
pub struct Low;
== low/deep.rs
mod inline {
    fn f(_: super::super::super::high::High) {}
    fn stays(_: super::super::Low) {}
}
";
    assert_eq!(
        cycle_in(files),
        "high -> low: high.rs:1\nlow -> high: low/deep.rs:2\n"
    );
}

#[test]
fn cycles_in_macros_and_attributes() {
    let in_low = |line: &str| {
        format!("== lib.rs\nmod high;\nmod low;\n== high.rs\nuse crate::low::Low;\n== low.rs\n{line}\n")
    };
    for line in [
        "fn f() { assert_eq!(1, crate::high::one()); }",
        "fn f() { vec![super::high::one(); 3]; }",
        "macro_rules! one { () => { $crate::high::one() } }",
        "crate::high::items! {}",
        "tests! { use crate::{low, high::{One as Two}}; }",
        "#[serde(with = \"crate::high\")] struct Low;",
        "#[derive(crate::high::Derive)] struct Low;",
    ] {
        let expected = "high -> low: high.rs:1\nlow -> high: low.rs:1\n";
        assert_eq!(cycle_in(&in_low(line)), expected, "{line}");
    }
    for line in [
        "fn f() { quote! { crate::high::one() }; }",
        "fn f() { vec![quote!(crate::high::one())]; }",
        "tests! { use std::{high, crate::high}; use crate::low::{One as high}; }",
        "#[cfg(test)] mod tests { use crate::high; }",
        "#[cfg(all(test, unix))] fn f() { crate::high::one() }",
        "/// [`crate::high`]\npub(super) fn high() { other.high.low(::high::one()) }",
    ] {
        assert_eq!(cycle_in(&in_low(line)), "", "{line}");
    }
}

#[test]
fn a_cycle_behind_a_reexport_of_the_root() {
    let files = "\
== lib.rs
mod high;
mod low;
pub use high::High as Top;
== high.rs
use crate::low::Low;
pub struct High;
== low.rs
pub struct Low(crate::Top);
";
    assert_eq!(cycle_in(files), "high -> low: high.rs:1\nlow -> high: low.rs:1\n");
}

#[test]
fn what_the_root_defines_is_above_all_rooms() {
    let files = "\
== lib.rs
mod low;
pub fn run() { low::run() }
== low.rs
pub fn run() { crate::run() }
";
    assert_eq!(cycle_in(files), "lib -> low: lib.rs:2\nlow -> lib: low.rs:1\n");
    let files = files.replace(
        "crate::run()",
        "statics! { pub(super) use crate::{low}; pub(in crate::low) static }",
    );
    assert_eq!(cycle_in(&files), "");
}

/// The longer cycle through `middle` exists, too.
#[test]
fn a_cycle_behind_a_reexport_of_another_room() {
    for reexport in [
        "pub use crate::high::High;",
        "pub use crate::high::*;",
        "pub use super::high::{High};",
    ] {
        for import in [
            "use crate::middle::High;",
            "use crate::middle;\n\n fn f(_: middle::High) {}",
            "use crate::middle::*;\n\nfn f(_: High) {}",
        ] {
            let files = format!(
                "== lib.rs\nmod high;\nmod middle;\nmod low;\n\
                 == high.rs\nuse crate::low::Low;\npub struct High;\n\
                 == middle.rs\n{reexport}\n== low.rs\n{import}\n"
            );
            let line = if import.contains("fn f") { 3 } else { 1 };
            let expected = format!("high -> low: high.rs:1\nlow -> high: low.rs:{line}\n");
            assert_eq!(cycle_in(&files), expected, "{reexport} {import}");
        }
    }
}

#[test]
fn a_cycle_in_the_binary() {
    let files = "\
== main.rs
mod cli;
mod output;
fn main() { cli::run() }
== cli.rs
use planted::low::Low;
pub fn run() { crate::output::write() }
== output.rs
use super::cli;
== lib.rs
pub mod low;
== low.rs
pub struct Low;
";
    assert_eq!(
        cycle_in(files),
        "cli -> output: cli.rs:2\noutput -> cli: output.rs:1\n"
    );
}

#[test]
fn rooms_are_listed_before_those_that_use_them() {
    let listed = |rooms: &str| {
        let files = [("lib.rs", rooms), ("low.rs", ""), ("high.rs", "use crate::low;")];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        rooms_of("planted", &Sources::from(files)).order_report()
    };
    assert_eq!(listed("mod low;\nmod high;"), None);
    assert_eq!(
        listed("mod high;\nmod low;").as_deref(),
        Some("high -> low: high.rs:1\n")
    );
}

#[test]
fn circles_within_a_room_are_those_of_its_children() {
    let room = "\
== lib.rs
mod room;
== room.rs
mod a;
mod b;
pub struct OfAll;
fn f() { a::f(); b::f() }
";
    let children =
        |a: &str, b: &str| inner_cycles_in(&format!("{room}== room/a.rs\n{a}\n== room/b.rs\n{b}\n"));
    assert_eq!(
        children(
            "use super::b::f;",
            "mod deep;\n== room/b/deep.rs\nuse crate::room::a;"
        ),
        "room:\na -> b: room/a.rs:1\nb -> a: room/b/deep.rs:1\n"
    );
    assert_eq!(children("use super::{OfAll, b};", "use super::OfAll;"), "");
}
