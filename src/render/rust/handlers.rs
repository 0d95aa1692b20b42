//! The Rust files that people edit, as they are first written. They compile, are formatted as rustfmt does it, and
//! contain nothing that their owner would have to delete.

use super::{HEADER, by_name, doc_text, sample_run::SampleRun};
use crate::{
    model::{
        Description, Effects, Kind, OnSpecChange, Period, RetryLimit, State, StateKind, Times,
        format_duration,
    },
    names::{rust_ident, snake},
    plan::{IGNORED_TEST, NOT_WRITTEN},
    render::templates::Template,
    sample,
};
use serde_json::json;

/// The derive macros that every module of Rust has in scope.
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
/// Before a module that has the name of the module around it.
pub(super) const SAME_NAME: &str = "#[allow(clippy::module_inception)]\n";

/// The width of a line, by rustfmt's default.
const WIDTH: usize = 100;

/// The path of the handler of a state.
pub fn handler_file(kind: &Kind, state: &State) -> String {
    let (kind, state) = (kind.resource.kind.value.module(), state.name.value.module());
    format!("src/{kind}/states/{state}.rs")
}

/// `src/<kind>/states/mod.rs`: the type of each state.
pub(crate) fn states_module(kind: &Kind) -> String {
    let mut modules: Vec<String> = kind.states.iter().map(|s| s.name.value.module()).collect();
    // In rustfmt's order, for which `r#` does not count.
    modules.sort();
    let mut text = format!(
        "{HEADER}\n\n\
         //! The states of `{}` objects, and where each of them leads. The handler of a state is in the file of the same\n\
         //! name; [`prelude`](super::prelude) explains how to write it.\n\n",
        kind.resource.kind.value
    );
    for module in modules {
        if module == STATES_MODULE {
            text.push_str(SAME_NAME);
        }
        text.push_str(&format!("mod {};\n", rust_ident(&module)));
    }
    for state in by_name(kind) {
        let name = state.name.value.as_str();
        let doc = match &state.doc {
            Some(doc) => doc_text(&doc.value),
            None => format!("The state `{name}`."),
        };
        text.push_str(&format!("\n/// {doc}\n"));
        for line in exits(kind, state) {
            text.push_str(&format!("///\n/// {line}\n"));
        }
        text.push_str(&format!("#[derive(Clone, Copy, Debug)]\npub struct {name};\n"));
    }
    text
}

/// Where the state leads: a paragraph of its documentation for each way that an object may leave it.
fn exits(kind: &Kind, state: &State) -> Vec<String> {
    let link = |to| {
        let name = kind.state(to).name.value.as_str();
        // rustdoc has to be told that the derive macro of this name is not meant.
        let path = if DERIVES.contains(&name) {
            format!("(struct@{name})")
        } else {
            String::new()
        };
        format!("[`{name}`]{path}")
    };
    let mut exits = Vec::new();
    if !state.next.is_empty() {
        let next: Vec<String> = state
            .next
            .iter()
            .map(|next| match &next.when {
                Some(when) => format!("{} ({})", link(next.to.value), doc_text(&when.value)),
                None => link(next.to.value),
            })
            .collect();
        exits.push(format!("Next: {}.", next.join(", ")));
    }
    if let Some(timeout) = &state.timeout {
        let to = link(timeout.to.value);
        exits.push(match &timeout.after.value {
            Period::Fixed(duration) => format!("Timeout: {to} after {}.", format_duration(*duration)),
            Period::Field(field) => format!("Timeout: {to}, set by `{}`.", field.path),
        });
    }
    if let Some(limit) = &state.limit {
        let to = link(limit.then.value);
        exits.push(match &limit.times.value {
            Times::Number(times) => format!("Limit: {to} instead, after {times} entries."),
            Times::Field(path) => format!("Limit: {to} instead, after `{path}` entries."),
        });
    }
    if let Some(retry) = &state.retry
        && let (RetryLimit::Times(times), Some(then)) = (retry.limit.value, &retry.then)
    {
        let retries = if times == 1 { "retry" } else { "retries" };
        exits.push(format!("Errors: {} after {times} {retries}.", link(then.value)));
    }
    if let Some(resume) = &state.resume {
        let once = state.effects.value == Effects::Once;
        let what = if once { "Errors and restarts" } else { "Restarts" };
        exits.push(format!("{what}: {}.", link(resume.value)));
    }
    for change in &state.on_spec_change_of {
        if let OnSpecChange::Enter(to) = change.does.value {
            let of: Vec<String> = change.of.iter().map(|path| format!("`{}`", path.value)).collect();
            exits.push(format!("Changes of {}: {}.", of.join(" or "), link(to)));
        }
    }
    if let OnSpecChange::Enter(to) = state.on_spec_change.value {
        let other = if state.on_spec_change_of.is_empty() {
            "Changes"
        } else {
            "Other changes"
        };
        exits.push(format!("{other} of the spec: {}.", link(to)));
    }
    exits
}

