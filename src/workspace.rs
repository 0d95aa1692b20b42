//! A crate that krator generated, loaded once from its folder for the verbs that work in one: `check` shows its
//! [findings](Workspace::findings), and `gen` makes its [changes](Workspace::regen).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::changes::{FileState, Snapshot, UnreadableFiles};
use crate::checked::{Checked, check_with};
use crate::code::{self, InFile, Renames};
use crate::disk::{self, Folder};
use crate::finding::Source;
use crate::fixes;
use crate::model::{Description, Extra};
use crate::plan::{Ownership, Plan};
use crate::policies;
use crate::record::{self, GenerationRecord};
use crate::regen::{self, Options, Regen, Version};
use crate::render::{self, Runtime};
use crate::spec::{self, Files};
use crate::text::{normalized, printable};

/// The file of the description of a crate.
pub const DESCRIPTION: &str = "krator.yaml";

/// A crate on disk: its description, its Rust files, and the record of the last run.
#[derive(Debug)]
pub struct Workspace {
    /// The path from the user, for messages.
    dir: PathBuf,
    folder: Folder,
    record: GenerationRecord,
    runtime: Runtime,
    description: Checked,
    /// The description of the last run, if the text has changed since.
    former: Option<Checked>,
    /// The description that `krator gen` accepted last, if `krator dev` has generated from others since.
    promised: Option<Checked>,
    /// The files that the description names.
    named: Files,
    /// The optional parts of the crate that its description does not request.
    unasked: BTreeSet<Extra>,
    /// `.krator/`, Cargo.toml, and the files that are in no plan.
    files: Snapshot,
}

/// A file whose text or path changes, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedFile {
    /// Its new path.
    pub path: String,
    /// Its present text.
    pub before: String,
    /// Its new text.
    pub after: String,
}

/// The reason why krator cannot work on a crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder is not a crate of krator's, or cannot be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The record of the last run is missing.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// Files whose contents are needed exist but cannot be read.
    #[error(transparent)]
    Unreadable(UnreadableFiles),
    /// krator cannot insert these keys into the description.
    #[error("krator cannot edit `deploy` in {DESCRIPTION} in its present form: add `{0}` by hand")]
    Unedited(String),
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

