//! The fields that a description gives its resource, as paths.

use super::value;
use crate::model::machine_status_of;
use crate::tolerant_tree::TolerantTree;

/// The maximum depth of fields, and the maximum number of fields.
const DEEPEST: usize = 6;
const MOST: usize = 500;

/// Fields of every object that paths lead to.
const METADATA: [(&str, &str); 4] = [
    (".metadata.name", "string"),
    (".metadata.namespace", "string"),
    (".metadata.creationTimestamp", "date-time"),
    (".metadata.generation", "integer"),
];

/// The paths of a document's fields, each with its type as written.
pub(super) fn paths(tree: &TolerantTree, text: &str, document: usize) -> Vec<(String, String)> {
    let mut finder = Finder {
        tree,
        text,
        types: tree
            .documents()
            .filter_map(|document| tree.entry(document, "types"))
            .collect(),
        found: Vec::new(),
    };
    if let Some(spec) = tree.entry(document, "spec") {
        match value(tree, text, spec) {
            Some(phrase) => finder.phrase(phrase, ".spec", 0),
            None => finder.fields(spec, ".spec", 0),
        }
    }
    if let Some(status) = tree.entry(document, "status") {
        finder.fields(status, ".status", 0);
    }
    let mut found = finder.found;
    let own = machine_status_of(true)["properties"]
        .as_object()
        .into_iter()
        .flatten();
    found.extend(own.map(|(name, field)| {
        let of = field["type"].as_str().unwrap_or("any");
        (format!(".status.{name}"), of.to_owned())
    }));
    found.extend(METADATA.map(|(path, of)| (path.to_owned(), of.to_owned())));
    found
}

struct Finder<'o, 't> {
    tree: &'o TolerantTree,
    text: &'t str,
    types: Vec<usize>,
    found: Vec<(String, String)>,
}

impl Finder<'_, '_> {
    fn fields(&mut self, mapping: usize, above: &str, depth: usize) {
        let entries: Vec<(usize, String)> = self
            .tree
            .entries(mapping)
            .map(|(part, name)| (part, name.to_owned()))
            .collect();
        for (part, name) in entries {
            // Besides the fields, `spec` may have rules.
            if above == ".spec" && name == "validations" {
                continue;
            }
            self.field(part, &format!("{above}.{}", name.replace('.', "\\.")), depth);
        }
    }

    fn field(&mut self, part: usize, path: &str, depth: usize) {
        if depth == DEEPEST || self.found.len() == MOST {
            return;
        }
        let of = match value(self.tree, self.text, part) {
            Some(phrase) => phrase,
            None => super::value_of(self.tree, self.text, part, "type").unwrap_or("object"),
        };
        self.found.push((path.to_owned(), of.to_owned()));
        self.inside(part, path, depth + 1);
    }

    /// The fields inside a value of the type that a part has.
    fn inside(&mut self, part: usize, path: &str, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        if let Some(phrase) = value(self.tree, self.text, part) {
            self.phrase(phrase, path, depth);
            return;
        }
        if let Some(properties) = self.tree.entry(part, "properties") {
            self.fields(properties, path, depth);
        }
        if let Some(items) = self.tree.entry(part, "items") {
            self.inside(items, &format!("{path}[*]"), depth + 1);
        }
        if let Some(phrase) = super::value_of(self.tree, self.text, part, "type") {
            self.phrase(phrase, path, depth);
        }
    }

    fn phrase(&mut self, phrase: &str, path: &str, depth: usize) {
        let phrase = phrase.trim_start_matches("optional ").trim();
        if let Some(items) = phrase.strip_prefix("list of ") {
            self.phrase(items, &format!("{path}[*]"), depth);
            return;
        }
        let named = self
            .types
            .iter()
            .find_map(|types| self.tree.entry(*types, phrase));
        if let Some(named) = named.filter(|_| depth <= DEEPEST) {
            self.inside(named, path, depth + 1);
        }
    }
}
