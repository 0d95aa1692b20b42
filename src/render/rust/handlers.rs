//! The Rust files that users edit, in their initial form. They compile, contain nothing that users would have to
//! delete, and are formatted as by rustfmt, unless long names would make it break a line.

use super::{HEADER, doc_text, memory_type, sample_run::SampleRun};
use crate::{
    graph::StateGraph,
    model::{Description, Kind, Period, State, StateId, StateKind, format_duration},
    names::{rust_ident, snake, with_wide_numbers},
    plan::{IGNORED_TEST, NOT_WRITTEN},
    render::{diagram, templates::Template},
    sample,
};
use serde_json::json;

/// The derive macros in the prelude of Rust, which are in scope in every module.
const DERIVES: [&str; 9] = [
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Eq",
    "Hash",
    "Ord",
    "PartialEq",
    "PartialOrd",
];

/// The module of a kind with the modules of its states.
pub(super) const STATES_MODULE: &str = "states";
/// The attribute of a module that has the name of its parent module.
pub(super) const SAME_NAME: &str = "#[allow(clippy::module_inception)]\n";

/// The width of a line, by rustfmt's default.
pub(super) const WIDTH: usize = 100;

/// The path of the handler of a state.
pub fn handler_file(kind: &Kind, state: &State) -> String {
    let (kind, state) = (kind.resource.rust_name.value.module(), state.name.value.module());
    format!("src/{kind}/states/{state}.rs")
}

/// `src/<kind>/states/mod.rs`: the type of each state.
pub(crate) fn states_module(kind: &Kind) -> String {
    let mut modules: Vec<String> = kind.states.iter().map(|s| s.name.value.module()).collect();
    // In rustfmt's order, for which `r#` does not count.
    modules.sort();
    let mut text = format!(
        "{HEADER}\n\n\
         //! The states of `{}` objects, and their transitions. The handler of a state is in the file of the same\n\
         //! name; [`prelude`](super::prelude) explains how to write it.\n\n",
        kind.resource.rust_name.value
    );
    for module in modules {
        if module == STATES_MODULE {
            text.push_str(SAME_NAME);
        }
        text.push_str(&format!("mod {};\n", rust_ident(&module)));
    }
    let graph = StateGraph::of(kind);
    let mut states: Vec<(StateId, &State)> = kind.state_ids().collect();
    // The order does not depend on that of the description.
    states.sort_by_key(|(_, state)| state.name.as_str());
    for (id, state) in states {
        let name = state.name.value.as_str();
        let doc = match &state.doc {
            Some(doc) => doc_text(&doc.value),
            None => format!("The state `{name}`."),
        };
        text.push_str(&format!("\n/// {doc}\n"));
        let exits = exits(kind, &graph, id);
        if !exits.is_empty() {
            text.push_str(&format!(
                "///\n/// Transitions:\n///\n/// {}\n",
                exits.join("\n/// ")
            ));
        }
        text.push_str(&format!("#[derive(Clone, Copy, Debug)]\npub struct {name};\n"));
    }
    text
}

/// The exits of a state: an item of a list in its documentation for each way to leave the state.
fn exits(kind: &Kind, graph: &StateGraph, state: StateId) -> Vec<String> {
    let steps = graph.leaving(state).filter(|step| !step.edge.kind.is_deletion());
    steps
        .map(|step| {
            let name = kind.state(step.to).name.value.as_str();
            // Without this, rustdoc links the name to a derive macro.
            let path = match DERIVES.contains(&name) {
                true => format!("(struct@{name})"),
                false => String::new(),
            };
            match diagram::label(kind, step) {
                Some(label) => format!("- [`{name}`]{path} ({})", doc_text(&label)),
                None => format!("- [`{name}`]{path}"),
            }
        })
        .collect()
}

