//! Tests of the graph: one for each way on, with the state that it leads to by the description, not by the table
//! that the machine has of it.

use super::{KindNames, file, ident, state_ident};
use crate::model::{Effects, Kind, OnSpecChange, RetryLimit, State, StateId, StateKind};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// `src/<kind>/generated/tests.rs`.
pub fn tests(kind: &Kind) -> String {
    let KindNames { module, .. } = KindNames::of(kind);
    let states = kind.states.iter().map(|state| state_ident(&state.name.value));
    let modules = kind.states.iter().map(|state| {
        let (name, ways) = (ident(&state.name.value.module()), ways(kind, state));
        quote! {
            mod #name {
                use super::*;
                #(#ways)*
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
        fn run(check: ::krator_runtime::testing::Check) {
            ::tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .expect("a runtime needs nothing")
                .block_on(check);
        }
        #(#modules)*
    })
}

/// A test for each way on from a state.
fn ways(kind: &Kind, state: &State) -> Vec<TokenStream> {
    let me = state_ident(&state.name.value);
    let name = |id: StateId| state_ident(&kind.state(id).name.value);
    let mut tests = Vec::new();
    let mut test = |name: &str, way: TokenStream| {
        let name = format_ident!("{name}");
        tests.push(quote! {
            #[test]
            fn #name() {
                run(at(#me).#way);
            }
        });
    };
    for next in &state.next {
        let to = name(next.to.value);
        test(
            &format!("to_{}", kind.state(next.to.value).name.value.module()),
            quote!(to(#to)),
        );
    }
    if state.may_stay() {
        test("stays", quote!(stays()));
    }
    if let Some(timeout) = &state.timeout {
        let to = name(timeout.to.value);
        test("times_out", quote!(times_out(#to)));
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
            test("ends", quote!(ends_in(#deletion)));
            test("fails", quote!(fails(#deletion)));
        }
        (true, None) => {
            test("ends", quote!(ends()));
            test("fails", quote!(fails_and_ends()));
        }
        (false, _) => {}
    }
    let once = state.effects.value == Effects::Once;
    if let Some(retry) = state.retry.as_ref().filter(|_| !is_final)
        && let (RetryLimit::Times(_), Some(then)) = (retry.limit.value, &retry.then)
    {
        let then = name(then.value);
        test("fails", quote!(fails(#then)));
        test("fails_for_good", quote!(fails_for_good(#then)));
    }
    let resume = state
        .resume
        .as_ref()
        .map_or_else(|| me.clone(), |resume| name(resume.value));
    if once {
        test("fails", quote!(fails(#resume)));
    }
    if let Some(limit) = &state.limit {
        let then = name(limit.then.value);
        test("is_full", quote!(is_full(#then)));
    }
    match deletion {
        Some(to) => test("is_deleted", quote!(is_deleted(#to))),
        None if kind.machine.deletion.is_none() => test("is_deleted", quote!(is_deleted_at_once())),
        None => {}
    }
    if !once && !is_final && !state.on_deletion_path {
        match state.on_spec_change.value {
            OnSpecChange::Enter(to) => {
                let to = name(to);
                test("changes", quote!(changes(#to)));
            }
            _ => test("sees_changes", quote!(sees_changes())),
        }
    }
    test("restarts", quote!(restarts(#resume)));
    tests
}
