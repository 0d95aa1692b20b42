//! Handlers of tests: each tells of its start, then goes the way that its object's annotation says, or that dice say.
//! Compiled into the operator, not into the tests.

use krator_runtime::{Context, Error, Machine, ManifestOf, Object as _, Result};
use std::{
    fs::File,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Write as _,
    time::Duration,
};

/// Longer than any timeout of the description.
const HANG: Duration = Duration::from_secs(600);
/// Long enough to be stopped in.
const SLOW: Duration = Duration::from_secs(3);

/// The state to go to; none is to stay, to be done, or the first way where neither can be.
///
/// The annotation `script` is a list as `Roam>Eat,Eat>fail,`: by state, where to go, or `stay`, `fail`, `hang`, or `slow`
/// for the first way after a while. A state that it does not name is left by its first way, but for those that rest.
pub async fn way<M: Machine>(
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
    tell(cx.entry(), state, object.uid())?;
    let annotations = kube::Resource::meta(&*object).annotations.as_ref();
    let Some(script) = annotations.and_then(|all| all.get("script")) else {
        return thrown(cx, kind, nexts, may_stay).await;
    };
    let said = script
        .split(',')
        .filter_map(|step| step.split_once('>'))
        .find(|(from, _)| *from == state)
        .map(|(_, to)| to);
    let first = nexts.first().copied();
    match said {
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

/// What chance says: the same for the same entry and attempt, so that a second run of them does the same.
async fn thrown<M: Machine>(
    cx: &Context<'_, M>,
    kind: &str,
    nexts: &[&'static str],
    may_stay: bool,
) -> Result<Option<&'static str>> {
    let mut dice = DefaultHasher::new();
    // Whoever stays throws anew.
    (cx.entry(), cx.attempt(), cx.in_state_for().as_millis() / 500).hash(&mut dice);
    let dice = dice.finish();
    match dice % 64 {
        0 => return Err(Error::from("as the dice say")),
        1 => panic!("as the dice say"),
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

/// One line in one write, so that those of several processes do not mix.
fn tell(entry: &str, state: &str, uid: &str) -> Result<()> {
    let Ok(path) = std::env::var("KRATOR_STARTS") else {
        return Ok(());
    };
    let line = format!("{entry} {state} {uid} {}\n", std::process::id());
    let mut file = File::options().create(true).append(true).open(path)?;
    file.write_all(line.as_bytes())?;
    Ok(())
}
