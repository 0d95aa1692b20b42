//! The common part of the handlers of the scripted operator: each records its start, and then returns the state in the
//! annotation `script` of its object, or a random one without a script. This file is compiled into the operator, not
//! into the tests.

use krator_runtime::{Context, Error, Machine, ManifestOf, Object as _, Result};
use std::{
    cell::RefCell,
    fs::File,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Write as _,
    time::Duration,
};

/// Longer than any timeout of the description.
const HANG: Duration = Duration::from_secs(600);
/// Long enough for a test to freeze the process while the handler runs.
const SLOW: Duration = Duration::from_secs(3);

/// The next state. With none the handler stays in its state or is done, or takes the first edge where it may do
/// neither.
///
/// The annotation `script` is a list such as `Roam>Eat,Eat>fail,`. It maps each state to the next state, or to one of
/// these words: `stay`, `fail`, `hang`, and `slow`, which takes the first edge after a while. A state that is missing
/// in the script takes its first edge, except for a ready or failed state, in which the object stays.
pub async fn next_state<M: Machine>(
    cx: &Context<'_, M>,
    state: &str,
    kind: &str,
    nexts: &[&'static str],
    may_stay: bool,
) -> Result<Option<&'static str>>
where
    ManifestOf<M>: kube::Resource<DynamicType = ()>,
{
    let object = cx.manifest();
    record_start(cx.entry(), state, object.uid())?;
    let annotations = kube::Resource::meta(&*object).annotations.as_ref();
    let Some(script) = annotations.and_then(|all| all.get("script")) else {
        return random_state(cx, kind, nexts, may_stay).await;
    };
    let directive = script
        .split(',')
        .filter_map(|step| step.split_once('>'))
        .find(|(from, _)| *from == state)
        .map(|(_, to)| to);
    let first = nexts.first().copied();
    match directive {
        Some("stay") => Ok(None),
        Some("fail") => Err(Error::from("as the script says")),
        Some("hang") => {
            tokio::time::sleep(HANG).await;
            Ok(first)
        }
        Some("slow") => {
            tokio::time::sleep(SLOW).await;
            Ok(first)
        }
        Some(to) => Ok(nexts.iter().copied().find(|next| *next == to)),
        None if matches!(kind, "ready" | "failed") => Ok(None),
        None => Ok(first),
    }
}

/// A random state or failure. The dice are seeded by the entry and the attempt, so that a second run of the same
/// attempt has the same result.
async fn random_state<M: Machine>(
    cx: &Context<'_, M>,
    kind: &str,
    nexts: &[&'static str],
    may_stay: bool,
) -> Result<Option<&'static str>> {
    let mut dice = DefaultHasher::new();
    // The time in the state is part of the seed too, so that an object that stays gets another result later.
    (cx.entry(), cx.attempt(), cx.in_state_for().as_millis() / 500).hash(&mut dice);
    let dice = dice.finish();
    match dice % 64 {
        0 => return Err(Error::from("as the dice say")),
        // A panic without a message on standard error.
        1 => std::panic::resume_unwind(Box::new("as the dice say")),
        2 => tokio::time::sleep(Duration::from_millis(dice / 64 % 2000)).await,
        _ => {}
    }
    let rests = if matches!(kind, "ready" | "failed") { 32 } else { 4 };
    if nexts.is_empty() || (may_stay && !(dice / 64).is_multiple_of(rests)) {
        return Ok(None);
    }
    let at = usize::try_from(dice / 4096).unwrap_or_default() % nexts.len();
    Ok(Some(nexts[at]))
}

thread_local! {
    /// The starts in this process, if they are collected here instead of in the file.
    pub static STARTS: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Appends a line to the file that the test reads. A single write keeps the lines of several processes apart.
fn record_start(entry: &str, state: &str, uid: &str) -> Result<()> {
    let is_collected = STARTS.with_borrow_mut(|starts| {
        let line = format!("{entry} {state} {uid}\n");
        starts.as_mut().map(|starts| starts.push_str(&line)).is_some()
    });
    if is_collected {
        return Ok(());
    }
    let Ok(path) = std::env::var("KRATOR_STARTS") else {
        return Ok(());
    };
    let line = format!("{entry} {state} {uid} {}\n", std::process::id());
    let mut file = File::options().create(true).append(true).open(path)?;
    file.write_all(line.as_bytes())?;
    Ok(())
}