/// `src/<kind>/states/<state>.rs`: the initial handler. It takes the first edge of a working state, after one poll
/// interval if the state polls; it stays in ready and failed states. If the state has work, the handler is marked as
/// not written, so that it does not run.
pub fn handler(kind: &Kind, state: &State) -> String {
    let name = state.name.value.as_str();
    let rests = matches!(state.kind.value, StateKind::Ready | StateKind::Failed);
    let mut imports = vec![name];
    let (context, body) = match state.next.first() {
        _ if state.kind.value == StateKind::Final => ("_cx", "Ok(Transition::done())\n".to_owned()),
        Some(first) if !rests => {
            let to = kind.state(first.to.value).name.value.as_str();
            imports.push(to);
            let comment = first.when.as_ref().map(|when| doc_text(&when.value));
            let on = last_line(&format!("Ok(Transition::to({to}))"), &comment.unwrap_or_default());
            match state.wait.as_ref().and_then(|wait| wait.poll.as_ref()) {
                Some(poll) => {
                    let again = match &poll.value {
                        Period::Fixed(every) => format!("runs again after {}", format_duration(*every)),
                        Period::Field(field) => format!("runs again after `{}`", field.path),
                    };
                    let stay = format!("return Ok(Transition::stay()); // {again}");
                    (
                        "cx",
                        format!("if cx.first_run() {{\n            {stay}\n        }}\n        {on}"),
                    )
                }
                None => ("_cx", on),
            }
        }
        _ if state.may_stay() => ("_cx", "Ok(Transition::stay())\n".to_owned()),
        _ => (
            "_cx",
            "std::future::pending().await // until the timeout\n".to_owned(),
        ),
    };
    let imports = import("super", &mut imports);
    let not_written = if state.has_work() { NOT_WRITTEN } else { "" };
    let module = rust_ident(&kind.resource.rust_name.value.module());
    format!(
        "{imports}use crate::{module}::prelude::*;\n\n\
         impl State for {name} {{\n{not_written}    \
             async fn next(self, {context}: &mut Context<'_>) -> Result<Transition<Self>> {{\n        \
                 {body}    \
             }}\n\
         }}\n"
    )
}

/// The last expression of a body, with a comment after it, or before it if the line would be too long.
fn last_line(code: &str, comment: &str) -> String {
    let indent = "        ";
    if comment.is_empty() {
        format!("{code}\n")
    } else if indent.len() + code.len() + comment.chars().count() + 4 <= WIDTH {
        format!("{code} // {comment}\n")
    } else {
        format!("// {comment}\n{indent}{code}\n")
    }
}

/// Imports of these names in one line, or in one line each if that would be too long.
pub fn import(from: &str, names: &mut Vec<&str>) -> String {
    names.sort_by_cached_key(|name| with_wide_numbers(name));
    names.dedup();
    let line = format!("use {from}::{{{}}};\n", names.join(", "));
    if names.len() > 1 && line.len() <= WIDTH + 1 {
        return line;
    }
    let lines = names.iter().map(|name| format!("use {from}::{name};\n"));
    lines.collect()
}

/// `tests/<kind>.rs`: tests that pass with the initial handlers, once these count as written.
pub(crate) fn machine_test(description: &Description, kind: &Kind) -> String {
    let name = kind.resource.rust_name.value.as_str();
    let module = rust_ident(&kind.resource.rust_name.value.module());
    let machine = format!("{name}Machine");
    let memory = memory_type(kind).to_string();
    let from = format!("{}::{module}", description.operator.value.crate_ident());
    let sample = sample::stored(description, kind);
    let run = SampleRun {
        kind,
        sample: &sample,
    };
    let path = run.path(kind.machine.initial.value, false);
    // The path has at least the initial state.
    let ignored = path.iter().any(|state| state.has_work());
    let (rests, deletion) = (
        path.last().is_none_or(|last| run.rests(last)),
        run.ends_when_deleted(),
    );
    let rest = path.last().map_or("", |state| state.name.value.as_str());
    Template::MachineTest.render(&json!({
        "imports": import(&from, &mut vec![&machine, &memory]),
        "kind": name,
        // The full path, because a kind may have the same name as an item of the runtime.
        "manifest": format!("{from}::{name}"),
        "memory": memory,
        "acts_of_others": acts_of_others(kind),
        "object": raw_string(&visible_json(&sample)),
        "rest_module": snake(rest),
        "rest": rest,
        "rests": rests,
        "crashes": rests || deletion,
        "deletion": deletion,
        "webhooks": !kind.webhooks.is_empty(),
        "ignored": if ignored { IGNORED_TEST } else { "" },
    }))
}

