//! Tests of the graph: each way on from each state, with the state that it leads to by the description, not by the
//! table that the machine has of it. One test a state: with a thousand states, one a way costs the compiler more than
//! all the rest of the crate.

use super::{KindNames, file, state_ident};
use crate::model::{Effects, Kind, OnSpecChange, RetryLimit, State, StateId, StateKind};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// `src/<kind>/generated/tests.rs`.
pub fn tests(kind: &Kind) -> String {
    let KindNames { module, .. } = KindNames::of(kind);
    let states = kind.states.iter().map(|state| state_ident(&state.name.value));
    let tests = kind.states.iter().map(|state| {
        // No name of a state makes it that of another function here.
        let (name, ways) = (
            format_ident!("from_{}", state.name.value.module()),
            ways(kind, state),
        );
        quote! {
            #[test]
            fn #name() {
                run(vec![#(#ways),*]);
            }
        }
    });
    let about = format!(
        " The graph of {}, driven edge by edge with scripted handlers: see `krator_runtime::testing`.",
        kind.resource.kind.value
    );
    file(&quote! {
        #![doc = ""]
        #![doc = #about]
        use crate::#module::states::{#(#states),*};
        use ::krator_runtime::testing::at;

        /// On a stopped clock: what takes hours takes no time.
        fn run(checks: Vec<::krator_runtime::testing::Check>) {
            ::tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .expect("a runtime needs nothing")
                .block_on(::krator_runtime::testing::hold(checks));
        }
        #(#tests)*
    })
}

/// A check for each way on from a state.
fn ways(kind: &Kind, state: &State) -> Vec<TokenStream> {
    let me = state_ident(&state.name.value);
    let name = |id: StateId| state_ident(&kind.state(id).name.value);
    let mut ways = Vec::new();
    let mut add = |way: TokenStream| ways.push(quote!(at(#me).#way));
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
    match (is_final, &deletion) {
        (true, Some(deletion)) => {
            add(quote!(ends_in(#deletion)));
            add(quote!(fails(#deletion)));
        }
        (true, None) => {
            add(quote!(ends()));
            add(quote!(fails_and_ends()));
        }
        (false, _) => {}
    }
    let once = state.effects.value == Effects::Once;
    if let Some(retry) = state.retry.as_ref().filter(|_| !is_final)
        && let (RetryLimit::Times(_), Some(then)) = (retry.limit.value, &retry.then)
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
        match state.on_spec_change.value {
            OnSpecChange::Enter(to) => {
                let to = name(to);
                add(quote!(changes(#to)));
            }
            _ => add(quote!(sees_changes())),
        }
    }
    add(quote!(restarts(#resume)));
    ways
}
