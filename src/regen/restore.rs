//! Restores files that an earlier run has pruned, and that a state or a kind needs again because it was removed and
//! added back.

use super::modules;
use crate::changes::{FileState, Snapshot};
use crate::code;
use crate::plan::{File, as_written};
use crate::record::PRUNED;
use crate::text::normalized;

/// The pruned files for the path of a planned file of the user, with their new paths. Empty unless the path is free or
/// has the generated contents, and the pruned file handles the same state.
pub(super) fn fitting(disk: &Snapshot, path: &str, file: &File) -> Vec<(String, String)> {
    let is_free = match disk.get(path) {
        FileState::Absent => !modules::twin(path).is_some_and(|twin| disk.has(&twin)),
        FileState::Text(text) => normalized(text) == file.contents,
        FileState::Unreadable(_) => false,
    };
    if !is_free || !path.ends_with(".rs") {
        return Vec::new();
    }
    let pruned = |path: &str| format!("{PRUNED}/{path}");
    let main = [Some(path.to_owned()), modules::twin(path)].into_iter().flatten();
    let fits = main.map(|path| pruned(&path)).any(|path| match disk.get(&path) {
        // If several pruned files have the same path, it is unknown which one is wanted.
        FileState::Text(text) => {
            let is_work = as_written(text) == text && normalized(text) != as_written(&file.contents);
            let others = format!("{path}.");
            is_work
                && code::handled(text) == code::handled(&file.contents)
                && !disk.paths().any(|path| path.starts_with(&others))
        }
        _ => false,
    });
    if !fits {
        return Vec::new();
    }
    let files = modules::files_of(disk, &pruned(path));
    let folder = pruned(path)
        .strip_suffix(".rs")
        .map(|folder| format!("{folder}/"));
    let others = disk
        .paths()
        .filter(|file| folder.as_ref().is_some_and(|folder| file.starts_with(folder)));
    let mut all: Vec<String> = files.into_iter().chain(others.map(str::to_owned)).collect();
    all.sort_unstable();
    all.dedup();
    let home = |file: &String| file.strip_prefix(PRUNED)?.strip_prefix('/').map(str::to_owned);
    all.iter()
        .filter_map(|file| Some((file.clone(), home(file)?)))
        .collect()
}
