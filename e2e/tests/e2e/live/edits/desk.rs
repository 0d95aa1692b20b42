//! The edited files: a crate in which each file contains, in its own way, the number of its edits.

use super::super::named;
use crate::dice::Dice;
use crate::moose::{DESCRIPTION, replaced};
use crate::operator::Crate;
use std::fs;
use std::path::PathBuf;

/// The name of the operator.
const OPERATOR: &str = "moose-edited";

/// A handler that writes the edition of the crate into the status.
const HANDLER: &str = r#"use super::{Eat, Sleep};
use crate::moose::prelude::*;

impl State for Eat {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let status = cx.status_mut();
        status.edition = Some(EDITION);
        status.built = Some(env!("CARGO_PKG_VERSION").to_owned());
        Ok(Transition::to(Sleep))
    }
}
"#;

/// A file that is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    Description,
    Handler,
    Manifest,
    Sample,
}

impl File {
    const ALL: [File; 4] = [File::Description, File::Handler, File::Manifest, File::Sample];

    fn path(self) -> &'static str {
        match self {
            File::Description => "krator.yaml",
            File::Handler => "src/moose/states/eat.rs",
            File::Manifest => "Cargo.toml",
            File::Sample => "deploy/sample.yaml",
        }
    }

    fn mistakes(self) -> &'static [Mistake] {
        const fn mistake(
            name: &'static str,
            from: &'static str,
            to: &'static str,
            said: &'static str,
        ) -> Mistake {
            Mistake { name, from, to, said }
        }
        const NOT_BUILT: &str = "does not compile; the previous one keeps running";
        const NOT_FETCHED: &str = "cargo cannot download the dependencies";
        match self {
            File::Description => {
                &const {
                    [
                        mistake("bad YAML", "states:", "states: [", "krator.yaml:"),
                        mistake(
                            "an unknown state",
                            "initial: Tagged",
                            "initial: Taged",
                            "there is no state `Taged`",
                        ),
                        mistake(
                            "an unknown type",
                            "antlers: boolean",
                            "antlers: bool",
                            "krator.yaml:",
                        ),
                    ]
                }
            }
            File::Handler => {
                &const {
                    [
                        mistake("an unknown transition", "to(Sleep)", "to(Slep)", NOT_BUILT),
                        mistake("a missing brace", "{\n        let", "\n        let", NOT_BUILT),
                        mistake("a wrong type", "Some(", "Some(\"\", ", NOT_BUILT),
                    ]
                }
            }
            File::Manifest => {
                &const {
                    [
                        mistake("bad TOML", "[dependencies]", "[dependencies", NOT_FETCHED),
                        mistake(
                            "a missing dependency",
                            "\"vendor/krator-",
                            "\"vendor/no-",
                            NOT_FETCHED,
                        ),
                    ]
                }
            }
            File::Sample => {
                &const {
                    [
                        mistake(
                            "a sample that is no YAML",
                            "spec:",
                            "spec: [",
                            "is not a manifest",
                        ),
                        mistake("a sample that is refused", "weight: ", "weight: -", "is invalid"),
                    ]
                }
            }
        }
    }
}

/// A mistake in a file.
#[derive(Clone, Copy, Debug)]
struct Mistake {
    name: &'static str,
    /// The replaced text in the file.
    from: &'static str,
    to: &'static str,
    /// The message of `krator dev` about it.
    said: &'static str,
}

/// The numbers of edits of each file without a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Editions {
    pub description: usize,
    /// Whether the description has the state `Graze`.
    pub grazes: bool,
    pub handler: usize,
    pub manifest: usize,
    pub sample: usize,
}

impl Editions {
    /// The version of the package.
    pub fn version(&self) -> String {
        format!("0.1.{}", self.manifest)
    }

    /// The weight of the sample.
    pub fn weight(&self) -> usize {
        1 + self.sample
    }
}

/// A crate that is edited.
pub struct Desk {
    krate: Crate,
    /// The contents of the files, apart from mistakes.
    written: Editions,
    /// The contents that an operator can be built from: the last sound version of each file.
    sound: Editions,
    /// The mistakes in the files, in the order of [`File::ALL`].
    mistakes: [Option<Mistake>; 4],
    last: File,
}

impl Desk {
    /// The crate of a moose whose state changes each second.
    pub fn new() -> Desk {
        let first = Editions {
            description: 0,
            grazes: false,
            handler: 0,
            manifest: 0,
            sample: 0,
        };
        let desk = Desk {
            krate: Crate::generate(&described(&first), |_| ()),
            written: first,
            sound: first,
            mistakes: [None; 4],
            last: File::Description,
        };
        desk.write(File::Handler);
        desk
    }

    /// The folder of the crate.
    pub fn dir(&self) -> PathBuf {
        self.krate.dir()
    }

    /// The contents that an operator can be built from.
    pub fn sound(&self) -> &Editions {
        &self.sound
    }

