//! The files of a generated crate that cargo reads: manifest, lock file and vendored runtime. Versions of dependencies
//! come from the runtime's manifest and are those that this workspace is tested with, so there is no second table to
//! keep up to date.

use super::{Runtime, templates::Template};
use crate::{
    model::Description,
    names::OperatorName,
    plan::{Ownership, Plan},
};
use cargo_toml::{Dependency, Manifest};
use krator_runtime::source;
use semver::{Version, VersionReq};
use serde_json::json;

/// The folder of the vendored runtime.
pub(crate) const VENDOR: &str = "vendor/krator-runtime";
/// The name of the package in [`LOCK`].
const PLACEHOLDER: &str = "generated-operator";
/// The package of the runtime.
const RUNTIME: &str = "krator-runtime";
/// The package that the runtime depends on, and that the vendored runtime contains as a module.
const MACHINE: &str = "krator-machine";
/// The lock file that generated crates are tested with.
const LOCK: &str = include_str!("../../templates/Cargo.lock");

/// The dependencies of a generated crate besides the runtime, which depends on all of them as well.
const DEPENDENCIES: [&str; 4] = ["k8s-openapi", "kube", "serde", "serde_json"];

fn manifest() -> Manifest {
    // The manifest is part of this program, and the tests below read it.
    Manifest::from_str(source::MANIFEST).expect("the runtime's manifest")
}

/// `Cargo.toml`.
pub(crate) fn manifest_of(description: &Description, from: &Runtime) -> String {
    let runtime = manifest();
    let origin = match from {
        Runtime::Vendored => format!("path = {}", toml_string(VENDOR)),
        Runtime::Path(folder) => format!("path = {}", toml_string(folder)),
        // `^` is cargo's default.
        Runtime::Version(version) => {
            format!(
                "version = {}",
                toml_string(version.to_string().trim_start_matches('^'))
            )
        }
    };
    let requirement = |name: &str| json!({"name": name, "requirement": requirement(&runtime, name, &[])});
    let mut dependencies: Vec<_> = DEPENDENCIES.iter().map(|name| requirement(name)).collect();
    dependencies.insert(
        1,
        json!({
            "name": RUNTIME,
            "requirement": format!("{{ {origin}, features = [\"kube\"] }}"),
        }),
    );
    let test_features = ["macros", "rt", "test-util", "time"];
    let package = runtime.package();
    let rust_version = package
        .rust_version
        .as_ref()
        .and_then(|v| v.get().ok())
        .map_or("", |v| v.as_str());
    Template::CargoToml.render(&json!({
        "operator": description.operator.value.as_str(),
        "about": toml_string(&super::rust::about(description)),
        "rust_version": toml_string(rust_version),
        "dependencies": dependencies,
        "dev_dependencies": [
            {"name": "tokio", "requirement": self::requirement(&runtime, "tokio", &test_features)},
        ],
    }))
}

/// The version of the runtime.
fn version() -> String {
    manifest().package().version().to_string()
}

/// Whether the runtime that this krator generates for meets a requirement.
pub(super) fn is_met(requirement: &VersionReq) -> bool {
    let version = Version::parse(&version());
    version.is_ok_and(|version| requirement.matches(&version))
}

/// The requirement of a crate for the runtime in a registry: the crate's own one, if it allows the version of the
/// runtime that this krator generates for, and that version otherwise.
pub(crate) fn followed(requirement: &str) -> VersionReq {
    let own = VersionReq::parse(requirement).ok().filter(is_met);
    own.unwrap_or_else(|| VersionReq::parse(&version()).expect("a version is a requirement, too"))
}

/// A dependency of the runtime with its version, and with these features if there are any.
fn requirement(runtime: &Manifest, name: &str, features: &[&str]) -> String {
    let (version, defaults, own) = match runtime.dependencies.get(name) {
        Some(Dependency::Detailed(detail)) => (
            detail
                .version
                .as_ref()
                .map_or_else(String::new, ToString::to_string),
            detail.default_features,
            detail.features.clone(),
        ),
        Some(Dependency::Simple(version)) => (version.to_string(), true, Vec::new()),
        _ => (String::new(), true, Vec::new()),
    };
    // `^` is cargo's default.
    let version = version.trim_start_matches('^');
    let features: Vec<String> = if features.is_empty() {
        own
    } else {
        features.iter().map(|f| (*f).to_owned()).collect()
    };
    if defaults && features.is_empty() {
        return toml_string(version);
    }
    let mut parts = vec![format!("version = {}", toml_string(version))];
    if !defaults {
        parts.push("default-features = false".to_owned());
    }
    if !features.is_empty() {
        let features: Vec<String> = features.iter().map(|f| toml_string(f)).collect();
        parts.push(format!("features = [{}]", features.join(", ")));
    }
    format!("{{ {} }}", parts.join(", "))
}

