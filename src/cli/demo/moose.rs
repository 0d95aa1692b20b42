//! The moose of the demo.

use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::cli::live::cluster::Embedded;

/// The longest pause between two moose, so that they do not change their states in step.
const PAUSE: Duration = Duration::from_millis(400);

const NAMES: [&str; 25] = [
    "alder", "aspen", "balsam", "birch", "bramble", "cedar", "clover", "fern", "hazel", "hemlock", "hickory",
    "juniper", "larch", "lichen", "maple", "moss", "rowan", "sedge", "sorrel", "spruce", "sumac", "tamarack",
    "thistle", "willow", "yarrow",
];

/// Creates 25 moose of random height and weight.
///
/// # Errors
///
/// If the server refuses an object.
pub async fn release(cluster: &Embedded) -> anyhow::Result<()> {
    for name in NAMES {
        cluster.apply(&moose(name)).await?;
        tokio::time::sleep(PAUSE.mul_f64(fastrand::f64())).await;
    }
    Ok(())
}

fn moose(name: &str) -> Json {
    json!({
        "apiVersion": "animals.com/v1",
        "kind": "Moose",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "height": f64::from(fastrand::u32(140..=210)) / 100.0,
            "weight": fastrand::u32(270..=720),
            "antlers": fastrand::bool(),
        },
    })
}
