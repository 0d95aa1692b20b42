//! Completion: the words that may be written at a place.

use super::types::{sections, types_at};
use super::{at, fields, kind_of, states, value, value_of};
use crate::catalog::Severity;
use crate::catalog::keys::{Absent, Key, NameOf, Section, Type};
use crate::finding::Span;
use crate::model::{kubernetes, type_words};
use crate::tolerant_tree::{Place, Step};

/// Something that may be written at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The label in the list, which editors compare with the text already written.
    pub label: String,
    /// Its kind.
    pub kind: CompletionKind,
    /// Its type, or other information that fits in a line.
    pub detail: String,
    /// Its meaning.
    pub doc: String,
    /// The text that replaces the one at `span`.
    pub insert: String,
    /// The text that is replaced.
    pub span: Span,
}

/// The kind of a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionKind {
    /// A key of the language.
    Key,
    /// One of the words that a key takes.
    Word,
    /// The name of a state.
    State,
    /// A type of a schema.
    Type,
    /// A kind of Kubernetes or of the description.
    Kind,
    /// The path of a field.
    Path,
    /// A rule of krator, or a condition.
    Name,
}

/// The completions at an offset, in the order of the reference. The editor filters them by the text already written.
pub fn complete(text: &str, offset: usize) -> Vec<Completion> {
    let Some(place) = Place::at(text, offset) else {
        return Vec::new();
    };
    let types = types_at(&place.path);
    let mut list = List {
        text,
        place: &place,
        found: Vec::new(),
    };
    if place.is_value {
        types.iter().for_each(|of| list.values(of));
    }
    if place.is_key {
        sections(&types).for_each(|section| list.keys(section));
        types.iter().for_each(|of| list.names(of));
    }
    list.found
}

struct List<'p, 't> {
    text: &'t str,
    place: &'p Place,
    found: Vec<Completion>,
}

impl List<'_, '_> {
    fn document(&self) -> usize {
        self.place.tree.document(self.place.part)
    }

    fn add(&mut self, kind: CompletionKind, label: &str, detail: &str, doc: &str) {
        self.add_at(self.place.token, kind, label, detail, doc);
    }

    fn add_at(&mut self, span: Span, kind: CompletionKind, label: &str, detail: &str, doc: &str) {
        if self.found.iter().any(|there| there.label == label) {
            return;
        }
        let is_quoted = self.text[..span.start].ends_with(['"', '\'']);
        let needs_quotes =
            matches!(label, "True" | "False" | "*") || label.contains("[*]") && self.place.in_brackets;
        self.found.push(Completion {
            label: label.to_owned(),
            kind,
            detail: detail.to_owned(),
            doc: doc.to_owned(),
            insert: if needs_quotes && !is_quoted {
                format!("\"{label}\"")
            } else {
                label.to_owned()
            },
            span,
        });
    }

    fn values(&mut self, of: &'static Type) {
        match of {
            Type::Word(words) => {
                for word in *words {
                    self.add(CompletionKind::Word, word, "", "");
                }
            }
            Type::Boolean => {
                for word in ["true", "false"] {
                    self.add(CompletionKind::Word, word, "", "");
                }
            }
            Type::True => self.add(CompletionKind::Word, "true", "", ""),
            Type::State => self.states(),
            Type::Kind => self.kinds(),
            Type::Path => {
                let paths = fields::paths(&self.place.tree, self.text, self.document());
                for (path, of) in paths {
                    self.add(CompletionKind::Path, &path, &of, "");
                }
            }
            Type::Schema | Type::Phrase(_) => self.phrase(),
            _ => {}
        }
    }

    fn states(&mut self) {
        let tree = &self.place.tree;
        for name in states::all(tree, self.document()) {
            let part = states::state(tree, self.document(), name);
            let part = |key| value_of(tree, self.text, part?, key);
            let (kind, doc) = (part("kind").unwrap_or("working"), part("doc").unwrap_or_default());
            self.add(CompletionKind::State, name, kind, doc);
        }
    }

    /// Kinds: in a `wait` the owned or watched ones, elsewhere those of the file and of Kubernetes.
    fn kinds(&mut self) {
        let is_wait = self.place.path.contains(&Step::Key("wait".to_owned()));
        if is_wait {
            for kind in self.in_view() {
                self.add(CompletionKind::Kind, &kind, "", "");
            }
            return;
        }
        let tree = &self.place.tree;
        let described: Vec<String> = tree
            .documents()
            .filter_map(|document| kind_of(tree, self.text, document))
            .collect();
        for kind in described {
            self.add(CompletionKind::Kind, &kind, "of this file", "");
        }
        for kind in kubernetes::kinds() {
            self.add(CompletionKind::Kind, kind, "of Kubernetes", "");
        }
    }

