//! The source of handlers that follow the script of their object. Build scripts share this file with the tests.

use krator::model::{Description, Kind, State};
use std::path::Path;

/// The common part of the handlers. It is compiled into the operator.
pub const SCRIPT: &str = include_str!("script.rs");

/// The first statements of the contract handlers: those of one kind write the number of the run into the status, so
/// that a write with an unknown outcome could lose a value.
pub fn says_which_run(kind: &Kind, _: &State) -> String {
    match kind.resource.kind.as_str() {
        "Postgresql" => "        let run = format!(\"{}-{}\", cx.entry(), cx.attempt());\n        \
                         cx.status_mut().primary = Some(run);\n"
            .to_owned(),
        _ => String::new(),
    }
}

/// The handler that replaces a generated one, by its path below `src`. It runs `first`, which is Rust code, and then
/// follows the script of its object. None for files without a handler.
pub fn scripted(
    path: &Path,
    text: &str,
    description: &Description,
    first: fn(&Kind, &State) -> String,
) -> Option<String> {
    let (_, rest) = text.split_once("impl State for ")?;
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
    Some(handler(kind, state, module, &first(kind, state)))
}

/// The source of a state's handler. `script::next_state` returns the name of the next state, and the handler turns it
/// into a transition, whose type names the state; the fallback is to stay, to take the first edge, or to be done.
/// `first` runs before.
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
