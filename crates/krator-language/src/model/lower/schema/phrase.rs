//! Types that are written as a phrase: `optional list of string`.

use super::Types;
use crate::catalog::{INVALID_SCHEMA, WRONG_TYPE};
use crate::finding::{Finding, Span};
use crate::model::lower::sink::Sink;
use crate::model::{KubernetesType, Schema, Shape, kubernetes};
use crate::text::shown;

/// The types of the language that consist of one word.
const WORDS: [(&str, Shape); 11] = [
    ("string", Shape::String),
    ("boolean", Shape::Boolean),
    ("integer", Shape::Integer),
    ("int32", Shape::Int32),
    ("number", Shape::Number),
    ("date-time", Shape::DateTime),
    ("duration", Shape::Duration),
    ("quantity", Shape::Quantity),
    ("int-or-string", Shape::IntOrString),
    ("object", Shape::FreeForm),
    ("any", Shape::Any),
];

/// The maximum nesting of lists and maps in a phrase.
pub(crate) const DEEPEST_PHRASE: usize = 16;

/// The types of the language that consist of one word, by their names.
pub(crate) fn type_words() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|(name, _)| *name)
}

impl Types<'_> {
    /// `[optional] [list of | map of]… TYPE`.
    pub(super) fn phrase(&mut self, phrase: &str, span: Span, sink: &Sink<'_>) -> Schema {
        let mut words: Vec<&str> = phrase.split_ascii_whitespace().collect();
        words.reverse();
        let optional = words.last() == Some(&"optional");
        if optional {
            words.pop();
        }
        let mut around = Vec::new();
        while let [.., "of", collection @ ("list" | "map")] = words[..] {
            around.push(collection);
            words.truncate(words.len() - 2);
        }
        if around.len() > DEEPEST_PHRASE {
            let message = format!("a type can have at most {DEEPEST_PHRASE} nested lists and maps");
            sink.error(&INVALID_SCHEMA, span, message);
            return Schema::plain(Shape::Any, span);
        }
        let shape = match words[..] {
            [word] => self.word(word, span, sink),
            _ => {
                let message = format!("`{}` is not a type", shown(phrase));
                let help = "a type is `[optional] [list of | map of]… TYPE`, or a mapping";
                sink.report(Finding::new(&WRONG_TYPE, span, message).help(help));
                Shape::Any
            }
        };
        let mut schema = Schema::plain(shape, span);
        for collection in around.into_iter().rev() {
            let inner = Box::new(schema);
            let shape = if collection == "list" {
                Shape::List(inner)
            } else {
                Shape::Map(inner)
            };
            schema = Schema::plain(shape, span);
        }
        schema.optional = optional;
        schema
    }

    fn word(&mut self, word: &str, span: Span, sink: &Sink<'_>) -> Shape {
        if let Some((_, shape)) = WORDS.iter().find(|(name, _)| *name == word) {
            return shape.clone();
        }
        if let Some(id) = self.by_name.get(word).copied() {
            return if self.read(id, span, sink) {
                Shape::Named(id)
            } else {
                Shape::Any
            };
        }
        if let Some(reference) = kubernetes_reference(word) {
            if kubernetes::has_type(&reference) {
                return Shape::Kubernetes(reference);
            }
            let message = format!(
                "Kubernetes has no type `{}` with a schema that can be expanded",
                shown(word)
            );
            let finding = Finding::new(&WRONG_TYPE, span, message);
            let suggestion = sink.suggest(word, kubernetes::references());
            sink.report(self.suggest_in_phrase(finding, word, suggestion, sink));
            return Shape::Any;
        }
        let message = format!("there is no type `{}`", shown(word));
        let candidates: Vec<&str> = WORDS
            .iter()
            .map(|(name, _)| *name)
            .chain(self.by_name.keys().copied())
            .collect();
        let aliases = [
            ("str", "string"),
            ("bool", "boolean"),
            ("int", "integer"),
            ("int64", "integer"),
            ("float", "number"),
        ];
        let aliases = aliases.into_iter().chain([
            ("double", "number"),
            ("timestamp", "date-time"),
            ("array", "list of …"),
        ]);
        let suggestion = match aliases.into_iter().find(|(alias, _)| *alias == word) {
            Some((_, meant)) => Some(meant),
            None => sink.suggest(word, candidates),
        };
        let finding = Finding::new(&WRONG_TYPE, span, message);
        let finding = self.suggest_in_phrase(finding, word, suggestion, sink);
        sink.report(finding);
        Shape::Any
    }

    /// Adds a fix that replaces one word of the phrase.
    fn suggest_in_phrase(
        &self,
        finding: Finding,
        word: &str,
        meant: Option<&str>,
        sink: &Sink<'_>,
    ) -> Finding {
        let span = finding.span;
        let mut finding = finding.did_you_mean(meant);
        if let (Some(fix), Some(at)) = (&mut finding.fix, sink.source.at(span).find(word)) {
            fix.span = Span::new(span.start + at, span.start + at + word.len());
        }
        finding
    }
}

/// Parses `group/version.Name`, whether or not such a type exists.
pub(in crate::model::lower) fn kubernetes_reference(word: &str) -> Option<KubernetesType> {
    let (group, rest) = word.split_once('/')?;
    let (version, name) = rest.split_once('.')?;
    Some(KubernetesType {
        group: group.to_owned(),
        version: version.to_owned(),
        name: name.to_owned(),
    })
}
