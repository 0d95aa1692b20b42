//! The rules on edges: transitions that the state graph does not allow, edges that no handler takes, and states without
//! a handler.

use super::tree;
use super::{CodeCheck, Located};
use crate::catalog::{
    DONE_BEFORE_FINAL, EDGE_NEVER_TAKEN, EDGE_NOT_IN_GRAPH, HANDLER_MISSING, MODULE_TWICE, NOT_FOLLOWED,
    STAY_WITHOUT_WAIT,
};
use crate::code::facts::{Answer, StateOf};
use crate::finding::{Finding, Span};
use crate::model::StateKind;
use crate::render::rust::handlers::handler_file;
use std::collections::BTreeSet;

impl CodeCheck<'_, '_> {
    /// Finds transitions that the state graph does not allow, and edges that no handler takes.
    pub(super) fn exits(&self) -> Vec<Located> {
        let mut taken: BTreeSet<(StateOf, StateOf)> = BTreeSet::new();
        let mut found = Vec::new();
        for exit in &self.facts.exits {
            let Some(from) = exit.from else { continue };
            let (state, name) = (self.state(from), self.name(from));
            match exit.answer {
                Answer::Names(to) => {
                    taken.insert((from, to));
                }
                Answer::To(to) => {
                    taken.insert((from, to));
                    let is_edge = from.0 == to.0 && state.next.iter().any(|next| next.to.value == to.1);
                    if !is_edge {
                        found.push((Some(exit.at.file), self.no_edge(from, to, exit.at.span)));
                    }
                }
                Answer::Stay if !state.may_stay() => {
                    let message = format!("the state `{name}` may not stay");
                    let line = self.line(state.name.span);
                    let finding = Finding::new(&STAY_WITHOUT_WAIT, exit.at.span, message)
                        .label(format!("`{name}` has no `wait`, {line}"))
                        .help(format!(
                            "go on to another state, or give `{name}` a `wait`: {line}"
                        ));
                    found.push((Some(exit.at.file), finding));
                }
                Answer::Done if state.kind.value != StateKind::Final => {
                    let message = format!("the state `{name}` is not final");
                    let line = self.line(state.name.span);
                    let finding = Finding::new(&DONE_BEFORE_FINAL, exit.at.span, message)
                        .label(format!("`{name}` is `{}`, {line}", state.kind.value.as_str()))
                        .help("choose a next state with `Transition::to`");
                    found.push((Some(exit.at.file), finding));
                }
                Answer::Stay | Answer::Done => {}
            }
        }
        found.extend(self.never_taken(&taken));
        found
    }

    fn no_edge(&self, from: StateOf, to: StateOf, span: Span) -> Finding {
        let (state, name, target) = (self.state(from), self.name(from), self.name(to));
        let message = format!("the state graph has no transition from `{name}` to `{target}`");
        let finding = Finding::new(&EDGE_NOT_IN_GRAPH, span, message);
        let line = self.line(state.next.first().map_or(state.name.span, |next| next.to.span));
        if from.0 != to.0 {
            return finding.label("a state of another kind");
        }
        if state.kind.value == StateKind::Final {
            return finding
                .label(format!("`{name}` is final, {line}"))
                .help("answer with `Transition::done()`");
        }
        let now: Vec<&str> = state
            .next
            .iter()
            .map(|next| self.name((from.0, next.to.value)))
            .collect();
        let now = if now.is_empty() {
            "nothing".to_owned()
        } else {
            now.join(", ")
        };
        finding
            .label(format!("not in `next` of `{name}`, {line}"))
            .help(format!(
                "add the state to `next` of `{name}` (now: {now}), or choose one of these"
            ))
    }

