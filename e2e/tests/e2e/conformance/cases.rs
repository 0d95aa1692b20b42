//! The syntax of cases.
//!
//! `== NAME` begins a case. Each line of it is a step; lines that begin with a space continue the previous step. The
//! words of steps are
//!
//! ```text
//! create RESOURCE BODY          get|table|metadata RESOURCE/NAME or RESOURCE
//! replace|merge|json|strategic|apply RESOURCE/NAME BODY
//! delete RESOURCE/NAME [BODY]   delete-all RESOURCE
//! watch RESOURCE                opens a watch
//! events COUNT                  awaits this number of its events
//! gone RESOURCE/NAME            awaits that the object does not exist
//! until RESOURCE/NAME /POINTER VALUE
//! as USER                       acts as a user from now on; `admin` is the sender itself
//! tries RESOURCE CODE BODY      creates as a dry run until the answer has the code
//! ```
//!
//! A resource may have a query: `configmaps?labelSelector=a`, and a version: `shops.v1beta1.shops.krator.dev`. A
//! resource that begins with `/` is a path. Bodies are YAML. `$ns` is the namespace of the case; `$rv` and `$uid` are
//! the version and uid of the object in the last answer, and `$webhook` and `$bundle` are the URL and the CA bundle of
//! a webhook. A case with `{kind}` in its name is repeated for each kind of `kinds.yaml`; then `$kind` is the resource,
//! and `$object`, `$change` and `$wrong` are the values of that file.

use serde_json::Value as Json;
use std::{collections::BTreeMap, env, fs};

/// A case.
pub struct Case {
    pub name: String,
    pub steps: Vec<Step>,
}

/// A line of a case.
pub struct Step {
    pub word: String,
    pub resource: String,
    pub rest: String,
}

/// All cases, including one for each kind where a name has `{kind}`.
pub fn all() -> Vec<Case> {
    let folder = krator_tests::root().join("crates/krator-apiserver/testdata/conformance");
    let kinds = fs::read_to_string(folder.join("kinds.yaml")).expect("a file of the repository");
    let kinds: BTreeMap<String, BTreeMap<String, Json>> = serde_yaml::from_str(&kinds).expect("YAML");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("a folder of the repository")
        .map(|entry| entry.expect("a file of the repository").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    let only = env::var("KRATOR_CASES").unwrap_or_default();
    let mut cases = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a file of the repository");
        let group = file
            .file_stem()
            .expect("a file has a name")
            .to_string_lossy()
            .into_owned();
        for case in text.split("\n== ").skip(1) {
            let (name, body) = case.split_once('\n').unwrap_or((case, ""));
            let name = format!("{group}: {name}");
            if name.contains("{kind}") {
                for (kind, values) in &kinds {
                    let body = values.iter().fold(body.to_owned(), |body, (key, value)| {
                        body.replace(&format!("${key}"), &value.to_string())
                    });
                    // A case is skipped for a kind without the needed values.
                    let body = body.replace("$kind", kind);
                    if !body.lines().any(|line| line.contains(" $")) {
                        cases.push(parse(name.replace("{kind}", kind), &body));
                    }
                }
            } else {
                cases.push(parse(name, body));
            }
        }
    }
    cases.retain(|case| case.name.contains(&only));
    cases
}

fn parse(name: String, body: &str) -> Case {
    let mut steps: Vec<Step> = Vec::new();
    for line in body
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
    {
        if line.starts_with(' ') {
            let step = steps
                .last_mut()
                .unwrap_or_else(|| panic!("{name}: the first line belongs to none"));
            step.rest.push('\n');
            step.rest.push_str(line);
            continue;
        }
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        steps.push(Step {
            word: word(),
            resource: word(),
            rest: word(),
        });
    }
    Case { name, steps }
}