/// `src/<kind>/states/<state>.rs`: a handler as it may begin. It takes the first edge of a working state, after one poll
/// interval if the state polls; it stays in ready and failed states. If there is work in the state, it says that nobody has
/// written it, so that it does not run.
pub fn handler(kind: &Kind, state: &State) -> String {
    let name = state.name.value.as_str();
    let rests = matches!(state.kind.value, StateKind::Ready | StateKind::Failed);
    let mut imports = vec![name];
    let (context, body) = match state.next.first() {
        _ if state.kind.value == StateKind::Final => ("_cx", "Ok(Transition::done())\n".to_owned()),
        Some(first) if !rests => {
            let to = kind.state(first.to.value).name.value.as_str();
            imports.push(to);
            let on = match &first.when {
                Some(when) => last_line(&go_on(to), &doc_text(&when.value)),
                None => format!("{}\n", go_on(to)),
            };
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
            "std::future::pending().await // the timeout ends it\n".to_owned(),
        ),
    };
    let imports = import("super", &mut imports);
    let not_written = if state.has_work() { NOT_WRITTEN } else { "" };
    let module = rust_ident(&kind.resource.kind.value.module());
    format!(
        "{imports}use crate::{module}::prelude::*;\n\n\
         impl State for {name} {{\n{not_written}    \
             async fn next(self, {context}: &mut Context<'_>) -> Result<Transition<Self>> {{\n        \
                 {body}    \
             }}\n\
         }}\n"
    )
}

/// The width of a call's arguments up to which rustfmt keeps them on one line.
const ARGUMENTS: usize = 60;

fn go_on(to: &str) -> String {
    let argument = format!("Transition::to({to})");
    if argument.len() <= ARGUMENTS {
        format!("Ok({argument})")
    } else {
        format!("Ok(Transition::to(\n            {to},\n        ))")
    }
}

/// The last expression of a body, with a comment behind it, or before it if the line would be too long.
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

/// `use from::{…};` as rustfmt formats it.
pub fn import(from: &str, names: &mut Vec<&str>) -> String {
    import_by("use", from, names)
}

