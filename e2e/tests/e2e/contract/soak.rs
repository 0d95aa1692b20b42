//! A thousand objects of five descriptions under faults and kills, for one minute or for `KRATOR_SOAK_MINUTES`. One
//! operator is killed again and again; the other one is not, so that its memory can be measured.

use super::session::{Session, resource};
use crate::cluster::{say, until};
use crate::dice::{Dice, number};
use crate::operator::OperatorProcess;
use crate::scripted_operator::{ScriptedOperator, prepared};
use krator::model::Kind;
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Objects of each of the five kinds, for each of the two operators.
const OBJECTS: usize = 100;
/// The seed of the kills and of the operations on objects.
const SEED: u64 = 20_220_801;
/// The time of the first memory measurement, unless half of the test is shorter. The second one is at the end.
const WARM: Duration = Duration::from_secs(60);

/// The faults of requests. Each process has its own seed, because otherwise each would begin with the same faults.
fn faults(seed: u64) -> Value {
    json!({
        "seed": seed, "latency": 50, "conflict": 10, "invalid": 3, "throttled": 5, "broken": 10, "lost": 10,
        "cut": 500, "gone": 50, "partition": [20_000, 2_000],
    })
}

/// One of the two operators, with its objects.
struct Half {
    session: Session,
    /// None between a kill and the next start.
    operator: Option<OperatorProcess>,
    starts: u64,
}

impl Half {
    fn new(scripted: &Arc<ScriptedOperator>, name: &str, seed: u64) -> Half {
        let kinds: Vec<&Kind> = scripted.program.description.kinds.iter().collect();
        let mut session = Session::new(scripted, name, &kinds);
        for kind in kinds {
            let objects: Vec<Value> = (0..OBJECTS)
                .map(|number| {
                    scripted
                        .program
                        .object(kind, &session.namespace, &format!("it-{number}"), None)
                })
                .collect();
            scripted.create(&objects);
        }
        let operator = Some(session.start(&faults(seed)));
        Half {
            session,
            operator,
            starts: seed,
        }
    }

    fn is_running(&mut self) -> bool {
        self.operator.as_mut().is_some_and(OperatorProcess::is_running)
    }

    fn kill(&mut self) {
        self.operator.take().expect("it runs").kill();
        self.starts += 1;
        self.operator = Some(self.session.start(&faults(self.starts)));
    }

    /// Deletes, creates or changes an object, as users do. Some of these requests fail, because the object exists or
    /// does not exist.
    fn disturb(&self, scripted: &ScriptedOperator, dice: &mut Dice) {
        let kinds = &scripted.program.description.kinds;
        let kind = &kinds[dice.below(kinds.len())];
        let name = format!("it-{}", dice.below(OBJECTS));
        let resource = resource(kind, &name);
        if dice.below(3) == 0 {
            let _ = self.session.kubectl(&["delete", "--wait=false", &resource]);
            let again = scripted.program.object(
                kind,
                &self.session.namespace,
                &format!("it-{}", dice.below(OBJECTS)),
                None,
            );
            let _ = scripted
                .cluster
                .try_kubectl("admin", &["create", "-f", "-"], &again.to_string());
        } else if let Some(change) = scripted.program.change(kind, dice.below(1000)) {
            let _ = self
                .session
                .kubectl(&["patch", &resource, "--type=merge", "--patch", &change]);
        }
    }

    /// Resident memory, in KiB.
    fn memory(&self) -> u64 {
        let id = self.operator.as_ref().expect("it runs").id();
        let status = fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        number.expect("Linux shows the resident memory")
    }
}

#[ignore = "minutes of a real server, for memory and for what no simulation has: `just nightly`"]
#[test]
fn a_thousand_objects_live_through_faults_and_kills() {
    let Some(scripted) = &prepared() else { return };
    let length = Duration::from_secs(60 * number("KRATOR_SOAK_MINUTES", 1));
    let mut dice = Dice::new(SEED);
    let mut killed = Half::new(scripted, "soak-killed", 1000);
    let mut spared = Half::new(scripted, "soak-spared", 2000);
    let (begun, mut kills, mut warm) = (Instant::now(), 0, None);
    let mut next_kill = Instant::now() + Duration::from_secs(5);
    while begun.elapsed() < length {
        for half in [&mut killed, &mut spared] {
            half.session.follow();
            assert!(half.is_running(), "it ended by itself");
            half.disturb(scripted, &mut dice);
        }
        if Instant::now() > next_kill {
            killed.kill();
            kills += 1;
            next_kill = Instant::now() + Duration::from_millis(3000 + dice.below(12_000) as u64);
        }
        if warm.is_none() && begun.elapsed() >= WARM.min(length / 2) {
            warm = Some(spared.memory());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    // The policies were in force, although they have refused no write of an operator.
    until("a policy refuses a state without an edge", || {
        let name = format!("it-{}", dice.below(OBJECTS));
        let lost = json!({
            "apiVersion": "animals.com/v1", "kind": "Moose", "status": {"state": "Nowhere"},
            "metadata": {"name": name, "namespace": spared.session.namespace},
        });
        let dry = ["--force-conflicts", "--dry-run=server"];
        let refused = scripted.cluster.try_apply_status(&lost.to_string(), &dry).err()?;
        refused.contains("no edge of the machine").then_some(())
    });
    until("a policy protects a release", || {
        let delete = [
            "delete",
            "helmreleases.helm.toolkit.fluxcd.io",
            "--all",
            "--dry-run=server",
        ];
        let refused = spared.session.kubectl(&delete).err()?;
        refused.contains("is protected in the state").then_some(())
    });
    let (warm, end) = (warm.expect("half of the time is over"), spared.memory());
    let (mut objects, mut entries) = (0, 0);
    for half in [killed, spared] {
        let Half {
            mut session,
            operator,
            ..
        } = half;
        assert_eq!(operator.expect("it runs").terminate().code(), Some(0));
        let totals = session.judge();
        (objects, entries) = (objects + totals.objects, entries + totals.entries);
    }
    say(&format!(
        "soak: {objects} objects, {entries} entries of states, {kills} kills in {length:?}; memory {warm} KiB, then {end} KiB"
    ));
    assert!(objects >= 2 * 5 * OBJECTS && entries > objects);
    // An allocator keeps some of the freed memory, so growth by an eighth and 4 MiB is tolerated.
    assert!(
        end <= warm + warm / 8 + 4096,
        "memory grew from {warm} KiB to {end} KiB"
    );
}
