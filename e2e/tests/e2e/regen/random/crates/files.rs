//! Changes of a crate's files: users move, link and delete them, editors and git change their line endings, and
//! sometimes one of them cannot be read.

use super::{Mark, Member, some_args};
use crate::dice::Dice;
use crate::operator::files;
use crate::regen::random::edits::StateOf;
use crate::regenerate::generate;
use crate::unreadable::{Instead, readable};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A change of a crate's files; none if the crate lacks the needed files.
type Event = fn(&mut Member, &mut Dice) -> Option<()>;

const EVENTS: &[(&str, Event)] = &[
    ("a file gets CRLF", crlf),
    ("all files get CRLF", all_crlf),
    ("all files get LF", all_lf),
    ("a handler moves into a folder", into_folder),
    ("a handler leaves its folder", out_of_folder),
    ("a handler gets a module", module),
    ("a handler becomes a link", link),
    ("a handler is deleted", delete_handler),
    ("a document is deleted", delete_document),
    ("a line is written", write_line),
];

impl Member {
    /// Makes a random change of a file, and returns its description.
    pub fn disturb(&mut self, dice: &mut Dice) -> &'static str {
        for _ in 0..1000 {
            let (what, event) = EVENTS[dice.below(EVENTS.len())];
            if event(self, dice).is_some() {
                return what;
            }
        }
        panic!("nothing of a thousand can happen to {}", self.last());
    }

    /// Edits the description while a file cannot be read. A run then either changes nothing and names the file, or does
    /// not need the file. After that the file is restored, and the crate is regenerated. Returns the fault and the
    /// defects.
    pub fn edit_with_fault(&mut self, dice: &mut Dice) -> (&'static str, String) {
        let sort = self.describe(dice, |_| true);
        let paths: Vec<PathBuf> = files(&self.dir)
            .into_keys()
            .filter(|path| path != Path::new("krator.yaml") && !path.starts_with("kept"))
            .filter(|path| path != Path::new(".krator/lock") && !self.dir.join(path).is_symlink())
            .collect();
        let handlers: Vec<PathBuf> = paths
            .iter()
            .filter(|path| path.components().any(|part| part.as_os_str() == "states"))
            .cloned()
            .collect();
        let among = if dice.below(2) == 0 { &handlers } else { &paths };
        let path = dice.pick(among).expect("a crate has files").clone();
        let instead = *dice.pick(&Instead::ALL).expect("there are some");
        let place = self.dir.join(&path);
        let original = fs::read(&place).expect("our own");
        instead.put(&place);
        let before = readable(&self.dir);
        let args = some_args(dice);

        let output = generate(&self.dir, args);
        let told = String::from_utf8(output.stderr).expect("text");
        let what = format!("{}: {instead:?} at {}", self.last(), path.display());
        let is_refused = output.status.code() == Some(2);
        if is_refused {
            assert!(
                told.contains(path.to_str().expect("a plain name")),
                "{what}: {told}"
            );
            assert!(
                readable(&self.dir) == before,
                "{what}: something was changed: {told}"
            );
        } else {
            assert!(matches!(output.status.code(), Some(0 | 1)), "{what}: {told}");
            assert!(!told.contains("nothing was written"), "{what}: {told}");
        }
        let place = if instead.is_at(&place) {
            place
        } else {
            // The file was moved without being parsed.
            let broken = readable(&self.dir)
                .into_iter()
                .find(|(_, contents)| contents.ends_with(b"\xff\n"));
            self.dir
                .join(broken.unwrap_or_else(|| panic!("{what} is gone: {told}")).0)
        };
        instead.remove(&place);
        fs::write(&place, original).expect("our own");
        self.run(args);
        let outcome = if is_refused { "refused" } else { "not needed" };
        (sort, format!("{instead:?} {outcome}"))
    }

    pub(super) fn some_state(&self, dice: &mut Dice) -> Option<StateOf> {
        let document = dice.pick(&self.documents)?;
        let kind = document["resource"]["kind"].as_str()?;
        let states: Vec<&String> = document["states"].as_object()?.keys().collect();
        Some((kind.to_owned(), (*dice.pick(&states)?).clone()))
    }

    /// Adds a line of the user, and returns its number.
    pub(super) fn new_mark(&mut self, of: Option<StateOf>) -> usize {
        self.marks.push(Mark {
            of,
            names: None,
            is_deleted: false,
        });
        self.marks.len() - 1
    }

    fn convert(&self, path: &Path, convert: impl Fn(&str) -> String) -> Option<()> {
        let path = self.dir.join(path);
        let text = fs::read_to_string(&path).ok()?;
        let converted = convert(&text);
        (converted != text).then(|| fs::write(path, converted).expect("our own"))
    }
}

