//! `docs/language.md`: its tables are those of krator.

use super::file;
use crate::case_file::is_update;
use krator::catalog::Severity;
use krator::catalog::keys::{Absent, Key, places};
use krator::rules;
use std::collections::BTreeMap;

const REFERENCE: &str = "docs/language.md";

/// The tables of the reference by the names in their markers: `<!-- table: states.wait -->`.
fn tables() -> BTreeMap<String, String> {
    let mut tables: BTreeMap<String, String> = places()
        .into_iter()
        .map(|place| {
            let name = match place.paths[0].as_str() {
                "" => "top level",
                path => path,
            };
            let rows = place.section.keys.iter().map(row);
            let head = "| key | type | default | meaning |\n|---|---|---|---|\n".to_owned();
            (name.to_owned(), head + &rows.collect::<String>())
        })
        .collect();
    let fields = krator::model::machine_status()["properties"].as_object();
    let rows = fields.expect("fields").iter().map(|(name, field)| {
        let meaning = field["description"].as_str().expect("a description");
        format!("| `{name}` | {} |\n", cell(meaning))
    });
    let head = "| field | meaning |\n|---|---|\n".to_owned();
    tables.insert("status fields".to_owned(), head + &rows.collect::<String>());
    for (name, severity) in [
        ("errors", Severity::Error),
        ("warnings", Severity::Warning),
        ("infos", Severity::Info),
    ] {
        let rules = rules::all().filter(|rule| rule.severity == severity);
        let rows = rules.map(|rule| format!("| `{}` | {} |\n", rule.name, cell(rule.summary)));
        let head = "| rule | holds when |\n|---|---|\n".to_owned();
        tables.insert(name.to_owned(), head + &rows.collect::<String>());
    }
    tables
}

fn row(key: &Key) -> String {
    let absent = match key.absent {
        Absent::Required => "required",
        Absent::Nothing => "–",
        Absent::Default(default) => default,
    };
    let (value, doc) = (cell(&key.value.to_string()), cell(key.doc));
    format!("| `{}` | {value} | {absent} | {doc} |\n", key.name)
}

/// A text that is one cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The reference with the tables of krator in the places of its own.
fn rendered(text: &str, tables: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut is_in_table = false;
    for line in text.lines() {
        let name = line
            .strip_prefix("<!-- table: ")
            .and_then(|rest| rest.strip_suffix(" -->"));
        is_in_table &= line.starts_with('|') || line.is_empty();
        if !is_in_table {
            out += &format!("{line}\n");
        }
        if let Some(name) = name {
            let table = tables
                .get(name)
                .unwrap_or_else(|| panic!("krator has no table `{name}`"));
            out += &format!("\n{table}\n");
            is_in_table = true;
        }
    }
    out.trim_end().to_owned() + "\n"
}

#[test]
fn the_tables_of_the_reference_are_those_of_krator() {
    let (text, tables) = (file(REFERENCE), tables());
    for name in tables.keys() {
        let marker = format!("<!-- table: {name} -->\n");
        assert_eq!(text.matches(&marker).count(), 1, "{REFERENCE} has one {marker}");
    }
    let rendered = rendered(&text, &tables);
    let path = krator_tests::root().join(REFERENCE);
    if is_update(&path) {
        std::fs::write(path, rendered).expect("a file of the repository");
    } else {
        assert!(
            text == rendered,
            "{REFERENCE} is outdated; KRATOR_UPDATE=1 rewrites its tables"
        );
    }
}
