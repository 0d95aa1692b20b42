//! The handlers of the scripted operator: each generated one is replaced by one that follows the script of its object.

use crate::operator::files;
use krator::model::{Description, Kind, State};
use std::fs;
use std::path::Path;

/// What the handlers have in common. It is compiled into the operator.
const SCRIPT: &str = include_str!("script.rs");

/// Replaces each generated handler by one that does what `first` says, as Rust statements, and then follows the script of
/// its object.
pub fn replace(dir: &Path, description: &Description, first: fn(&Kind, &State) -> String) {
    let write = |path: &Path, text: &str| fs::write(path, text).expect("a generated folder");
    let replace = |path: &str, from: &str, to: &str| {
        let path = dir.join(path);
        let text = fs::read_to_string(&path).expect("generated");
        assert!(text.contains(from), "no {from:?} in {path:?} any more");
        write(&path, &text.replace(from, to));
    };
    write(&dir.join("src/script.rs"), SCRIPT);
    replace(
        "src/lib.rs",
        "pub mod shared;",
        "pub mod script;\npub mod shared;",
    );
    // The dependencies of the crate's tests become dependencies of its handlers.
    replace("Cargo.toml", "[dev-dependencies]\n", "");
    let mut replaced = 0;
    for (path, text) in files(&dir.join("src")) {
        let text = String::from_utf8(text).expect("generated");
        let Some((_, rest)) = text.split_once("impl State for ") else {
            continue;
        };
        let name = rest.split(' ').next().unwrap_or_default();
        let module = path.components().next().expect("a kind's folder");
        let module = module.as_os_str().to_str().expect("a plain name");
        let of_module = |kind: &&Kind| {
            let folder = kind.resource.kind.as_str().to_lowercase();
            folder == module.replace('_', "")
        };
        let kind = description
            .kinds
            .iter()
            .find(of_module)
            .expect("a folder for each kind");
        let state = kind.state(kind.state_named(name).expect("a handler for each state"));
        let source = handler(kind, state, module, &first(kind, state));
        write(&dir.join("src").join(&path), &source);
        replaced += 1;
    }
    let states: usize = description.kinds.iter().map(|kind| kind.states.len()).sum();
    assert_eq!(replaced, states, "each state has one handler");
}

/// The source of a state's handler. `script::next_state` names the state to go to, and the handler turns that into a
/// transition, whose type names the state; it falls back to staying, the first edge, or being done. `first` is what the
/// handler does before.
fn handler(kind: &Kind, state: &State, module: &str, first: &str) -> String {
    let name = state.name.as_str();
    let nexts: Vec<&str> = state
        .next
        .iter()
        .map(|next| kind.state(next.to.value).name.as_str())
        .collect();
    let arms: Vec<String> = nexts
        .iter()
        .map(|next| format!("            Some({next:?}) => Transition::to({next}),\n"))
        .collect();
    let rest = match (state.may_stay(), nexts.first()) {
        (true, _) => "Transition::stay()".to_owned(),
        (false, Some(next)) => format!("Transition::to({next})"),
        (false, None) => "Transition::done()".to_owned(),
    };
    let kind_of = state.kind.value.as_str();
    let imports = [&[name], &nexts[..]].concat().join(", ");
    format!(
        "use super::{{{imports}}};\nuse crate::{module}::prelude::*;\n\n\
         impl State for {name} {{\n    \
             async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {{\n{first}        \
                 Ok(match crate::script::next_state(cx, {name:?}, {kind_of:?}, &{nexts:?}, {may_stay}).await? {{\n\
                 {arms}            _ => {rest},\n        \
                 }})\n    \
             }}\n\
         }}\n",
        may_stay = state.may_stay(),
        arms = arms.concat(),
    )
}