fn to_crlf(text: &str) -> String {
    to_lf(text).replace('\n', "\r\n")
}

fn to_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn crlf(member: &mut Member, dice: &mut Dice) -> Option<()> {
    let paths: Vec<PathBuf> = files(&member.dir).into_keys().collect();
    member.convert(dice.pick(&paths)?, to_crlf)
}

fn all_crlf(member: &mut Member, _dice: &mut Dice) -> Option<()> {
    let paths = files(&member.dir).into_keys();
    let converted = paths.filter_map(|path| member.convert(&path, to_crlf)).count();
    (converted > 0).then_some(())
}

fn all_lf(member: &mut Member, _dice: &mut Dice) -> Option<()> {
    let paths = files(&member.dir).into_keys();
    let converted = paths.filter_map(|path| member.convert(&path, to_lf)).count();
    (converted > 0).then_some(())
}

fn into_folder(member: &mut Member, dice: &mut Dice) -> Option<()> {
    let handler = member.handler(&member.some_state(dice)?);
    if handler.ends_with("mod.rs") {
        return None;
    }
    let folder = handler.with_extension("");
    fs::create_dir_all(&folder).expect("our own");
    let text = fs::read(&handler).expect("a handler");
    fs::remove_file(&handler).expect("our own");
    fs::write(folder.join("mod.rs"), text).expect("our own");
    Some(())
}

fn out_of_folder(member: &mut Member, dice: &mut Dice) -> Option<()> {
    let handler = member.handler(&member.some_state(dice)?);
    if !handler.ends_with("mod.rs") || handler.is_symlink() {
        return None;
    }
    let folder = handler.parent()?;
    fs::rename(&handler, folder.with_extension("rs")).expect("our own");
    // This fails if the handler has a module.
    let _ = fs::remove_dir(folder);
    Some(())
}

fn module(member: &mut Member, dice: &mut Dice) -> Option<()> {
    let of = member.some_state(dice)?;
    let handler = member.handler(&of);
    let folder = member.dir.join(super::handler_path(&of)).with_extension("");
    if folder.join("helper.rs").exists() {
        return None;
    }
    fs::create_dir_all(&folder).expect("our own");
    let mark = member.new_mark(Some(of));
    fs::write(folder.join("helper.rs"), format!("// mine {mark}\n")).expect("our own");
    let text = fs::read_to_string(&handler).expect("a handler");
    fs::write(&handler, format!("mod helper;\n\n{text}")).expect("our own");
    Some(())
}

fn link(member: &mut Member, dice: &mut Dice) -> Option<()> {
    let handler = member.handler(&member.some_state(dice)?);
    if handler.is_symlink() {
        return None;
    }
    let kept = member.dir.join("kept");
    fs::create_dir_all(&kept).expect("our own");
    let target = kept.join(format!("{}.rs", dice.below(1_000_000)));
    fs::rename(&handler, &target).expect("our own");
    symlink(target.canonicalize().expect("our own"), &handler).expect("our own");
    Some(())
}

fn delete_handler(member: &mut Member, dice: &mut Dice) -> Option<()> {
    let handler = member.handler(&member.some_state(dice)?);
    let text = fs::read_to_string(&handler).expect("a handler");
    let gone = text
        .lines()
        .filter_map(|line| line.rsplit_once(" mine ")?.1.parse().ok());
    gone.for_each(|mark: usize| member.marks[mark].is_deleted = true);
    fs::remove_file(&handler).expect("our own");
    Some(())
}

fn delete_document(member: &mut Member, dice: &mut Dice) -> Option<()> {
    let path = *dice.pick(&[
        "deploy/crd.yaml",
        "docs/states.md",
        "deploy/sample.yaml",
        "Dockerfile",
    ])?;
    fs::remove_file(member.dir.join(path)).ok()
}

fn write_line(member: &mut Member, dice: &mut Dice) -> Option<()> {
    let (path, comment) = *dice.pick(&[
        ("Cargo.toml", "#"),
        ("README.md", "-"),
        ("src/lib.rs", "//"),
        ("src/main.rs", "//"),
        ("src/shared.rs", "//"),
        (".github/workflows/ci.yml", "#"),
        ("deploy/deployment.yaml", "#"),
        ("deploy/kustomization.yaml", "#"),
        ("deploy/chart/values.yaml", "#"),
        ("deploy/chart/templates/_helpers.tpl", "#"),
        ("deploy/chart/templates/deployment.yaml", "#"),
    ])?;
    let path = member.dir.join(path);
    let text = fs::read_to_string(&path).ok()?;
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mark = member.new_mark(None);
    fs::write(path, format!("{text}{comment} mine {mark}{end}")).expect("our own");
    Some(())
}
