//! The conditions that a description declares, as types: a handler that sets any other condition does not compile.
use super::{Context, Machine};
use crate::conditions;

/// The conditions of a machine besides `Ready`, `Reconciling` and `Stalled`: those that its description declares under
/// `conditions`, and those that its states set. Generated, as an enum such as `WebsiteCondition`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition of this machine",
    label = "not a condition",
    note = "declare it under `conditions` in krator.yaml, then run `krator gen`"
)]
pub trait OwnCondition: Copy {
    /// The machine whose objects have the condition.
    type Machine: Machine;
    /// The type of the condition, as in `.status.conditions`.
    fn name(self) -> &'static str;
}

impl<M: Machine> Context<'_, M> {
    /// Sets a condition of `.status.conditions`, which is kept until it is set again. `true`, `false` and `None` are
    /// `True`, `False` and `Unknown`; `reason` is a word for programs, `message` a sentence for people. The condition
    /// is written when the run ends.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// fn report(cx: &mut Context<'_>) {
    ///     let reachable = cx.status().url.is_some();
    ///     cx.set(WebsiteCondition::Reachable, reachable, "Checked", "The website was requested.");
    /// }
    /// ```
    ///
    /// Only the conditions of `krator.yaml` compile:
    ///
    /// ```compile_fail,E0599
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// fn report(cx: &mut Context<'_>) {
    ///     cx.set(WebsiteCondition::Reachabel, true, "Checked", "The website was requested.");
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If [`OwnCondition`] is implemented by hand for a condition that is not in the graph of the machine. In an
    /// operator, this is an error of the handler.
    pub fn set(
        &mut self,
        condition: impl OwnCondition<Machine = M>,
        status: impl Into<Option<bool>>,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) {
        let kind = condition.name();
        assert!(
            self.graph.own_conditions().contains(&kind),
            "the graph of the machine does not have the condition `{kind}`"
        );
        self.conditions
            .push(conditions::set(kind, status.into(), reason, message));
    }
}
