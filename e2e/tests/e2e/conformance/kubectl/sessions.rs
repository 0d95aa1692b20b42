//! The syntax of sessions.
//!
//! `== NAME` begins a session, in a namespace and a folder of its own that both have its name. `$ COMMAND` is a step: a
//! command of the shell, with all following lines up to the next step. Two spaces before those lines are not part of
//! it.

use std::{env, fs};

/// A sequence of commands.
pub struct Session {
    pub name: String,
    pub commands: Vec<String>,
}

/// All sessions.
pub fn all() -> Vec<Session> {
    let folder = krator_tests::root().join("crates/krator-apiserver/testdata/kubectl");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("a folder of the repository")
        .map(|entry| entry.expect("a file of the repository").path())
        .collect();
    files.sort();
    let only = env::var("KRATOR_CASES").unwrap_or_default();
    let mut sessions = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a file of the repository");
        sessions.extend(text.split("\n== ").skip(1).map(parse));
    }
    sessions.retain(|session| session.name.contains(&only));
    sessions
}

fn parse(text: &str) -> Session {
    let (name, body) = text.split_once('\n').unwrap_or((text, ""));
    let mut commands: Vec<String> = Vec::new();
    for line in body.lines().filter(|line| !line.is_empty()) {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push(command.to_owned()),
            (None, Some(command)) => {
                command.push('\n');
                command.push_str(line.strip_prefix("  ").unwrap_or(line));
            }
            (None, None) => panic!("{name}: the first line belongs to no command"),
        }
    }
    Session {
        name: name.to_owned(),
        commands,
    }
}
