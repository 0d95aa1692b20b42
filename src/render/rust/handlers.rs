//! The files that people write in, as they find them: whole, compiling, in rustfmt's shape, and nothing in them
//! that one would want to delete.

use super::{HEADER, doc_text};
use crate::{
    model::{Description, Kind, Period, State, StateKind, format_duration},
    names::{StateName, rust_ident, snake},
    render::{sample, templates::Template},
};
use serde_json::json;

/// rustfmt's line, by default.
const WIDTH: usize = 100;

/// `src/<kind>/states/mod.rs`: the states, which handlers are written for.
pub fn states_module(kind: &Kind) -> String {
    let mut modules: Vec<String> = kind.states.iter().map(|s| s.name.value.module()).collect();
    // As rustfmt sorts them, raw or not; it would do so by itself.
    modules.sort();
    let mut text = format!("//! {HEADER}\n\n");
    for module in modules {
        text.push_str(&format!("mod {};\n", rust_ident(&module)));
    }
    for state in &kind.states {
        let name = state.name.value.as_str();
        let doc = match &state.doc {
            Some(doc) => doc_text(&doc.value),
            None => format!("`{name}`."),
        };
        text.push_str(&format!("\n/// {doc}\n"));
        for line in ways_on(kind, state) {
            text.push_str(&format!("///\n/// {line}\n"));
        }
        text.push_str(&format!("#[derive(Clone, Copy, Debug)]\npub struct {name};\n"));
    }
    text
}

/// Where the state leads, for who writes its handler.
fn ways_on(kind: &Kind, state: &State) -> Vec<String> {
    let link = |to| format!("[`{}`]", kind.state(to).name.value);
    let mut ways = Vec::new();
    if !state.next.is_empty() {
        let next: Vec<String> = state
            .next
            .iter()
            .map(|next| match &next.when {
                Some(when) => format!("{} ({})", link(next.to.value), doc_text(&when.value)),
                None => link(next.to.value),
            })
            .collect();
        ways.push(format!("Next: {}.", next.join(", ")));
    }
    if let Some(timeout) = &state.timeout {
        ways.push(format!(
            "After {}: {}.",
            period(&timeout.after.value),
            link(timeout.to.value)
        ));
    }
    ways
}

fn period(period: &Period) -> String {
    match period {
        Period::Fixed(duration) => format_duration(*duration),
        Period::Field(field) => format!("what `{}` says", field.path),
    }
}

/// `src/<kind>/states/<state>.rs`: a handler that makes a live machine untouched. A working state is left by its
/// first edge, after one round of its `poll` where it has one; ready and failed states rest.
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
                        Period::Fixed(every) => format!("again in {}", format_duration(*every)),
                        Period::Field(field) => format!("again as `{}` says", field.path),
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
        // Only its timeout leads on from here.
        _ => ("_cx", "std::future::pending().await\n".to_owned()),
    };
    let imports = import("super", &mut imports);
    let module = rust_ident(&kind.resource.kind.value.module());
    format!(
        "{imports}use crate::{module}::prelude::*;\n\n\
         impl State for {name} {{\n    \
             async fn next(self, {context}: &mut Context<'_>) -> Result<Transition<Self>> {{\n        \
                 {body}    \
             }}\n\
         }}\n"
    )
}

/// rustfmt's bound for the arguments of a call on one line.
const ARGUMENTS: usize = 60;

fn go_on(to: &str) -> String {
    let argument = format!("Transition::to({to})");
    if argument.len() <= ARGUMENTS {
        format!("Ok({argument})")
    } else {
        format!("Ok(Transition::to(\n            {to},\n        ))")
    }
}

/// The last expression of a body and what it means; before it where a line has no room for both.
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

/// `use from::{…};` in rustfmt's shape.
pub fn import(from: &str, names: &mut Vec<&str>) -> String {
    import_by("use", from, names)
}

/// The same, or `pub use`.
pub fn import_by(keyword: &str, from: &str, names: &mut Vec<&str>) -> String {
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

/// The order of versions, as rustfmt's style of 2024 has it: runs of digits compare as numbers.
pub fn version_order(a: &str, b: &str) -> std::cmp::Ordering {
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

/// `tests/<kind>.rs`: an object of the untouched machine, to be told more of.
pub fn machine_test(description: &Description, kind: &Kind) -> String {
    let name = kind.resource.kind.value.as_str();
    let module = rust_ident(&kind.resource.kind.value.module());
    let (machine, object_state) = (format!("{name}Machine"), format!("{name}State"));
    let from = format!("{}::{module}", description.operator.value.crate_ident());
    let path = untouched_path(kind);
    // A path has its first state.
    let rest = path.last().map_or("", |state| state.as_str());
    let binding = format!("let rest = {machine}::{rest};");
    let binding = if 4 + binding.len() <= WIDTH {
        binding
    } else {
        format!("let rest =\n        {machine}::{rest};")
    };
    Template::MachineTest.render(&json!({
        "imports": import(&from, &mut vec![&machine, &object_state]),
        "kind": name,
        "local": local(&format!("{object_state}::default()")),
        "object": raw_string(&visible_json(&sample::stored(description, kind))),
        "rest_module": snake(rest),
        "rest_binding": binding,
        "deletion": kind.machine.deletion.is_some(),
    }))
}

/// The object of the test, in rustfmt's shape.
fn local(object_state: &str) -> String {
    let arguments = ["manifest", object_state, "Arc::default()"];
    let line = arguments.join(", ");
    if line.len() <= ARGUMENTS {
        format!("Local::new({line})")
    } else {
        format!("Local::new(\n        {},\n    )", arguments.join(",\n        "))
    }
}

/// `fn initialize_object_state` of a kind, up to its body, in rustfmt's shape.
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

/// JSON in which everything can be seen: what is no letter of any alphabet is escaped, as rustc and clippy ask.
fn visible_json(value: &serde_json::Value) -> String {
    let mut out = String::new();
    for c in format!("{value:#}").chars() {
        if c.is_ascii() || c.is_alphanumeric() {
            out.push(c);
        } else {
            // Such characters are only ever inside strings.
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// A raw string, whatever is in it.
fn raw_string(text: &str) -> String {
    let mut hashes = "#".to_owned();
    while text.contains(&format!("\"{hashes}")) {
        hashes.push('#');
    }
    format!("r{hashes}\"{text}\"{hashes}")
}

/// Where an untouched machine goes on its own, from its initial state until it rests or meets a state again: the
/// first edge of a state, or its timeout.
fn untouched_path(kind: &Kind) -> Vec<&StateName> {
    let (mut path, mut at) = (Vec::new(), kind.machine.initial.value);
    loop {
        let state = kind.state(at);
        if path.contains(&&state.name.value) {
            return path;
        }
        path.push(&state.name.value);
        let rests = matches!(
            state.kind.value,
            StateKind::Ready | StateKind::Failed | StateKind::Final
        );
        let next = state
            .next
            .first()
            .map(|n| n.to.value)
            .or(state.timeout.as_ref().map(|t| t.to.value));
        match next {
            Some(next) if !rests => at = next,
            _ => return path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_have_rustfmts_shape() {
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
    fn names_sort_as_versions() {
        let mut names = vec!["State10", "State9", "DB", "Eat", "A"];
        names.sort_by(|a, b| version_order(a, b));
        assert_eq!(names, ["A", "DB", "Eat", "State9", "State10"]);
    }
}
