//! Walks objects through states whose handlers nobody has written, so that a graph can be seen alive before there is code:
//! now and then each takes an edge by chance, as somebody at the page might.
use crate::cluster::observability::inspect::Inspection;
use std::{
    env,
    hash::{BuildHasher as _, RandomState},
    time::Duration,
};

/// The variable by which `krator dev --walk` asks for it.
const VARIABLE: &str = "KRATOR_WALK";
/// How long an object stays at least, so that people can follow it.
const PACE: Duration = Duration::from_secs(2);

/// Walks the objects for as long as the process runs, if the environment asks for it.
pub(in crate::cluster) async fn walk(inspection: Inspection) {
    #[allow(
        clippy::disallowed_methods,
        reason = "it is read when an operator starts, like what clap reads"
    )]
    let is_asked = env::var_os(VARIABLE).is_some();
    if !is_asked {
        return;
    }
    loop {
        tokio::time::sleep(PACE).await;
        for (object, next) in inspection.unwritten().await {
            let random = usize::try_from(RandomState::new().hash_one(&object.name)).unwrap_or_default();
            // One of the edges, or none this time.
            if let Some(to) = next.get(random % (next.len() + 1)) {
                // It may have gone in the meantime.
                let _ = inspection.take_by_hand(&object, to).await;
            }
        }
    }
}
