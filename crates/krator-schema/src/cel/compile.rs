//! Expressions that are parsed and checked, with what the API server says of those that it refuses.

use super::check::{self, Checked, Environment, Mistake};
use super::eval::Program;
use super::literals;
use super::parse::{self, ParseOutcome, Parsed};
use super::tokens;
use super::types::Type;

/// A rule or message whose expression was parsed and checked.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) parsed: Box<Parsed>,
    pub(super) checked: Checked,
}

/// The API server's answer to an expression.
pub(super) enum Compilation {
    Good(Compiled),
    Refused(Vec<(String, Option<usize>)>),
    /// The answer of the API server is not known.
    Unknown,
}

/// Parses and checks an expression whose value has to be of a type, if one is given.
pub(super) fn compile<'a>(
    text: &str,
    environment: &Environment,
    result: impl Into<Option<&'a Type>>,
) -> Compilation {
    let parsed = match parse::parse(text) {
        ParseOutcome::Parsed(parsed) => parsed,
        ParseOutcome::Refused(mistake, offset) => {
            return Compilation::Refused(vec![(mistake.detail, offset)]);
        }
        ParseOutcome::Unknown => return Compilation::Unknown,
    };
    let checked = check::check(&parsed.root, parsed.nodes, environment);
    if checked.unsure {
        return Compilation::Unknown;
    }
    let mut mistakes = checked.mistakes.clone();
    if mistakes.is_empty() {
        mistakes = literals::check(&parsed, &checked);
    }
    let found = checked.type_of(&parsed.root);
    let result = result.into().filter(|result| found != *result);
    if let Some(result) = result.filter(|_| mistakes.is_empty()) {
        mistakes.push(Mistake {
            detail: format!("the expression must have the type {result}, but it has {found}"),
            about: None,
        });
    }
    if mistakes.is_empty() {
        return Compilation::Good(Compiled { parsed, checked });
    }
    Compilation::Refused(mistakes.into_iter().map(|mistake| place(text, mistake)).collect())
}

/// The mistake with the only place in the text that it can mean.
fn place(text: &str, mistake: Mistake) -> (String, Option<usize>) {
    let offset = mistake.about.as_deref().and_then(|name| {
        let last = name.rsplit('.').next()?;
        let mut places = tokens::tokens(text)
            .into_iter()
            .filter(|token| &text[token.place.clone()] == last);
        let first = places.next()?;
        places.next().is_none().then_some(first.place.start)
    });
    (mistake.detail, offset)
}

impl Compiled {
    pub(super) fn into_program(self) -> Program {
        Program::new(*self.parsed, self.checked)
    }

    pub(super) fn uses_old_self(&self) -> bool {
        self.checked.references.values().any(|name| name == "oldSelf")
    }
}
