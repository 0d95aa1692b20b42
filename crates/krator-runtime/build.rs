//! Lists the sources that `krator` vendors into generated crates, for `src/source.rs`. The tests of this crate and the
//! features that only tests use are left out, because an operator never runs them.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script reads the files of its package and prints instructions for cargo"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs, io,
    path::Path,
};

/// The attributes of items that are left out.
const LEFT_OUT: [&str; 6] = [
    "#[cfg(test)]",
    "#[cfg(all(test,",
    "#[cfg(any(test, feature = \"scripted\"))]",
    "#[cfg(feature = \"faults\")]",
    "#[cfg(feature = \"simulation\")]",
    "#[cfg(feature = \"source\")]",
];
/// Those of items that are left out of operators that need them not: without webhooks, and with one version of each kind.
const ADMISSION: &str = "#[cfg(feature = \"admission\")]";
const VERSIONS: [&str; 3] = [
    "#[cfg(feature = \"versions\")]",
    "#[cfg(all(feature = \"admission\", feature = \"versions\"))]",
    "#[cfg(all(feature = \"kube\", feature = \"versions\"))]",
];
const ADMISSION_OR_DEV: &str = "#[cfg(any(feature = \"admission\", feature = \"dev\"))]";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    if env::var_os("CARGO_FEATURE_SOURCE").is_none() {
        return Ok(());
    }
    let mut files = BTreeMap::from([("LICENSE".to_owned(), fs::read_to_string("LICENSE")?)]);
    read(Path::new("src"), &mut files)?;
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let all = without(&files, &LEFT_OUT);
    let admission = without(&all, &VERSIONS);
    let mut fewest = without(&admission, &[ADMISSION]);
    for text in fewest.values_mut() {
        *text = text.replace(ADMISSION_OR_DEV, "#[cfg(feature = \"dev\")]");
    }
    for (name, files, fewer) in [
        ("files.rs", &fewest, &BTreeMap::new()),
        ("admission.rs", &admission, &fewest),
        ("versions.rs", &all, &admission),
    ] {
        let more = files.iter().filter(|(path, text)| fewer.get(*path) != Some(text));
        let list: Vec<_> = more.collect();
        fs::write(Path::new(&out).join(name), format!("&{list:?}"))?;
    }
    Ok(())
}

/// The files without the items that have one of these attributes.
fn without(files: &BTreeMap<String, String>, left_out: &[&str]) -> BTreeMap<String, String> {
    let (mut files, mut modules) = (files.clone(), BTreeSet::new());
    for (path, text) in files.iter_mut().filter(|(path, _)| path.ends_with(".rs")) {
        let folder = path.trim_end_matches(".rs").trim_end_matches("/lib").to_owned();
        *text = without_left_out(text, left_out, |module| {
            modules.insert(format!("{folder}/{module}"));
        });
    }
    files.retain(|path, _| {
        let is_of = |module: &String| {
            let rest = path.strip_prefix(module.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        !modules.iter().any(is_of)
    });
    files
}

/// Reads all files below a folder.
fn read(folder: &Path, files: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read(&path, files)?;
        } else {
            let name = path.to_string_lossy().replace('\\', "/");
            files.insert(name, fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// A text without the items that are left out, and without their comments. Modules among them that have files of their own
/// are passed to `module`. In the form that rustfmt gives to the text, an item ends at the first line that is indented like
/// its attribute and ends with one of `;`, `,` and `}`.
fn without_left_out(text: &str, left_out: &[&str], mut module: impl FnMut(&str)) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let item = line.trim_start();
        if !left_out.iter().any(|attribute| item.starts_with(attribute)) {
            let is_second_blank = line.is_empty() && kept.last().is_none_or(|last| last.is_empty());
            if !is_second_blank {
                kept.push(line);
            }
            continue;
        }
        let belongs = |line: &str| {
            ["///", "#["]
                .iter()
                .any(|begin| line.trim_start().starts_with(begin))
        };
        while kept.pop_if(|last| belongs(last)).is_some() {}
        let indent = &line[..line.len() - item.len()];
        let last = lines.find(|line| {
            let same = line.strip_prefix(indent).filter(|rest| !rest.starts_with(' '));
            same.is_some_and(|rest| rest.ends_with([';', ',', '}']))
        });
        let name = last.and_then(|last| last.trim_start().split_once("mod ")?.1.strip_suffix(';'));
        name.into_iter().for_each(&mut module);
    }
    kept.join("\n").trim_end().to_owned() + "\n"
}