    /// Edits a file: makes a mistake, corrects one, or writes another version. Returns a description of the edit.
    pub fn edit(&mut self, dice: &mut Dice) -> &'static str {
        let file = *dice.among(&File::ALL);
        if self.is_broken(file) && !dice.one_in(4) {
            self.mend(file);
            return "a mistake mended";
        }
        // A mistake is made only in a file whose last sound version has taken effect.
        if self.is_known(file) && dice.one_in(3) {
            let mistake = *dice.among(file.mistakes());
            self.mistakes[file as usize] = Some(mistake);
            self.save(file);
            return mistake.name;
        }
        self.mistakes[file as usize] = None;
        let now = &mut self.written;
        let what = match file {
            File::Description if dice.one_in(3) => {
                now.grazes = !now.grazes;
                "a state more or less"
            }
            File::Description => {
                now.description += 1;
                "a field and a message"
            }
            File::Handler => {
                now.handler += 1;
                "a handler"
            }
            File::Manifest => {
                now.manifest += 1;
                "a version"
            }
            File::Sample => {
                now.sample += 1;
                "a sample"
            }
        };
        self.save(file);
        what
    }

    /// Corrects all mistakes one after the other, and calls `then` after each.
    pub fn mend_all(&mut self, mut then: impl FnMut(&Desk)) {
        for file in File::ALL {
            if self.is_broken(file) {
                self.mend(file);
                then(self);
            }
        }
    }

    fn mend(&mut self, file: File) {
        self.mistakes[file as usize] = None;
        self.save(file);
    }

    fn is_broken(&self, file: File) -> bool {
        self.mistakes[file as usize].is_some()
    }

    /// Whether the contents of the file have taken effect.
    fn is_known(&self, file: File) -> bool {
        match file {
            File::Description => !self.is_broken(File::Manifest),
            File::Sample => self.is_buildable(),
            File::Handler | File::Manifest => true,
        }
    }

    /// Whether an operator can be built from the last sound description.
    pub fn is_buildable(&self) -> bool {
        !self.is_broken(File::Manifest) && !self.is_broken(File::Handler)
    }

    /// The messages of which one must follow the last edit. If there are none, no message is expected.
    pub fn complaints(&self) -> Vec<&'static str> {
        let said = |file: File| self.mistakes[file as usize].map(|mistake| mistake.said);
        let of_manifest = said(File::Manifest);
        let complaint = match self.last {
            // The description is read before the build.
            File::Description if self.is_broken(File::Description) => said(File::Description),
            // The manifest may be read together with the description.
            File::Description if of_manifest.is_some() => {
                return vec!["Cargo.toml", "cargo cannot download the dependencies"];
            }
            // Samples are applied after the build of the operator.
            _ => of_manifest.or(said(File::Handler)).or(said(File::Sample)),
        };
        complaint.into_iter().collect()
    }

    /// Writes a file, and records the contents that an operator can now be built from.
    fn save(&mut self, file: File) {
        self.last = file;
        self.write(file);
        let (now, sound) = (self.written, &mut self.sound);
        let has = |file: File| self.mistakes[file as usize].is_none();
        if has(File::Description) && has(File::Manifest) {
            (sound.description, sound.grazes) = (now.description, now.grazes);
        }
        if has(File::Handler) {
            sound.handler = now.handler;
        }
        if has(File::Manifest) {
            sound.manifest = now.manifest;
        }
        if has(File::Sample) {
            sound.sample = now.sample;
        }
    }

    fn write(&self, file: File) {
        let path = self.dir().join(file.path());
        let text = || fs::read_to_string(&path).expect("generated");
        let line = |text: &str, start: &str| {
            let line = text.lines().find(|line| line.trim_start().starts_with(start));
            line.expect("it is in the generated file").to_owned()
        };
        let sound = match file {
            File::Description => described(&self.written),
            File::Handler => HANDLER.replace("EDITION", &self.written.handler.to_string()),
            File::Manifest => {
                let text = text()
                    .replace("[dependencies\n", "[dependencies]\n")
                    .replace("vendor/no-", "vendor/krator-");
                text.replacen(
                    &line(&text, "version = "),
                    &format!("version = {:?}", self.written.version()),
                    1,
                )
            }
            File::Sample => {
                let text = text().replace("spec: [", "spec:");
                text.replacen(
                    &line(&text, "weight: "),
                    &format!("  weight: {}", self.written.weight()),
                    1,
                )
            }
        };
        let text = match self.mistakes[file as usize] {
            Some(mistake) => replaced(&sound, mistake.from, mistake.to),
            None => sound,
        };
        fs::write(&path, text).expect("our own");
    }
}

/// The description with a field and a message of its edition, and states that are left each second.
fn described(editions: &Editions) -> String {
    let mut text = named(OPERATOR, DESCRIPTION);
    let edition = editions.description;
    let status = "status: {edition: optional integer, built: optional string}\n\ncolumns:";
    for (from, to) in [
        ("poll: 2s", "poll: 200ms"),
        ("poll: 5s", "poll: 200ms"),
        ("after: 20s", "after: 1s"),
        ("columns:", status),
        ("message: zzzzzz", &format!("message: sleeps {edition}")),
        (
            "antlers: boolean",
            &format!("antlers: boolean\n  tag{edition}: {{type: integer, default: {edition}}}"),
        ),
    ] {
        text = replaced(&text, from, to);
    }
    if editions.grazes {
        text = replaced(
            &text,
            "next: [{to: Eat, when: hungry}]",
            "next: [{to: Eat, when: hungry}, Graze]",
        );
        text = replaced(&text, "  Eat:\n", "  Graze: {next: [Eat]}\n  Eat:\n");
    }
    text
}