    fn never_taken(&self, taken: &BTreeSet<(StateOf, StateOf)>) -> Vec<Located> {
        let mut found = Vec::new();
        for (from, at) in &self.facts.handlers {
            // A handler that nobody has written takes no edge at all.
            let is_hidden = self.facts.hides_all_exits || self.facts.hidden_exits.contains(from);
            if is_hidden || self.facts.not_written.contains(from) {
                continue;
            }
            let (kind, state, name) = (self.kind(*from), self.state(*from), self.name(*from));
            let is_allowed = state
                .allow
                .iter()
                .chain(&kind.allow)
                .any(|allow| allow.rule.value == EDGE_NEVER_TAKEN.name);
            let never = state
                .next
                .iter()
                .filter(|next| !taken.contains(&(*from, (from.0, next.to.value))));
            for next in never.filter(|_| !is_allowed) {
                let to = self.name((from.0, next.to.value));
                let when = next
                    .when
                    .as_ref()
                    .map_or(String::new(), |when| format!(" ({})", when.value));
                let message = format!(
                    "the handler of `{name}` never goes to `{to}`{}",
                    crate::text::shown(&when)
                );
                let finding = Finding::new(&EDGE_NEVER_TAKEN, at.span, message)
                    .label(format!("no `Transition::to({to})` in here"))
                    .help(format!(
                        "take the edge, or remove it: {}",
                        self.line(next.to.span)
                    ));
                found.push((Some(at.file), finding));
            }
        }
        found
    }

    /// Finds states without a handler.
    pub(super) fn handlers(&self) -> Vec<Located> {
        let written: BTreeSet<StateOf> = self.facts.handlers.iter().map(|(state, _)| *state).collect();
        // A handler may be in a file that cannot be parsed, which rustc reports, or generated by a macro.
        let is_hidden = self.tree.files.iter().any(|file| file.ast.is_none())
            || self.tree.modules.iter().any(|module| module.names.is_open)
            || !self.tree.unfollowed.is_empty();
        let mut unknown = Vec::new();
        let mut found = Vec::new();
        let all = self.kinds.iter().flat_map(|kind| kind.states.values());
        for of in all.filter(|state| !written.contains(state)) {
            let (kind, state) = (self.kind(*of), self.state(*of));
            let module = kind.resource.kind.value.module();
            // If the module is missing, nothing of the kind is compiled. That is reported once, by `modules`.
            if self.tree.module(&[&module, "states"]).is_none() {
                continue;
            }
            let (name, path) = (state.name.as_str(), handler_file(kind, state));
            match self.tree.files.iter().position(|file| file.path == path) {
                None => {
                    let message = format!("the handler of `{name}` is missing");
                    let finding = Finding::new(&HANDLER_MISSING, state.name.span, message)
                        .label(format!("there is no `{path}`"))
                        .help("`krator gen` creates it again");
                    found.push((None, finding));
                }
                Some(_) if is_hidden => unknown.push(format!("`{name}`")),
                Some(file) => {
                    let end = self.tree.files[file]
                        .text
                        .lines()
                        .next()
                        .unwrap_or_default()
                        .len();
                    let message = format!("no code implements `State` for `{name}`");
                    let finding = Finding::new(&HANDLER_MISSING, Span { start: 0, end }, message)
                        .label("this is where it belongs")
                        .help(format!(
                            "write `impl State for {name}`, or remove the file: `krator gen` then creates it again"
                        ));
                    found.push((Some(file), finding));
                }
            }
        }
        let places = self.tree.unfollowed.iter().filter(|_| !unknown.is_empty());
        found.extend(places.map(|place| {
            let message = "krator does not read what is included here";
            let finding = Finding::new(&NOT_FOLLOWED, place.span, message).label(format!(
                "only the compiler knows whether {} has a handler",
                unknown.join(", ")
            ));
            (Some(place.file), finding)
        }));
        found
    }

    /// Finds modules with two files, of which rustc takes none.
    pub(super) fn twins(&self) -> Vec<Located> {
        let twins = self.tree.twins.iter().map(|file| {
            let tree::SourceFile { path, text, .. } = self.tree.files[*file];
            let end = text.lines().next().unwrap_or_default().len();
            let other = path.replace("/mod.rs", ".rs");
            let finding = Finding::new(&MODULE_TWICE, Span { start: 0, end }, "this module has two files")
                .label(format!("the other one is `{other}`"))
                .help("move what you need into one of them, and delete the other");
            (Some(*file), finding)
        });
        twins.collect()
    }
}
