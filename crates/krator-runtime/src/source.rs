//! The sources of this crate as constants. The command `krator` copies them into every crate that it generates, so
//! that the crate builds anywhere, with the runtime that it was generated for.

/// The manifest. The command reads from it what generated crates depend on.
pub const MANIFEST: &str = include_str!("../Cargo.toml");

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../", $path)))),*]
    };
}

/// All other files: their paths in the package and their contents.
pub const FILES: &[(&str, &str)] = files![
    "LICENSE",
    "src/actor.rs",
    "src/actor/annotations.rs",
    "src/actor/kept.rs",
    "src/actor/run.rs",
    "src/actor/told.rs",
    "src/actor/writes.rs",
    "src/applied.rs",
    "src/cluster.rs",
    "src/cluster/access.rs",
    "src/cluster/apis.rs",
    "src/cluster/children.rs",
    "src/cluster/children/apply.rs",
    "src/cluster/children/emptied.rs",
    "src/cluster/children/ends.rs",
    "src/cluster/children/strays.rs",
    "src/cluster/clock.rs",
    "src/cluster/command.rs",
    "src/cluster/control.rs",
    "src/cluster/dev.rs",
    "src/cluster/dev/controls.css",
    "src/cluster/dev/controls.js",
    "src/cluster/dev/failures.rs",
    "src/cluster/dev/objects.rs",
    "src/cluster/dev/tests.rs",
    "src/cluster/dev/walk.rs",
    "src/cluster/dispatch.rs",
    "src/cluster/faults.rs",
    "src/cluster/health.rs",
    "src/cluster/in_tests.rs",
    "src/cluster/inspect.rs",
    "src/cluster/inspect/answer.rs",
    "src/cluster/inspect/graph.js",
    "src/cluster/inspect/graph.rs",
    "src/cluster/inspect/history.rs",
    "src/cluster/inspect/layout.js",
    "src/cluster/inspect/page.css",
    "src/cluster/inspect/page.html",
    "src/cluster/inspect/page.js",
    "src/cluster/inspect/page.rs",
    "src/cluster/inspect/panel.js",
    "src/cluster/inspect/query.rs",
    "src/cluster/inspect/tests.rs",
    "src/cluster/lease.rs",
    "src/cluster/links.rs",
    "src/cluster/mandate.rs",
    "src/cluster/metrics.rs",
    "src/cluster/metrics/access.rs",
    "src/cluster/metrics/process.rs",
    "src/cluster/metrics/requests.rs",
    "src/cluster/metrics/server.rs",
    "src/cluster/namespaces.rs",
    "src/cluster/patch.rs",
    "src/cluster/process.rs",
    "src/cluster/raw.rs",
    "src/cluster/reach.rs",
    "src/cluster/recorder.rs",
    "src/cluster/recorder/series.rs",
    "src/cluster/remote.rs",
    "src/cluster/serve.rs",
    "src/cluster/serve/tls.rs",
    "src/cluster/skew.rs",
    "src/cluster/skew/schema.rs",
    "src/cluster/undecodable.rs",
    "src/cluster/watch_index.rs",
    "src/cluster/watches.rs",
    "src/cluster/watches/backoff.rs",
    "src/cluster/watches/cache.rs",
    "src/cluster/watches/listings.rs",
    "src/cluster/watches/stream.rs",
    "src/conditions.rs",
    "src/doc/eat.txt",
    "src/doc/kinds.txt",
    "src/doc/moose.txt",
    "src/engine.rs",
    "src/engine/enter.rs",
    "src/engine/failures.rs",
    "src/engine/reason.rs",
    "src/engine/render.rs",
    "src/engine/spec.rs",
    "src/engine/times.rs",
    "src/error.rs",
    "src/field_value.rs",
    "src/graph.rs",
    "src/graph/policy.rs",
    "src/graph/retry.rs",
    "src/lib.rs",
    "src/local.rs",
    "src/local/api.rs",
    "src/local/api/controllers.rs",
    "src/local/api/objects.rs",
    "src/local/api/request.rs",
    "src/local/api/tests.rs",
    "src/local/fixture.rs",
    "src/local/memory.rs",
    "src/local/object.rs",
    "src/machine.rs",
    "src/machine/condition.rs",
    "src/machine/context.rs",
    "src/machine/object.rs",
    "src/machine/transition.rs",
    "src/operator.rs",
    "src/readiness.rs",
    "src/readiness/fields.rs",
    "src/readiness/kinds.rs",
    "src/resource.rs",
    "src/resource/owner.rs",
    "src/resource/selector.rs",
    "src/source.rs",
    "src/spec_digest.rs",
    "src/status.rs",
    "src/testing.rs",
    "src/testing/case.rs",
    "src/testing/case/route.rs",
    "src/testing/judge.rs",
    "src/testing/judge/changes.rs",
    "src/testing/judge/edges.rs",
    "src/testing/judge/reports.rs",
    "src/testing/judge/undisturbed.rs",
    "src/testing/recorder.rs",
    "src/testing/scripted.rs",
    "src/testing/search.rs",
    "src/testing/search/choices.rs",
    "src/testing/search/play.rs",
    "src/testing/walk.rs",
    "src/testing/witness.rs",
    "src/text.rs",
    "src/world.rs",
];

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the test reads the folder")]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    fn collect(folder: &Path, root: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("a folder of this package") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, root, found);
            } else {
                let relative = path.strip_prefix(root).expect("below the root");
                found.insert(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }

    #[test]
    fn every_source_is_listed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = BTreeSet::from(["LICENSE".to_owned()]);
        collect(&root.join("src"), root, &mut found);
        let listed: BTreeSet<String> = super::FILES.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(found, listed);
    }
}
