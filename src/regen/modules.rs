//! The paths of the files of a Rust module. rustc finds a module in `x.rs` or in `x/mod.rs`, and users may move the
//! file from one path to the other; the other files in the folder `x` belong to the module, too.

use crate::changes::Snapshot;

/// The other path at which rustc finds the module of a file; `None` for files that are not modules of the library.
pub(super) fn twin(path: &str) -> Option<String> {
    let module = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    match module.strip_suffix("/mod") {
        Some(folder) => Some(format!("src/{folder}.rs")),
        None if ["lib", "main", "mod"].contains(&module) => None,
        None => Some(format!("src/{module}/mod.rs")),
    }
}

/// The path of a planned file: the planned path, or the other path if the user has moved the file there.
pub(super) fn home(disk: &Snapshot, path: &str) -> String {
    twin(path)
        .filter(|twin| !disk.has(path) && disk.has(twin))
        .unwrap_or_else(|| path.to_owned())
}

/// All files of a planned module: the module itself, and the files in its folder.
pub(super) fn files_of(disk: &Snapshot, path: &str) -> Vec<String> {
    let folder = path.strip_suffix(".rs").filter(|_| twin(path).is_some());
    let folder = folder.map(|folder| format!("{folder}/"));
    let is_part = |file: &str| file == path || folder.as_ref().is_some_and(|folder| file.starts_with(folder));
    disk.paths()
        .filter(|file| is_part(file))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_where_its_user_has_moved_it() {
        let file = |path: &str| (path.to_owned(), Vec::new());
        let disk: Snapshot = [
            "src/a.rs",
            "src/a/mod.rs",
            "src/b/mod.rs",
            "src/b/c.rs",
            "src/lib.rs",
        ]
        .map(file)
        .into_iter()
        .collect();
        assert_eq!(home(&disk, "src/a.rs"), "src/a.rs");
        assert_eq!(home(&disk, "src/b.rs"), "src/b/mod.rs");
        assert_eq!(home(&disk, "src/absent.rs"), "src/absent.rs");
        assert_eq!(files_of(&disk, "src/b.rs"), ["src/b/c.rs", "src/b/mod.rs"]);
        assert_eq!(files_of(&disk, "src/lib.rs"), ["src/lib.rs"]);
        assert_eq!(twin("src/b/mod.rs").as_deref(), Some("src/b.rs"));
        assert_eq!(twin("tests/b.rs"), None);
    }
}
