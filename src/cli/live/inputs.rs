//! Watches the files that an operator is built from.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::workspace::DESCRIPTION;
use anyhow::Context;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

/// Editors write a file in several steps. It counts as complete this long after the last step.
const SETTLED: Duration = Duration::from_millis(30);

/// The sample objects, from the folder of the crate.
pub const SAMPLE: &str = "deploy/sample.yaml";
/// The manifest of the crate.
pub const MANIFEST: &str = "Cargo.toml";

/// The role of a file in an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    /// The description, or a file that it names.
    Description,
    /// `Cargo.toml`.
    Manifest,
    /// A Rust source file.
    Code,
    /// The sample objects.
    Sample,
}

/// Watches the files of a crate.
pub struct Inputs {
    folder: PathBuf,
    watcher: RecommendedWatcher,
    events: mpsc::UnboundedReceiver<()>,
    /// Whether an event has arrived after which the files were not read.
    has_news: bool,
    /// The hashes of the known contents, so that saving a file without a change has no effect.
    known: BTreeMap<PathBuf, (Input, u64)>,
}

impl Inputs {
    /// Begins to watch the crate in a folder.
    ///
    /// # Errors
    ///
    /// If the operating system cannot watch it.
    pub fn watch(folder: &Path) -> anyhow::Result<Self> {
        let (sender, events) = mpsc::unbounded_channel();
        // Events may be lost, so any event causes all files to be read. Sending fails only if the receiver is gone.
        let watcher = notify::recommended_watcher(move |_| {
            let _ = sender.send(());
        });
        let mut inputs = Self {
            folder: folder.to_owned(),
            watcher: watcher.context("cannot watch files on this machine")?,
            events,
            has_news: false,
            known: BTreeMap::new(),
        };
        // Folders are watched and not files, because editors replace files.
        inputs.add(folder, RecursiveMode::NonRecursive)?;
        inputs.add(&folder.join("src"), RecursiveMode::Recursive)?;
        if folder.join("deploy").is_dir() {
            inputs.add(&folder.join("deploy"), RecursiveMode::NonRecursive)?;
        }
        inputs.known = inputs.read();
        Ok(inputs)
    }

    fn add(&mut self, folder: &Path, mode: RecursiveMode) -> anyhow::Result<()> {
        let watched = self.watcher.watch(folder, mode);
        watched.with_context(|| format!("cannot watch `{}`", folder.display()))
    }

    /// Marks the present code as known: changes by krator are not edits, and the next build includes those by others.
    /// Other files may have changed since they were read, and these changes are still to be reported.
    pub fn settle(&mut self) {
        let is_code = |input: Input| input == Input::Code;
        let now = self.read();
        self.known.retain(|_, (input, _)| !is_code(*input));
        self.known
            .extend(now.into_iter().filter(|(_, (input, _))| is_code(*input)));
    }

    /// Waits for an edit, and returns the edited inputs, without duplicates and in order. No edit is lost when the
    /// future is dropped.
    pub async fn edited(&mut self) -> Vec<Input> {
        loop {
            if !self.has_news && self.events.recv().await.is_none() {
                // The channel stays open, because the watcher owns the sender.
                std::future::pending::<()>().await;
            }
            self.has_news = true;
            while let Ok(Some(())) = tokio::time::timeout(SETTLED, self.events.recv()).await {}
            self.has_news = false;
            let now = self.read();
            let mut edited: Vec<Input> = self
                .known
                .iter()
                .filter(|(path, known)| now.get(*path) != Some(known))
                .chain(now.iter().filter(|(path, _)| !self.known.contains_key(*path)))
                .map(|(_, (input, _))| *input)
                .collect();
            self.known = now;
            edited.sort();
            edited.dedup();
            if !edited.is_empty() {
                return edited;
            }
        }
    }

    fn read(&mut self) -> BTreeMap<PathBuf, (Input, u64)> {
        let mut found = BTreeMap::new();
        let mut take = |path: PathBuf, input: Input| {
            // An unreadable file counts as absent: the verb that needs it reports the reason.
            if path.is_file()
                && let Ok(bytes) = fs::read(&path)
            {
                let mut hasher = DefaultHasher::new();
                bytes.hash(&mut hasher);
                found.insert(path, (input, hasher.finish()));
            }
        };
        let description = self.folder.join(DESCRIPTION);
        let text = fs::read(&description).unwrap_or_default();
        let named: Vec<PathBuf> = crate::spec::named_files(&text)
            .into_iter()
            .map(|name| self.folder.join(name))
            .collect();
        for path in &named {
            take(path.clone(), Input::Description);
        }
        take(description, Input::Description);
        take(self.folder.join(MANIFEST), Input::Manifest);
        take(self.folder.join(SAMPLE), Input::Sample);
        take(self.folder.join("build.rs"), Input::Code);
        for path in files_below(&self.folder.join("src")) {
            take(path, Input::Code);
        }
        for folder in named.iter().filter_map(|path| path.parent()) {
            // A missing folder is watched when the description is read again.
            let _ = self.watcher.watch(folder, RecursiveMode::NonRecursive);
        }
        found
    }
}

/// The files below a folder; links are not followed.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}