/// The same with another keyword, such as `pub use`.
pub(crate) fn import_by(keyword: &str, from: &str, names: &mut Vec<&str>) -> String {
    names.sort_by(|a, b| version_order(a, b));
    names.dedup();
    if let [one] = names[..] {
        return format!("{keyword} {from}::{one};\n");
    }
    let line = format!("{keyword} {from}::{{{}}};\n", names.join(", "));
    if line.len() <= WIDTH + 1 {
        return line;
    }
    let mut text = format!("{keyword} {from}::{{\n");
    let mut line = String::new();
    for name in names {
        if !line.is_empty() && 4 + line.len() + 1 + name.len() + 1 > WIDTH {
            text.push_str(&format!("    {line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(name);
        line.push(',');
    }
    text.push_str(&format!("    {line}\n}};\n"));
    text
}

/// The order of rustfmt's 2024 style edition: runs of digits are compared as numbers.
pub(crate) fn version_order(a: &str, b: &str) -> std::cmp::Ordering {
    let parts = |text: &str| {
        let mut parts: Vec<(Option<u128>, String)> = Vec::new();
        for c in text.chars() {
            match parts.last_mut() {
                Some((number, run)) if number.is_some() == c.is_ascii_digit() => {
                    run.push(c);
                    *number = number
                        .and_then(|_| run.parse().ok())
                        .or(number.map(|_| u128::MAX));
                }
                _ => parts.push((c.to_digit(10).map(u128::from), c.to_string())),
            }
        }
        parts
    };
    let (left, right) = (parts(a), parts(b));
    for ((n, x), (m, y)) in left.iter().zip(&right) {
        let order = match (n, m) {
            (Some(n), Some(m)) => n.cmp(m),
            _ => x.cmp(y),
        };
        if order.is_ne() {
            return order;
        }
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// `tests/<kind>.rs`: tests that pass with the handlers as they begin, once those count as written.
pub(crate) fn machine_test(description: &Description, kind: &Kind) -> String {
    let name = kind.resource.kind.value.as_str();
    let module = rust_ident(&kind.resource.kind.value.module());
    let (machine, object_state) = (format!("{name}Machine"), format!("{name}State"));
    let from = format!("{}::{module}", description.operator.value.crate_ident());
    let sample = sample::stored(description, kind);
    let run = SampleRun {
        kind,
        sample: &sample,
    };
    let path = run.path(kind.machine.initial.value);
    // The path has at least the initial state.
    let ignored = path.iter().any(|state| state.has_work());
    let rest = path.last().map_or("", |state| state.name.value.as_str());
    let binding = format!("let expected = {machine}::{rest};");
    let binding = if 4 + binding.len() <= WIDTH {
        binding
    } else {
        format!("let expected =\n        {machine}::{rest};")
    };
    Template::MachineTest.render(&json!({
        "imports": import(&from, &mut vec![&machine, &object_state]),
        "kind": name,
        "lively": lively(kind),
        "local": local(&format!("{object_state}::default()")),
        "object": raw_string(&visible_json(&sample)),
        "rest_module": snake(rest),
        "rest_binding": binding,
        "deletion": run.ends_when_deleted(),
        "ignored": if ignored { IGNORED_TEST } else { "" },
    }))
}

/// How a test brings the objects of other kinds to life: a line for each thing that it may do to those of this kind.
fn lively(kind: &Kind) -> Vec<String> {
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
        format!("world.put(&{name})?; // it wakes this object if `watches` in krator.yaml says so")
    }));
    lines
}

/// The expression that creates the object of the test, as rustfmt formats it.
fn local(object_state: &str) -> String {
    let arguments = ["manifest", object_state, "Arc::default()"];
    let line = arguments.join(", ");
    if line.len() <= ARGUMENTS {
        format!("Local::new({line})")
    } else {
        format!("Local::new(\n        {},\n    )", arguments.join(",\n        "))
    }
}

/// The signature of `initialize_object_state` for a kind, as rustfmt formats it.
pub fn initialize(kind: &str) -> String {
    let name = "async fn initialize_object_state";
    let result = format!("Result<{kind}State>");
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
    fn imports_are_formatted_as_by_rustfmt() {
        assert_eq!(
            import("super", &mut vec!["Roam", "Eat"]),
            "use super::{Eat, Roam};\n"
        );
        assert_eq!(import("super", &mut vec!["A"]), "use super::A;\n");
        let (a, b) = ("A".repeat(10) + "a", "B".repeat(63) + "b");
        assert!(import("super", &mut vec![&a, &b]).lines().count() == 1);
        let c = "C".repeat(60) + "c";
        assert_eq!(
            import("super", &mut vec![&b, &c]),
            format!("use super::{{\n    {b},\n    {c},\n}};\n")
        );
    }

    #[test]
    fn digits_in_names_sort_as_numbers() {
        let mut names = vec!["State10", "State9", "DB", "Eat", "A"];
        names.sort_by(|a, b| version_order(a, b));
        assert_eq!(names, ["A", "DB", "Eat", "State9", "State10"]);
    }
}
