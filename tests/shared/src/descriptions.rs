//! The good descriptions of `testdata/ok/`, and their crates.

use crate::case_file::entries;
use krator::model::Extra;
use krator::render::{self, Runtime};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The description of the moose operator.
pub const MOOSE: &str = include_str!("../../../testdata/ok/moose/spec.yaml");

/// The folders of the good descriptions, by name.
pub fn cases() -> BTreeMap<String, PathBuf> {
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    entries("ok")
        .into_iter()
        .map(|path| (name(&path), path))
        .collect()
}

/// The files of the crate of a case, without those that `expected/` leaves out.
pub fn crate_of(case: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    crate_with(case, &[])
}

/// The same for a crate with these additional files.
pub fn crate_with(case: &Path, extras: &[Extra]) -> BTreeMap<PathBuf, Vec<u8>> {
    let text = fs::read(case.join("spec.yaml")).expect("a case has a description");
    let checked = krator::check("krator.yaml", &text);
    let mut description = checked.description.expect("a good description");
    description.deploy.extras.extend(extras);
    let plan = render::plan(&description, &checked.source, &Runtime::Vendored);
    plan.files()
        .filter(|(path, _)| {
            !path.starts_with("vendor/")
                && !path.starts_with(".krator/")
                && *path != "Cargo.lock"
                && !is_repeated(path)
        })
        .map(|(path, file)| (PathBuf::from(path), file.contents.clone().into_bytes()))
        .collect()
}

/// Whether a file only repeats manifests that are reviewed elsewhere: `dist/install.yaml`, and manifests of the chart
/// without values. Another test checks that they are equal.
pub fn is_repeated(path: &str) -> bool {
    let template = path.strip_prefix("deploy/chart/templates/");
    let is_repeated = |file| ["crd.yaml", "rbac.yaml", "policies.yaml", "webhooks.yaml"].contains(&file);
    path.starts_with("dist/") || template.is_some_and(is_repeated)
}
