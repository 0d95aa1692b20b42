//! What an operator does when there is nothing to do.

use super::faults::replaced;
use super::herd::{Herd, Variant, names};
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

/// The time that is looked at, and a shorter one after which the last write of the beginning counts as the last.
const WINDOW: Duration = Duration::from_secs(60);
const SETTLED: Duration = Duration::from_secs(3);

#[test]
fn an_operator_with_a_hundred_ready_moose_writes_nothing() {
    let Some(mut herd) = Herd::new("quiet", &SLEEPY) else {
        return;
    };
    herd.create(&names(100));
    herd.start(&[]);
    herd.kubectl(&[
        "wait",
        "--for=condition=Ready",
        "moose",
        "--all",
        "--timeout=180s",
    ]);
    let written = || herd.cluster.writes(&herd.namespace).len();
    let before = until("the last writes of the beginning", || {
        let before = written();
        // Only time can tell that nothing comes.
        std::thread::sleep(SETTLED);
        (written() == before).then_some(before)
    });
    assert!(
        before >= 100,
        "the audit log has the writes of the beginning: {before}"
    );

    std::thread::sleep(WINDOW);

    let writes = herd.cluster.writes(&herd.namespace);
    assert_eq!(writes.len(), before, "{:#?}", &writes[before..]);
    // Asleep, not lost.
    herd.kubectl(&[
        "wait",
        "--for=jsonpath={.status.state}=Sleep",
        "moose",
        "--all",
        "--timeout=60s",
    ]);
    assert!(herd.is_running());
}