/// A description with the optional files that its crate has without a request.
fn having(mut checked: Checked, extras: &BTreeSet<Extra>) -> Checked {
    if let Some(description) = &mut checked.description {
        description.deploy.extras.extend(extras);
    }
    checked
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
        let text = disk::read(&path, spec::LARGEST_FILE)?;
        let named = disk::read_named(dir, spec::named_files(&text));
        let description = check_with(&printable(&path.display().to_string()), &text, &named);

        let damaged = |file: &'static str, cause: &str| record::Error::Damaged {
            file,
            cause: cause.to_owned(),
        };
        let listed = folder.list()?;
        let notes =
            record::FILES
                .into_iter()
                .chain([regen::MANIFEST, policies::MANIFEST, render::DEPLOYMENT]);
        let files = folder.read(notes.chain(listed.iter().map(String::as_str)))?;
        let shown = |files: UnreadableFiles| Error::Unreadable(files.shown(|path| folder.shown(path)));
        for (path, file) in files.iter().filter(|(path, _)| record::is_part(path)) {
            if let FileState::Unreadable(why) = file {
                return Err(shown(UnreadableFiles::of(path, why)));
            }
        }
        let record = GenerationRecord::parse(&files)?;
        let own = description.description.as_ref();
        let unasked = own.map_or_else(BTreeSet::new, |own| &record.unasked - &own.deploy.extras);
        let description = having(description, &unasked);
        let Some(former) = record::description_in(&files) else {
            return Err(damaged(record::DESCRIPTION, "it is missing").into());
        };
        let is_merged = record.is_merged || former.is_conflicted;
        let read = |name: &'static str, text: &str, named: &Files| {
            let checked = having(check_with(name, text.as_bytes(), named), &record.unasked);
            match &checked.description {
                // A merge by git may result in an invalid description; then no renames and no promise are known.
                _ if is_merged => Ok(checked.sound().is_some().then_some(checked)),
                // Without the former description, no handler could follow a renamed state.
                None => Err(damaged(
                    name,
                    checked
                        .findings
                        .first()
                        .map_or("it is not a description", |finding| &finding.message),
                )),
                Some(_) => Ok(Some(checked)),
            }
        };
        let promised = match &record.promised {
            Some(promised) => read(
                record::PROMISED_DESCRIPTION,
                &promised.description,
                &promised.files(),
            )?,
            None => None,
        };
        let is_changed = normalized(&former.text) != normalized(description.source.text());
        let former = match is_changed {
            true => {
                let named = record.named_files(spec::named_files(former.text.as_bytes()));
                read(record::DESCRIPTION, &former.text, &named)?
            }
            false => None,
        };
        Ok(Workspace {
            dir: dir.to_owned(),
            runtime: regen::runtime(&record, &files).map_err(shown)?,
            former,
            promised,
            folder,
            record,
            description,
            named,
            unasked,
            files,
        })
    }

    /// The keys that the description needs to request these files, and those that the crate has without a request, and
    /// its text with these keys. `None` if it requests all of them.
    ///
    /// # Errors
    ///
    /// If krator cannot edit `deploy` in its present form.
    pub fn asking_for(&self, extras: &BTreeSet<Extra>) -> Result<Option<(String, String)>, Error> {
        let source = &self.description.source;
        let has = self.description.description.as_ref();
        let has = has.map_or_else(BTreeSet::new, |description| {
            &description.deploy.extras - &self.unasked
        });
        let lacking = &(extras | &self.unasked) - &has;
        if lacking.is_empty() {
            return Ok(None);
        }
        let keys = lacking.iter().map(|extra| format!("{}: true", extra.key()));
        let keys = keys.collect::<Vec<_>>().join(", ");
        match fixes::asking_for(source, &self.named, &lacking) {
            Some(text) => Ok(Some((keys, text))),
            None => Err(Error::Unedited(keys)),
        }
    }

    /// The text of the description with the present names of the language. `None` if it contains no former names.
    pub fn with_present_names(&self) -> Option<String> {
        fixes::with_present_names(&self.description)
    }

    /// The present description, with its findings.
    pub fn description(&self) -> &Checked {
        &self.description
    }

    /// The description of the last run: `None` if the text is the same, or if this krator finds errors in it.
    pub fn former(&self) -> Option<&Description> {
        self.former.as_ref()?.sound()
    }

    /// The description that must not be broken, with its findings: the one that `krator gen` accepted last. `None` if
    /// that is the present description.
    pub fn promise(&self) -> Option<&Checked> {
        self.promised.as_ref().or(self.former.as_ref())
    }

    /// The owned [`promise`](Self::promise).
    pub fn into_promise(self) -> Option<Checked> {
        self.promised.or(self.former)
    }

    /// Whether the text of the description has changed since the last run.
    pub fn is_ahead(&self) -> bool {
        self.former.is_some()
    }

    /// All findings of the crate: those of its description, of breaking changes, and of the code as the next run would
    /// leave it. The description comes first; each file is named by its path from the current folder.
    ///
    /// # Errors
    ///
    /// If a file that the crate compiles cannot be read.
    pub fn findings(&self) -> Result<Vec<InFile>, Error> {
        let mut findings = self.description.findings.clone();
        if let Some(promise) = self.promise() {
            findings.extend(self.description.breaking_changes(promise));
            crate::finding::sort(&mut findings);
        }
        let mut found = vec![InFile {
            source: self.description.source.clone(),
            findings,
        }];
        found.extend(self.code_findings()?.into_iter().map(|file| {
            let path = self.dir.join(file.source.name());
            let source = Source::new(printable(&path.display().to_string()), file.source.text());
            InFile { source, ..file }
        }));
        Ok(found)
    }

    fn code_findings(&self) -> Result<Vec<InFile>, Error> {
        let Some(now) = self.planned(&self.description) else {
            return Ok(Vec::new());
        };
        let former = self.former.as_ref().map(|former| self.planned(former));
        // Without the former names, it is unknown which words of the code are former names.
        if let Some(None) = former {
            return Ok(Vec::new());
        }
        let former = former.flatten();
        let former = former.as_ref().map(Planned::version);
        let disk = self.disk(&now.plan)?;
        regen::code_findings(now.version(), former, &self.record, &disk)
            .map_err(|files| self.unreadable(files))
    }

    /// Whether the description of the last generation has a state of this name, so that objects may be stored in it.
    pub fn has_generated_state(&self, name: &str) -> bool {
        let generated = match &self.former {
            Some(former) => former.description.as_ref(),
            None => self.description.description.as_ref(),
        };
        let kinds = generated.into_iter().flat_map(|description| &description.kinds);
        kinds.into_iter().any(|kind| kind.state_named(name).is_some())
    }

    /// The files of users that change when names of the description change, by their present paths. `before` is the
    /// text of the description in an editor and `after` the text with the new names. `None` unless the crate was
    /// generated from `before`: otherwise `krator gen` has to rename.
    pub fn code_under(&self, before: &str, after: &str) -> Option<BTreeMap<String, MovedFile>> {
        let is_generated =
            self.former.is_none() && normalized(before) == normalized(self.description.source.text());
        if !is_generated {
            return None;
        }
        let now = check_with(DESCRIPTION, after.as_bytes(), &self.named());
        let renames = Renames::between(self.description.sound()?, now.sound()?);
        let planned = self.planned(&self.description)?;
        let is_generated = |path: &str| {
            let entry = self.record.files.get(path);
            entry.is_some_and(|entry| entry.ownership == Ownership::Generated)
        };
        let disk = self.disk(&planned.plan).ok()?;
        let written = code::written(&disk, is_generated);
        let renamed = code::rename(&planned.version().code(&written.texts), &renames);
        let files = renamed.files.into_iter().filter_map(|(from, (path, after))| {
            let before = written.texts.get(&from)?.clone();
            Some((from, MovedFile { path, before, after }))
        });
        Some(files.collect())
    }

    /// The files that the description names.
    fn named(&self) -> Files {
        let text = self.description.source.text();
        disk::read_named(&self.dir, spec::named_files(text.as_bytes()))
    }

    /// Compares the crate with the one that its description generates.
    ///
    /// # Errors
    ///
    /// If the description has errors, or if a file whose contents are needed cannot be read.
    pub fn regen(&self, options: Options) -> Result<Regen, Error> {
        let now = self.planned(&self.description).ok_or(Error::Unsound)?;
        let former = self.former.as_ref().and_then(|former| self.planned(former));
        let former = former.as_ref().map(Planned::version);
        let disk = self.disk(&now.plan)?;
        let promised = self.promise().and_then(Checked::sound);
        regen::compare(now.version(), former, promised, &self.record, &disk, options)
            .map_err(|files| self.unreadable(files))
    }

    /// All files that a comparison with this plan reads.
    fn disk(&self, plan: &Plan) -> Result<Snapshot, Error> {
        let paths: Vec<String> = regen::paths(plan, &self.record).collect();
        let unread = paths.iter().map(String::as_str);
        let others = self.folder.read(unread.filter(|path| !self.files.has(path)))?;
        Ok(self.files.and(others))
    }

    fn unreadable(&self, files: UnreadableFiles) -> Error {
        Error::Unreadable(files.shown(|path| self.folder.shown(path)))
    }

    /// A description with its plan, unless it has errors.
    fn planned<'a>(&self, checked: &'a Checked) -> Option<Planned<'a>> {
        let description = checked.sound()?;
        let manifest = match self.files.get(policies::MANIFEST) {
            FileState::Text(text) => Some(text),
            FileState::Absent | FileState::Unreadable(_) => None,
        };
        let former = policies::former_moves(description, self.former(), manifest);
        Some(Planned {
            description,
            source: &checked.source,
            plan: render::plan_with(description, &checked.source, &self.runtime, &former),
        })
    }
}
