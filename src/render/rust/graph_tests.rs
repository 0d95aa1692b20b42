//! The generated tests of a state graph. Each takes every edge that leaves one state and checks where it leads. The
//! expectation comes from the description rather than from the machine's table, so that the two check each other.
//! There is one test for each state, because compiling a test for each edge of a thousand
//! states would take longer than compiling all the rest of the crate.

use super::{KindNames, by_name, file_with_docs, state_ident};
use crate::model::{Effects, Kind, OnSpecChange, RetryLimit, State, StateId, StateKind};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// `src/<kind>/generated/tests.rs`.
pub fn tests(kind: &Kind) -> String {
    let KindNames { module, .. } = KindNames::of(kind);
    // Functions of the author are tried beside them.
    let conversions = (kind.converts() && !kind.has_functions()).then(|| {
        quote! {
            #[test]
            fn conversions_lose_nothing() {
                ::krator_runtime::testing::conversions(
                    include_str!("versions.json"),
                    &|_, _, value| Ok(value),
                    include_str!("specs.json"),
                );
            }
        }
    });
    let states = by_name(kind);
    let tests = states.iter().map(|state| {
        // The prefix keeps the name from clashing with that of another function of the file.
        let (name, checks) = (
            format_ident!("from_{}", state.name.value.module()),
            checks(kind, state),
        );
        quote! {
            #[test]
            fn #name() {
                run(vec![#(#checks),*]);
            }
        }
    });
    let states = states.iter().map(|state| state_ident(&state.name.value));
    let about = format!(
        "Takes every edge of the state graph of `{}`, with scripted handlers instead of yours: see\n\
         [`krator_runtime::testing`].",
        kind.resource.rust_name.value
    );
    file_with_docs(
        &about,
        &quote! {
            use crate::#module::states::{#(#states),*};
            use ::krator_runtime::testing::at;

            /// Runs the checks with the clock paused, so that waiting takes no time.
            fn run(checks: Vec<::krator_runtime::testing::Check>) {
                ::tokio::runtime::Builder::new_current_thread()
                    .enable_time()
                    .start_paused(true)
                    .build()
                    .expect("tokio can start")
                    .block_on(::krator_runtime::testing::hold(checks));
            }
            #(#tests)*
            #conversions
        },
    )
}

/// A check for each edge that leaves the state, and for staying in it.
fn checks(kind: &Kind, state: &State) -> Vec<TokenStream> {
    let me = state_ident(&state.name.value);
    let name = |id: StateId| state_ident(&kind.state(id).name.value);
    let mut checks = Vec::new();
    let mut add = |call: TokenStream| checks.push(quote!(at(#me).#call));
    for next in &state.next {
        let to = name(next.to.value);
        add(quote!(to(#to)));
    }
    if state.may_stay() {
        add(quote!(stays()));
    }
    if let Some(timeout) = &state.timeout {
        let to = name(timeout.to.value);
        add(quote!(times_out(#to)));
    }
    let is_final = state.kind.value == StateKind::Final;
    let deletion = kind.machine.deletion.as_ref().map(|deletion| deletion.value);
    let deletion = state
        .on_delete
        .value
        .to
        .or(deletion)
        .filter(|_| !state.on_deletion_path)
        .map(name);
    let retry = state.retry.as_ref();
    let is_limited = retry.is_some_and(|retry| retry.limit.value != RetryLimit::Unlimited);
    match (is_final, &deletion) {
        (true, Some(deletion)) => {
            add(quote!(ends_in(#deletion)));
            if is_limited {
                add(quote!(fails(#deletion)));
            }
        }
        (true, None) => {
            add(quote!(ends()));
            if is_limited {
                add(quote!(fails_and_ends()));
            }
        }
        (false, _) => {}
    }
    let once = state.effects.value == Effects::Once;
    if let Some(retry) = retry.filter(|_| !is_final && is_limited)
        && let Some(then) = &retry.then
    {
        let then = name(then.value);
        add(quote!(fails(#then)));
        add(quote!(fails_for_good(#then)));
    }
    let resume = state
        .resume
        .as_ref()
        .map_or_else(|| me.clone(), |resume| name(resume.value));
    if once {
        add(quote!(fails(#resume)));
    }
    if let Some(limit) = &state.limit {
        let then = name(limit.then.value);
        add(quote!(exceeds_limit(#then)));
    }
    match deletion {
        Some(to) => add(quote!(is_deleted(#to))),
        None if kind.machine.deletion.is_none() => add(quote!(is_deleted_at_once())),
        None => {}
    }
    if !once && !is_final && !state.on_deletion_path {
        for path in state.on_spec_change_of.iter().flat_map(|change| &change.of) {
            let (does, path) = (state.on_change_of(&path.value).value, path.value.to_string());
            match does {
                OnSpecChange::Enter(to) => {
                    let to = name(to);
                    add(quote!(changes_of(#path, #to)));
                }
                _ => add(quote!(sees_changes_of(#path))),
            }
        }
        match state.on_spec_change.value {
            OnSpecChange::Enter(to) => {
                let to = name(to);
                add(quote!(changes(#to)));
            }
            _ => add(quote!(sees_changes())),
        }
    }
    add(quote!(restarts(#resume)));
    checks
}
