//! Merges Cargo.toml, which belongs to the user. krator only updates the dependencies of generated code.

use std::collections::BTreeSet;

use crate::render::{self, Runtime};
use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value};

/// Merges the changes between `base` and `new` into `ours`, and leaves everything else in it unchanged to the byte. A
/// value that the user changed is kept, except for the dependencies of generated code: they get the version that it
/// needs, and keep the features that the user added. Without a base, missing keys are added and none are removed.
///
/// # Errors
///
/// Fails if `ours` is not the manifest of a package.
pub(super) fn merge(base: Option<&str>, ours: &str, new: &str) -> Result<String, UnusableManifest> {
    let mut ours: DocumentMut = ours.parse()?;
    // If almost everything is missing, the user has hardly removed it on purpose.
    if !ours.contains_key("package") {
        return Err(UnusableManifest::NoPackage);
    }
    let base = base
        .and_then(|base| base.parse::<DocumentMut>().ok())
        .unwrap_or_default();
    let new: DocumentMut = new.parse()?;
    merge_table(
        base.as_table(),
        ours.as_table_mut(),
        new.as_table(),
        MergeRule::UsersFirst,
    );
    Ok(ours.to_string())
}

/// The reason why a manifest cannot be merged.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnusableManifest {
    #[error(transparent)]
    NotToml(#[from] toml_edit::TomlError),
    /// The manifest is empty, or does not describe a package.
    #[error("`[package]` is missing")]
    NoPackage,
}

/// The source of the runtime in a manifest, if it depends on the runtime.
pub(super) fn runtime(manifest: &str) -> Option<Runtime> {
    let manifest: DocumentMut = manifest.parse().ok()?;
    let runtime = manifest.get("dependencies")?.get("krator-runtime")?;
    if let Some(folder) = runtime.get("path") {
        return folder.as_str().map(|folder| Runtime::Path(folder.to_owned()));
    }
    let requirement = runtime.as_str().or_else(|| runtime.get("version")?.as_str())?;
    Some(Runtime::Version(render::followed_runtime(requirement)))
}

/// The rule for merging a value that both the user and krator changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MergeRule {
    /// The user's value is kept.
    UsersFirst,
    /// krator's version and origin win, because generated code is tested with them; features are combined.
    Dependencies,
    /// Both features are enabled: krator's are added to the user's.
    Features,
}

/// The table of a crate's features.
const FEATURES: &str = "features";

fn merge_table(base: &dyn TableLike, ours: &mut dyn TableLike, new: &dyn TableLike, rule: MergeRule) {
    let keys = |table: &dyn TableLike| table.iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>();
    let gone = keys(base).into_iter().filter(|key| !new.contains_key(key));
    for key in gone {
        let is_untouched = ours.get(&key).map(plain) == base.get(&key).map(plain);
        if is_untouched {
            ours.remove(&key);
        }
    }
    for key in keys(new) {
        let Some(wanted) = new.get(&key) else { continue };
        let former = base.get(&key);
        let Some(there) = ours.get_mut(&key) else {
            // Generated code needs its dependencies and features; any other key that the user has removed stays removed.
            let is_needed = rule != MergeRule::UsersFirst || key == FEATURES;
            if is_needed || former.is_none() {
                ours.insert(&key, wanted.clone());
            }
            continue;
        };
        if let (Some(wanted), Some(there), MergeRule::UsersFirst) =
            (wanted.as_table(), there.as_table_mut(), rule)
        {
            let nothing = InlineTable::new();
            let former = former.and_then(Item::as_table_like).unwrap_or(&nothing);
            let rule = match key.as_str() {
                "dependencies" | "dev-dependencies" => MergeRule::Dependencies,
                FEATURES => MergeRule::Features,
                _ => MergeRule::UsersFirst,
            };
            merge_table(former, there, wanted, rule);
            continue;
        }
        let former_text = former.map(plain);
        if former_text == Some(plain(wanted)) {
            // krator did not change this value, so the user's is kept.
        } else if former_text == Some(plain(there)) {
            replace(there, wanted);
        } else {
            match rule {
                MergeRule::UsersFirst => {}
                MergeRule::Dependencies => merge_dependency(former, there, wanted),
                MergeRule::Features => merge_feature(there, wanted),
            }
        }
    }
}

/// Merges a feature of both sides: it enables everything that the user's and krator's feature enable.
fn merge_feature(there: &mut Item, wanted: &Item) {
    let Some(enabled) = there.as_array_mut() else {
        return;
    };
    let known: BTreeSet<String> = enabled
        .iter()
        .map(|value| plain(&Item::Value(value.clone())))
        .collect();
    for value in wanted.as_array().into_iter().flatten() {
        if !known.contains(&plain(&Item::Value(value.clone()))) {
            let mut value = value.clone();
            // The array determines the white space before the value.
            value.decor_mut().clear();
            enabled.push(value);
        }
    }
}