    /// The kinds of `owns` and `watches`.
    fn in_view(&self) -> Vec<String> {
        let (tree, document) = (&self.place.tree, self.document());
        let lists = ["owns", "watches"]
            .into_iter()
            .filter_map(|key| tree.entry(document, key));
        let items = lists.flat_map(|list| tree.inside(list));
        let kinds = items.filter_map(|item| {
            value(tree, self.text, item).or_else(|| value_of(tree, self.text, item, "kind"))
        });
        kinds.map(str::to_owned).collect()
    }

    /// The next word of a type.
    fn phrase(&mut self) {
        let before = &self.place.before;
        let begun = before.rfind(' ').map_or(0, |space| space + 1);
        let span = Span::new(self.place.token.start + begun, self.place.token.end);
        if begun == 0 {
            let doc = "The value may be left out.";
            self.add_at(span, CompletionKind::Type, "optional", "", doc);
        }
        for word in ["list of", "map of"] {
            self.add_at(span, CompletionKind::Type, word, "", "");
        }
        for word in type_words() {
            self.add_at(span, CompletionKind::Type, word, "", "");
        }
        let tree = &self.place.tree;
        let types = tree
            .documents()
            .filter_map(|document| tree.entry(document, "types"));
        let named = types.flat_map(|types| tree.entries(types));
        let named: Vec<String> = named.map(|(_, name)| name.to_owned()).collect();
        for name in named {
            self.add_at(span, CompletionKind::Type, &name, "of `types`", "");
        }
        // There are hundreds of built-in types, so they are offered only after a `/`.
        if before[begun..].contains('/') {
            for reference in kubernetes::references() {
                self.add_at(span, CompletionKind::Type, reference, "of Kubernetes", "");
            }
        }
    }

    fn keys(&mut self, section: &'static Section) {
        let there: Vec<String> = self.place.keys().map(str::to_owned).collect();
        for key in section
            .keys
            .iter()
            .filter(|key| !there.iter().any(|name| name == key.name))
        {
            let mut doc = key.doc.to_owned();
            if let Absent::Default(default) = key.absent {
                doc += &format!("\n\nDefault: {default}.");
            }
            self.add(CompletionKind::Key, key.name, &key.value.to_string(), &doc);
            self.with_colon(key);
        }
    }

    /// Appends a colon to the last completion, which is a key.
    fn with_colon(&mut self, key: &Key) {
        if self.place.has_colon {
            return;
        }
        let is_block = matches!(key.value, Type::Mapping(_) | Type::Map { .. }) && !self.place.in_brackets;
        if let Some(last) = self.found.last_mut().filter(|last| last.label == key.name) {
            last.insert.push_str(if is_block { ":" } else { ": " });
        }
    }

    /// Names that are keys: of states, rules, conditions and kinds.
    fn names(&mut self, of: &'static Type) {
        let Type::Map { by, .. } = of else {
            return;
        };
        let before = self.found.len();
        match by {
            // Under `states`, the keys define new names.
            NameOf::State if self.place.path != [Step::Key("states".to_owned())] => self.states(),
            NameOf::Kind => self.kinds(),
            NameOf::Rule => {
                let rules = crate::rules::all().filter(|rule| rule.severity != Severity::Error);
                for rule in rules {
                    self.add(
                        CompletionKind::Name,
                        rule.name,
                        rule.severity.as_str(),
                        rule.summary,
                    );
                }
            }
            NameOf::Condition if self.place.path.len() > 1 => self.conditions(),
            _ => {}
        }
        if !self.place.has_colon {
            for completion in &mut self.found[before..] {
                completion.insert.push_str(": ");
            }
        }
    }

    /// The conditions that the document declares.
    fn conditions(&mut self) {
        let tree = &self.place.tree;
        let declared = tree.entry(self.document(), "conditions");
        let entries = declared.into_iter().flat_map(|declared| tree.entries(declared));
        let declared: Vec<(String, String)> = entries
            .map(|(part, name)| {
                let doc = tree.parts[part].value.map_or("", |value| at(self.text, value));
                (name.to_owned(), doc.to_owned())
            })
            .collect();
        for (name, doc) in declared {
            self.add(CompletionKind::Name, &name, "", &doc);
        }
        self.add(
            CompletionKind::Name,
            "Ready",
            "",
            "`Ready: keep` leaves Ready unchanged.",
        );
    }
}
