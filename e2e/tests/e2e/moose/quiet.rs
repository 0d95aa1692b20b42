//! An operator that has nothing to do.

use super::faults::replaced;
use super::fixture::{Fixture, Variant, names};
use crate::cluster::until;
use std::time::Duration;

/// Moose that sleep until somebody startles them.
const SLEEPY: Variant = Variant {
    name: "moose-sleepy",
    description: |description| {
        replaced(
            description,
            "    wait: {watch: self}\n    timeout: {after: 20s, to: Roam}\n",
            "    wait: {watch: self}\n",
        )
    },
    edit: |_| (),
};

/// How long the operator is observed.
const WINDOW: Duration = Duration::from_secs(60);
/// After so long without a write, the writes of the beginning are taken to be over.
const SETTLED: Duration = Duration::from_secs(3);

#[test]
fn an_operator_with_a_hundred_ready_moose_writes_nothing() {
    let Some(mut fixture) = Fixture::new("quiet", &SLEEPY) else {
        return;
    };
    fixture.create(&names(100));
    fixture.start(&[]);
    fixture.kubectl(&[
        "wait",
        "--for=condition=Ready",
        "moose",
        "--all",
        "--timeout=180s",
    ]);
    let written = || fixture.cluster.writes(&fixture.namespace).len();
    let before = until("the last writes of the beginning", || {
        let before = written();
        // There is no event to wait for when nothing is written.
        std::thread::sleep(SETTLED);
        (written() == before).then_some(before)
    });
    assert!(
        before >= 100,
        "the audit log has the writes of the beginning: {before}"
    );

    std::thread::sleep(WINDOW);

    let writes = fixture.cluster.writes(&fixture.namespace);
    assert_eq!(writes.len(), before, "{:#?}", &writes[before..]);
    // The moose are where they should be.
    fixture.kubectl(&[
        "wait",
        "--for=jsonpath={.status.state}=Sleep",
        "moose",
        "--all",
        "--timeout=60s",
    ]);
    assert!(fixture.is_running());
}