/// Merges a dependency that both changed: version and origin are krator's, and the features are combined.
fn merge_dependency(former: Option<&Item>, there: &mut Item, wanted: &Item) {
    if there.as_table_like().is_none() {
        return replace(there, wanted);
    }
    let features = |item: Option<&Item>| {
        let array = item
            .and_then(|item| item.get("features"))
            .and_then(Item::as_array);
        let names = array
            .into_iter()
            .flatten()
            .filter_map(|name| Some(name.as_str()?.to_owned()));
        names.collect::<Vec<_>>()
    };
    let (before, mine, needed) = (features(former), features(Some(there)), features(Some(wanted)));
    let mut all = mine.clone();
    all.retain(|name| !before.contains(name) || needed.contains(name));
    let known: BTreeSet<String> = all.iter().cloned().collect();
    all.extend(needed.into_iter().filter(|name| !known.contains(name)));

    let Some(table) = there.as_table_like_mut() else {
        return;
    };
    if all != mine {
        table.insert("features", Item::Value(Array::from_iter(all).into()));
    }
    for key in ["version", "path", "default-features"] {
        let needed = match wanted.as_str() {
            Some(version) if key == "version" => Some(Item::Value(version.into())),
            Some(_) => None,
            None => wanted.get(key).cloned(),
        };
        match needed {
            Some(item) if table.get(key).map(plain) != Some(plain(&item)) => drop(table.insert(key, item)),
            _ => {}
        }
    }
}

/// Replaces a value and keeps the comments around it.
fn replace(there: &mut Item, wanted: &Item) {
    match (there.as_value_mut(), wanted.as_value()) {
        (Some(there), Some(wanted)) => {
            let decor = there.decor().clone();
            *there = wanted.clone();
            *there.decor_mut() = decor;
        }
        _ => *there = wanted.clone(),
    }
}

/// The value of an item without comments and whitespace, for comparison.
fn plain(item: &Item) -> String {
    match item {
        Item::Value(Value::Array(array)) => {
            let items: Vec<String> = array
                .iter()
                .map(|value| plain(&Item::Value(value.clone())))
                .collect();
            format!("[{}]", items.join(","))
        }
        Item::Value(Value::String(text)) => format!("{:?}", text.value()),
        item => match item.as_table_like() {
            Some(table) => {
                let items: BTreeSet<String> = table
                    .iter()
                    .map(|(key, item)| format!("{key:?}={}", plain(item)))
                    .collect();
                format!("{items:?}")
            }
            None => item.to_string().trim().to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = r#"[package]
name = "moose"
rust-version = "1.89"

[dependencies]
kube = { version = "5", default-features = false, features = ["client", "old"] }
serde = "1"
gone = "1"
"#;

    const NEW: &str = r#"[package]
name = "elk"
rust-version = "1.90"

[dependencies]
kube = { version = "6", default-features = false, features = ["client", "new"] }
serde = "2"
came = "1"

[profile.release]
lto = true
"#;

    #[test]
    fn values_of_the_user_are_kept() {
        let ours = r#"# Ours.
[package]
name = "moose" # of the north
rust-version = "1.95"

[dependencies]
# First.
zebra = "9"
serde = "1" # data
kube = { features = ["client", "old", "ws"], version = "5", default-features = false } # more
gone = "1"
"#;
        let merged = merge(Some(BASE), ours, NEW).expect("TOML");
        assert_eq!(
            merged,
            r#"# Ours.
[package]
name = "elk" # of the north
rust-version = "1.95"

[dependencies]
# First.
zebra = "9"
serde = "2" # data
kube = { features = ["client", "ws", "new"], version = "6", default-features = false } # more
came = "1"

[profile.release]
lto = true
"#
        );
        assert_eq!(merge(Some(NEW), &merged, NEW).expect("TOML"), merged);
    }

    #[test]
    fn only_removed_dependencies_are_restored_without_a_change() {
        let ours = BASE.replace("\"5\"", "\"4\"").replace("serde = \"1\"\n", "");
        let merged = merge(Some(BASE), &ours, BASE).expect("TOML");
        assert_eq!(
            merged,
            format!("{ours}serde = \"1\"\n"),
            "a dependency of generated code is restored"
        );
    }

    #[test]
    fn a_feature_of_the_user_keeps_what_it_enables_and_gets_what_generated_code_needs() {
        let new = format!("{BASE}\n[features]\ndev = [\"krator-runtime/dev\"]\n");
        let merged = |ours: &str| merge(Some(BASE), ours, &new).expect("TOML");
        assert!(merged(BASE).ends_with("[features]\ndev = [\"krator-runtime/dev\"]\n"));
        let ours = format!("{BASE}\n[features]\n# Mine.\ndev = [\"serde\"] # on\nwinter = []\n");
        let with_both = "[features]\n# Mine.\ndev = [\"serde\", \"krator-runtime/dev\"] # on\nwinter = []\n";
        assert!(merged(&ours).ends_with(with_both), "{}", merged(&ours));
        assert_eq!(merged(&merged(&ours)), merged(&ours));
        let removed = merge(Some(&new), BASE, &new).expect("TOML");
        assert_eq!(removed, new, "generated code asks for the feature");
    }

    #[test]
    fn without_a_base_nothing_is_removed() {
        let merged = merge(None, BASE, NEW).expect("TOML");
        for kept in ["name = \"moose\"", "gone = \"1\"", "\"old\""] {
            assert!(merged.contains(kept), "{merged}");
        }
        for new in [
            "kube = { version = \"6\"",
            "came = \"1\"",
            "serde = \"2\"",
            "\"new\"",
        ] {
            assert!(merged.contains(new), "{merged}");
        }
        assert!(merge(None, "[dependencies", NEW).is_err());
        for empty in ["", "\n# Mine.\n", "[workspace]\n"] {
            let merged = merge(Some(BASE), empty, NEW);
            assert!(matches!(merged, Err(UnusableManifest::NoPackage)), "{empty:?}");
        }
    }
}
