//! Test cases that are one file each: a sequence of named sections.
//!
//! A line `--- NAME` begins the section of that name, which lasts until the next such line. Text before the first
//! section is the introduction; some tests read it, in others it is a comment. A bare `---` is content, because it
//! separates documents of YAML.
//!
//! A test reads all files of its folder with [`case_files`], so a new case needs a new file and no Rust. The expected
//! result is a section too: [`CaseFile::expect`] compares it with the actual result, or, with `KRATOR_UPDATE=1`,
//! rewrites that section and leaves the rest of the file unchanged.

use std::fs;
use std::path::{Path, PathBuf};

/// Whether this run rewrites the expectations in a file instead of comparing them: with `KRATOR_UPDATE=1` all files,
/// with another value those whose path contains it.
pub fn is_update(path: &Path) -> bool {
    let Ok(wanted) = std::env::var("KRATOR_UPDATE") else {
        return false;
    };
    wanted == "1" || path.to_string_lossy().contains(&wanted)
}

/// Compares a file with the actual result, and adds a difference to `differ`, or rewrites the file.
pub fn expect_file(path: &Path, actual: &str, differ: &mut Vec<String>) {
    if fs::read_to_string(path).unwrap_or_default() == actual {
        return;
    }
    if is_update(path) {
        fs::write(path, actual).expect("the repository can be written");
    } else {
        differ.push(format!(
            "{} differs (KRATOR_UPDATE=1 rewrites it), now:\n{actual}",
            path.display()
        ));
    }
}

/// One case.
pub struct CaseFile {
    path: PathBuf,
    name: String,
    text: Sections,
}

/// The text of a case, split at the beginnings of its sections.
#[derive(Debug, PartialEq, Eq)]
struct Sections {
    introduction: String,
    /// Names and contents, in the order of the file.
    named: Vec<(String, String)>,
}

/// The folders and files in a folder below `testdata/`, by name.
pub fn entries(folder: &str) -> Vec<PathBuf> {
    let root = crate::root().join("testdata").join(folder);
    let entries = fs::read_dir(&root).expect("a folder of the repository");
    let mut entries: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder of the repository").path())
        .collect();
    assert!(!entries.is_empty(), "nothing is in {}", root.display());
    entries.sort();
    entries
}

/// The cases of a folder below `testdata/`, by name: all its files that end in `.txt`. Panics if a case has a section
/// whose name is not among `known`.
pub fn case_files(folder: &str, known: &[&str]) -> Vec<CaseFile> {
    let paths = entries(folder);
    let folders: Vec<_> = paths.iter().filter(|path| path.is_dir()).collect();
    assert!(folders.is_empty(), "a case is one file: {folders:?}");
    let is_case = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "txt");
    let cases: Vec<CaseFile> = paths
        .into_iter()
        .filter(is_case)
        .map(|path| CaseFile::read(path, known))
        .collect();
    assert!(!cases.is_empty(), "no cases in {folder}");
    cases
}

impl CaseFile {
    fn read(path: PathBuf, known: &[&str]) -> CaseFile {
        let text = fs::read_to_string(&path).expect("a file of the repository");
        let text =
            Sections::parse(&text, known).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.file_stem().expect("a file has a name").to_string_lossy();
        CaseFile {
            name: name.into_owned(),
            path,
            text,
        }
    }

    /// The name of the file, without its extension.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text before the first section.
    pub fn introduction(&self) -> &str {
        &self.text.introduction
    }

    /// An optional section.
    pub fn optional(&self, section: &str) -> Option<&str> {
        let mut named = self.text.named.iter();
        let (_, contents) = named.find(|(name, _)| name == section)?;
        Some(contents)
    }

    /// A required section. Panics if it is missing.
    pub fn section(&self, section: &str) -> &str {
        self.optional(section)
            .unwrap_or_else(|| panic!("{} has no section {section}", self.path.display()))
    }

    /// Compares a section with the actual result, and adds a difference to `differ`. In a run that rewrites
    /// expectations, the section is written instead.
    pub fn expect(&self, section: &str, actual: &str, differ: &mut Vec<String>) {
        if self.optional(section) == Some(actual) {
            return;
        }
        if is_update(&self.path) {
            let text = self.text.with(section, actual).to_text();
            fs::write(&self.path, text).expect("the repository can be written");
        } else {
            differ.push(format!(
                "{}: the section {section} differs (KRATOR_UPDATE=1 rewrites it), now:\n{actual}",
                self.path.display()
            ));
        }
    }
}

impl Sections {
    fn parse(text: &str, known: &[&str]) -> Result<Sections, String> {
        let mut sections = Sections {
            introduction: String::new(),
            named: Vec::new(),
        };
        for line in text.split_inclusive('\n') {
            match begins_section(line) {
                Some(name) if !known.contains(&name) => {
                    return Err(format!("the section {name} is none of {known:?}"));
                }
                Some(name) if sections.named.iter().any(|(there, _)| there == name) => {
                    return Err(format!("the section {name} is there twice"));
                }
                Some(name) => sections.named.push((name.to_owned(), String::new())),
                None => sections
                    .named
                    .last_mut()
                    .map_or(&mut sections.introduction, |(_, contents)| contents)
                    .push_str(line),
            }
        }
        Ok(sections)
    }

    /// The sections with other contents of one of them, which is appended if it is missing.
    fn with(&self, section: &str, contents: &str) -> Sections {
        assert!(
            contents.is_empty() || contents.ends_with('\n'),
            "a section ends with its line: {contents:?}"
        );
        assert!(
            !contents.lines().any(|line| begins_section(line).is_some()),
            "a line would begin a section of its own: {contents}"
        );
        let mut named = self.named.clone();
        match named.iter_mut().find(|(name, _)| name == section) {
            Some((_, there)) => contents.clone_into(there),
            None => named.push((section.to_owned(), contents.to_owned())),
        }
        Sections {
            introduction: self.introduction.clone(),
            named,
        }
    }

    fn to_text(&self) -> String {
        let sections = self.named.iter();
        let sections = sections.map(|(name, contents)| format!("--- {name}\n{contents}"));
        self.introduction.clone() + &sections.collect::<String>()
    }
}

/// The name of the section that begins with this line, if any.
fn begins_section(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_prefix("--- ")?;
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::Sections;

    const KNOWN: &[&str] = &["given", "expected"];
    const TEXT: &str = "why\n--- given\na: 1\n---\nb: 2\n--- expected\nold\n";

    #[test]
    fn a_rewritten_section_leaves_the_rest_of_the_file_alone() {
        let sections = Sections::parse(TEXT, KNOWN).expect("a good case");
        assert_eq!(sections.to_text(), TEXT);
        let expected = "why\n--- given\na: 1\n---\nb: 2\n--- expected\nnew\n";
        assert_eq!(sections.with("expected", "new\n").to_text(), expected);
        let without = Sections::parse("--- given\n", KNOWN).expect("a good case");
        assert_eq!(
            without.with("expected", "").to_text(),
            "--- given\n--- expected\n"
        );
    }

    #[test]
    fn a_case_with_an_unknown_or_a_repeated_section_is_refused() {
        for text in ["--- expectd\n", "--- given\n--- given\n"] {
            Sections::parse(text, KNOWN).expect_err(text);
        }
    }
}
