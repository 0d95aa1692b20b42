//! A state that leaves `Ready` as it was: whoever asks for `Ready` goes on, and whoever waits for the end of the work waits.

use super::*;
use krator_runtime::TransitionTo;

states!(Serving = 0, Tuning = 1);
static GRAPH: Graph = Graph::new(&STATES, Serving::ID, None, "example.com/things");
static STATES: [Policy; 2] = [
    Policy::new("Serving")
        .kind(StateKind::Ready)
        .next(&[Tuning::ID])
        .watch(&[Watch::Itself]),
    Policy::new("Tuning")
        .next(&[Serving::ID])
        .poll(seconds(5))
        .conditions(&[("Ready", "keep")]),
];
impl TransitionTo<Tuning> for Serving {}
impl TransitionTo<Serving> for Tuning {}
impl MayStay for Serving {}
impl MayStay for Tuning {}
impl State for Serving {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        let is_asked = cx.manifest().label == 1;
        Ok(if is_asked {
            Transition::to(Tuning)
        } else {
            Transition::stay()
        })
    }
}
impl State for Tuning {
    async fn next(self, cx: &mut Context<'_, M>) -> Result<Transition<Self>> {
        let work = cx.manifest().work;
        match work {
            Work::Succeed => Ok(Transition::stay()),
            _ => Err("it does not work".into()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn ready_may_be_kept_while_the_operator_is_at_work() {
    for (work, ready, reconciling) in [
        (Work::Succeed, "True Tuning", "True Tuning"),
        (Work::Fail, "False Retrying", "True Retrying"),
    ] {
        let mut one: Local<M> = local_of(thing(work));
        one.run_until_idle().await;
        assert_eq!(condition(&one, "Ready"), "True Serving");
        one.handle().update(|thing| thing.label = 1);
        one.run_until_idle().await;
        assert_eq!(condition(&one, "Ready"), ready);
        assert_eq!(condition(&one, "Reconciling"), reconciling);
        #[cfg(feature = "kube")]
        {
            // kstatus asks for `Reconciling` first, so Helm, Flux and kpt go on waiting.
            let object = serde_json::json!({
                "apiVersion": "example.com/v1", "kind": "Thing",
                "metadata": {"name": "thing", "generation": 1},
                "status": machine(&one),
            });
            let readiness = krator_runtime::Readiness::of(&object, jiff::Timestamp::now());
            let is_in_progress = matches!(readiness, krator_runtime::Readiness::InProgress(_));
            assert!(is_in_progress, "{readiness:?}");
        }
    }
}
