//! A crate that krator generated, loaded once from its folder for the verbs that work in one: `check` asks it for its
//! [findings](Workspace::findings), `gen` for its [drift](Workspace::drift).

use std::path::{Path, PathBuf};

use crate::changes::Snapshot;
use crate::checked::{Checked, check};
use crate::code::{self, InFile};
use crate::disk::{self, Folder};
use crate::drift::{self, Drift, Options, Version};
use crate::finding::Source;
use crate::model::Description;
use crate::plan::{Ownership, Plan};
use crate::record::{self, GenerationRecord};
use crate::render::{self, Runtime};
use crate::text::printable;

/// The file in which a crate has its description.
pub const DESCRIPTION: &str = "krator.yaml";

/// A crate on disk: its description, its Rust files, and what the last run generated.
#[derive(Debug)]
pub struct Workspace {
    /// As the user named it, for messages.
    dir: PathBuf,
    folder: Folder,
    record: GenerationRecord,
    runtime: Runtime,
    description: Checked,
    /// The description that the last run generated from, if the text has changed since.
    former: Option<Checked>,
    /// `.krator/`, Cargo.toml and the Rust files.
    files: Snapshot,
}

/// Why a crate cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder is not a crate of krator's, or cannot be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// What the last run generated is not known.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// The description has errors, so that nothing can be generated from it.
    #[error("{DESCRIPTION} has errors")]
    Unsound,
}

/// A description without errors, and the files that it generates.
struct Planned<'a> {
    description: &'a Description,
    source: &'a Source,
    plan: Plan,
}

impl Planned<'_> {
    fn version(&self) -> Version<'_> {
        Version {
            description: self.description,
            source: self.source,
            plan: &self.plan,
        }
    }
}

impl Workspace {
    /// Loads the crate in a folder.
    ///
    /// # Errors
    ///
    /// If the folder is not a crate that krator generated, if a newer krator generated it, or if a file cannot be read.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let folder = Folder::open(dir)?;
        let path = dir.join(DESCRIPTION);
        let text = disk::read(&path, crate::spec::LARGEST_FILE)?;
        let description = check(&printable(&path.display().to_string()), &text);

        let code = folder.rust_files()?;
        let notes = [record::MANIFEST, record::BASE, record::DESCRIPTION, "Cargo.toml"];
        let files = folder.read(notes.into_iter().chain(code.iter().map(String::as_str)))?;
        let record = GenerationRecord::parse(
            files.text(record::MANIFEST).unwrap_or_default(),
            files.text(record::BASE),
        )?;
        let former = files.bytes(record::DESCRIPTION).unwrap_or_default();
        let is_changed = former != render::normalized(description.source.text()).as_bytes();
        Ok(Workspace {
            dir: dir.to_owned(),
            runtime: drift::runtime(&record, files.text("Cargo.toml")),
            former: is_changed.then(|| check(record::DESCRIPTION, former)),
            folder,
            record,
            description,
            files,
        })
    }

    /// The description as it is now, with its findings.
    pub fn description(&self) -> &Checked {
        &self.description
    }

    /// The description that the last run generated from: `None` if the text is still the same, or if this krator finds
    /// errors in it.
    pub fn former(&self) -> Option<&Description> {
        self.former.as_ref()?.sound()
    }

    /// Everything that is wrong with the crate: the findings of its description, of what changed in it since the last
    /// run, and of the code as that run would rename it. The description comes first; each file is named by its path
    /// from the current folder.
    pub fn findings(&self) -> Vec<InFile> {
        let mut findings = self.description.findings.clone();
        if let Some(former) = &self.former {
            findings.extend(self.description.breaking_changes(former));
            crate::finding::sort(&mut findings);
        }
        let mut found = vec![InFile {
            source: self.description.source.clone(),
            findings,
        }];
        let name = self.description.source.name();
        found.extend(self.code_findings().into_iter().map(|file| {
            let source = match file.source.name() {
                of_description if of_description == name => file.source,
                path => Source::new(
                    printable(&self.dir.join(path).display().to_string()),
                    file.source.text(),
                ),
            };
            InFile { source, ..file }
        }));
        found
    }

    fn code_findings(&self) -> Vec<InFile> {
        let Some(now) = self.planned(&self.description) else {
            return Vec::new();
        };
        let written = code::written(self.files.files(), |path| {
            let file = self.record.files.get(path);
            file.is_some_and(|file| file.ownership == Ownership::Generated)
        });
        let Some(former) = &self.former else {
            return code::findings(&now.version().code(&written), None);
        };
        // Without the former names it cannot be told which words of the code are names that have changed.
        let Some(former) = self.planned(former) else {
            return Vec::new();
        };
        let former = former.version();
        let written = code::renamed(&former.code(&written), now.description);
        code::findings(&now.version().code(&written), Some(&former.code(&written)))
    }

    /// How the crate differs from what its description generates.
    ///
    /// # Errors
    ///
    /// If the description has errors, or if a file cannot be read.
    pub fn drift(&self, options: Options) -> Result<Drift, Error> {
        let now = self.planned(&self.description).ok_or(Error::Unsound)?;
        let former = self.former.as_ref().and_then(|former| self.planned(former));
        let paths: Vec<String> = drift::paths(&now.plan, &self.record).collect();
        let unread = paths.iter().map(String::as_str);
        let others = self
            .folder
            .read(unread.filter(|path| self.files.bytes(path).is_none()))?;
        Ok(drift::compare(
            now.version(),
            former.as_ref().map(Planned::version),
            &self.record,
            &self.files.and(others),
            options,
        ))
    }

    /// A description with its plan, unless it has errors.
    fn planned<'a>(&self, checked: &'a Checked) -> Option<Planned<'a>> {
        let description = checked.sound()?;
        Some(Planned {
            description,
            source: &checked.source,
            plan: render::plan(description, &checked.source, &self.runtime),
        })
    }
}