/// A string in TOML.
fn toml_string(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// `Cargo.lock`: the lock file that generated crates are tested with, for a package of this name. It leaves out a
/// runtime from a registry, because only cargo can determine its checksum; the first run of cargo adds it.
pub(crate) fn lock_of(operator: &OperatorName, from: &Runtime) -> String {
    let mut blocks: Vec<&str> = LOCK.split("\n[[package]]\n").collect();
    let is_from_registry = matches!(from, Runtime::Version(_));
    let head = blocks.remove(0).trim_end();
    let own = format!("name = \"{PLACEHOLDER}\"");
    let is_left_out = |block: &&str| is_from_registry && block.starts_with(&format!("name = \"{RUNTIME}\""));
    // In a folder of its own, the runtime does not contain the other crate, but depends on it.
    let is_in_folder = matches!(from, Runtime::Path(_));
    let machine = format!(
        "name = \"{MACHINE}\"\nversion = \"{}\"\ndependencies = [\n \"cronexpr\",\n \"jiff\",\n \"serde\",\n \"serde_json\",\n]",
        version()
    );
    let mut packages: Vec<(String, String, String)> = blocks
        .into_iter()
        .filter(|block| !is_left_out(block))
        .chain(is_in_folder.then_some(&*machine))
        .map(|block| {
            let mut block = block.trim_end().to_owned();
            if is_in_folder && block.starts_with(&format!("name = \"{RUNTIME}\"")) {
                let (before, after) = (" \"kube\",\n", format!(" \"{MACHINE}\",\n \"kube\",\n"));
                block = block.replacen(before, &after, 1);
            }
            if block.starts_with(&own) {
                block = block.replace(&own, &format!("name = \"{operator}\""));
                if is_from_registry {
                    block = block.replace(&format!(" \"{RUNTIME}\",\n"), "");
                }
            }
            let value = |key: &str| {
                let line = block.lines().find_map(|line| line.strip_prefix(key));
                line.unwrap_or_default().trim_matches('"').to_owned()
            };
            (value("name = "), value("version = "), block)
        })
        .collect();
    // In cargo's order, because otherwise `--locked` rejects the file as out of date.
    packages.sort_by(|a, b| a.0.cmp(&b.0));
    let mut lock = format!("{head}\n");
    for (_, _, block) in packages {
        lock.push_str(&format!("\n[[package]]\n{block}\n"));
    }
    lock
}

/// Adds the runtime in `vendor/`.
pub fn vendor(plan: &mut Plan) {
    plan.add(
        format!("{VENDOR}/Cargo.toml"),
        Ownership::Generated,
        vendored_manifest(),
    );
    for (path, contents) in [("LICENSE", source::LICENSE), ("src/lib.rs", source::LIBRARY)] {
        plan.add(format!("{VENDOR}/{path}"), Ownership::Generated, contents);
    }
}

/// The runtime's manifest, generated from its contents. `cargo package` rewrites manifests, but a vendored manifest
/// must not depend on how krator was installed.
fn vendored_manifest() -> String {
    let runtime = manifest();
    let package = runtime.package();
    let mut text = format!(
        "# The runtime of krator {version}, vendored. Do not edit this file: `krator gen` overwrites it.\n\
         [package]\nname = {name}\nversion = {version_text}\nedition = \"2024\"\nrust-version = {rust}\n\
         license = \"Apache-2.0\"\npublish = false\n\n[features]\n",
        version = package.version(),
        name = toml_string(package.name()),
        version_text = toml_string(&package.version().to_string()),
        rust = toml_string(
            package
                .rust_version
                .as_ref()
                .and_then(|v| v.get().ok())
                .map_or("", |v| v.as_str())
        ),
    );
    // A feature that is in no vendored file is only used by tests.
    let is_vendored = |feature: &str| {
        let condition = format!("feature = \"{feature}\"");
        source::LIBRARY.contains(&condition)
    };
    for (feature, enables) in runtime
        .features
        .iter()
        .filter(|(feature, _)| is_vendored(feature))
    {
        let enables: Vec<String> = enables.iter().map(|e| toml_string(e)).collect();
        text.push_str(&format!("{feature} = [{}]\n", enables.join(", ")));
    }
    // In a workspace, the vendored runtime is a member as well, but its examples are tested in its own repository.
    text.push_str("\n[lib]\ndoctest = false\ntest = false\n\n[dependencies]\n");
    // The single file of the runtime contains that crate as a module.
    let vendored = runtime.dependencies.iter().filter(|(name, _)| *name != MACHINE);
    for (name, dependency) in vendored {
        let requirement = requirement(&runtime, name, &[]);
        let requirement = match (dependency.optional(), requirement.strip_suffix(" }")) {
            (false, _) => requirement,
            (true, Some(detailed)) => format!("{detailed}, optional = true }}"),
            (true, None) => format!("{{ version = {requirement}, optional = true }}"),
        };
        text.push_str(&format!("{name} = {requirement}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The maximum number of lines of the vendored runtime, because users own the lines of a generated crate.
    const MOST_LINES: usize = 28_550;

    #[test]
    fn dependencies_of_generated_crates_are_reserved() {
        let lock: toml_edit::DocumentMut = include_str!("../../templates/Cargo.lock").parse().unwrap();
        let packages = lock["package"].as_array_of_tables().unwrap();
        let generated = packages
            .iter()
            .find(|package| package["name"].as_str() == Some("generated-operator"))
            .unwrap();
        let dependencies: Vec<&str> = generated["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|dependency| dependency.as_str()?.split(' ').next())
            .collect();
        assert!(dependencies.contains(&"krator-runtime"));
        for dependency in dependencies {
            // Names of operators have no `_`, but rustc treats `-` and `_` in names of crates alike.
            let name = dependency.replace('_', "-");
            assert!(crate::names::unusable_operator(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_lock_file_is_in_cargos_order_whatever_the_package_is_called() {
        for name in ["aaa", "moose-tracker", "zzz"] {
            let name = OperatorName::parse(name).expect("a name");
            let lock = lock_of(&name, &Runtime::Vendored);
            let names: Vec<&str> = lock
                .lines()
                .filter_map(|line| line.strip_prefix("name = "))
                .collect();
            assert!(names.is_sorted(), "{names:?}");
            assert!(names.contains(&format!("\"{name}\"").as_str()));
            assert!(!lock.contains(PLACEHOLDER));
        }
    }

    #[test]
    fn a_crate_follows_its_requirement_until_this_krator_needs_another_one() {
        let own = version();
        for (requirement, followed) in [(">=0.1", ">=0.1"), ("=0.0.1", &*own), ("?", &*own)] {
            let followed = VersionReq::parse(followed).expect("a requirement");
            assert_eq!(super::followed(requirement), followed, "{requirement}");
        }
    }

    #[test]
    fn the_vendored_manifest_has_the_dependencies_of_the_runtimes_own_and_the_features_of_operators() {
        let (own, vendored) = (
            manifest(),
            Manifest::from_str(&vendored_manifest()).expect("a manifest"),
        );
        let features: Vec<&str> = vendored.features.keys().map(String::as_str).collect();
        assert_eq!(features, ["dev", "kube", "otel"]);
        for (feature, enables) in &vendored.features {
            assert_eq!(own.features.get(feature), Some(enables), "{feature}");
        }
        // The file contains the source of that crate.
        assert!(!vendored.dependencies.contains_key(MACHINE));
        assert_eq!(own.dependencies.len(), vendored.dependencies.len() + 1);
        for (name, dependency) in own.dependencies.iter().filter(|(name, _)| *name != MACHINE) {
            let copy = &vendored.dependencies[name];
            assert_eq!(dependency.req(), copy.req(), "{name}");
            assert_eq!(dependency.req_features(), copy.req_features(), "{name}");
            assert_eq!(dependency.optional(), copy.optional(), "{name}");
        }
    }

    #[test]
    fn what_an_operator_never_runs_is_not_vendored() {
        for left_out in [
            "cfg(test",
            "cfg(all(test",
            "mod tests",
            "mod faults",
            "KRATOR_FAULTS",
        ] {
            assert!(!source::LIBRARY.contains(left_out), "{left_out}");
        }
        assert!(!source::LIBRARY.contains("\n\n\n"), "two blank lines");
        // Examples depend on the runtime, not on its parts.
        let mut examples = source::LIBRARY
            .lines()
            .filter(|line| line.trim_start().starts_with("///"));
        assert_eq!(
            examples.find(|line| line.contains("use ") && line.contains("krator_machine::")),
            None
        );
        let lines = source::LIBRARY.lines().count();
        assert!(lines <= MOST_LINES, "{lines} lines are vendored");
    }

    #[test]
    fn strings_are_quoted_for_toml() {
        assert_eq!(toml_string("a"), "\"a\"");
        let hostile = toml_string("a\"\nb\\\u{7f}");
        assert_eq!(
            hostile.parse::<toml_edit::Value>().expect("a value").as_str(),
            Some("a\"\nb\\\u{7f}")
        );
    }
}