/// `src/<kind>/admission.rs`: webhook handlers that allow everything.
pub(crate) fn admission(kind: &Kind) -> String {
    let name = kind.resource.rust_name.value.as_str();
    let mut imports = vec!["Review", "Verdict"];
    imports.extend(kind.webhooks.validate.as_ref().map(|_| "Validate"));
    imports.extend(kind.webhooks.mutate.as_ref().map(|_| "Mutate"));
    imports.sort_unstable();
    Template::Admission.render(&json!({
        "kind": name,
        "article": if name.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" },
        "imports": format!("{{{}}}", imports.join(", ")),
        "validate": kind.webhooks.validate.is_some(),
        "mutate": kind.webhooks.mutate.is_some(),
    }))
}

/// The lines with which a test simulates objects of other kinds: one for each effect on objects of this kind.
fn acts_of_others(kind: &Kind) -> Vec<String> {
    let owned = kind.owns.iter().map(|owned| owned.kind.value.kind.as_str());
    let owned: std::collections::BTreeSet<&str> = owned.collect();
    let mut lines: Vec<String> = owned
        .into_iter()
        .map(|owned| format!("world.make_ready::<{owned}>(); // or `world.fail::<{owned}>()`"))
        .collect();
    let watched = kind.watches.iter().map(|watch| watch.kind.value.kind.as_str());
    let watched: std::collections::BTreeSet<&str> = watched.collect();
    lines.extend(watched.into_iter().map(|watched| {
        let name = snake(watched);
        format!("world.put(&{name})?; // it triggers this object if `watches` in krator.yaml selects it")
    }));
    lines
}

/// The signature of `initialize_object_state` for a kind, as rustfmt formats it.
pub fn initialize(kind: &str, memory: &str) -> String {
    let name = "async fn initialize_object_state";
    let result = format!("Result<{memory}>");
    let line = format!("{name}(&self, _object: &{kind}) -> {result} {{");
    if 4 + line.len() <= WIDTH {
        line
    } else {
        format!("{name}(\n        &self,\n        _object: &{kind},\n    ) -> {result} {{")
    }
}

/// JSON in which characters that are neither ASCII nor alphanumeric are escaped: rustc and clippy reject invisible ones.
fn visible_json(value: &serde_json::Value) -> String {
    let mut out = String::new();
    for c in format!("{value:#}").chars() {
        if c.is_ascii() || c.is_alphanumeric() {
            out.push(c);
        } else {
            // Outside of strings JSON is ASCII, so the escape is always inside one.
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// A raw string literal with as many `#` as the text needs.
fn raw_string(text: &str) -> String {
    let mut hashes = "#".to_owned();
    while text.contains(&format!("\"{hashes}")) {
        hashes.push('#');
    }
    format!("r{hashes}\"{text}\"{hashes}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_as_rustfmt_leaves_them() {
        assert_eq!(
            import("super", &mut vec!["Roam", "Eat"]),
            "use super::{Eat, Roam};\n"
        );
        assert_eq!(import("super", &mut vec!["A"]), "use super::A;\n");
        assert_eq!(
            import("super", &mut vec!["S10", "S9", "S"]),
            "use super::{S, S9, S10};\n"
        );
        let (a, b) = ("A".repeat(10) + "a", "B".repeat(63) + "b");
        assert!(import("super", &mut vec![&a, &b]).lines().count() == 1);
        let c = "C".repeat(60) + "c";
        assert_eq!(
            import("super", &mut vec![&b, &c]),
            format!("use super::{b};\nuse super::{c};\n")
        );
    }
}
