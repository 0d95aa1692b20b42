//! Expressions that are parsed and checked, with what the API server says of those that it refuses.

mod literals;

use crate::check::{self, Checked, TypeEnvironment};
use crate::cost::{self, Cost};
use crate::eval::Program;
use crate::syntax::parse::{self, ParseOutcome, Parsed};
use crate::syntax::{Mistake, tokens};
use crate::types::Type;
use crate::{DeclType, Path};

/// An expression that was parsed and checked: a checked AST in the words of cel-go. Of it a [`Program`] is made.
#[derive(Debug)]
pub struct Ast {
    parsed: Box<Parsed>,
    checked: Checked,
}

/// The API server's answer to an expression.
#[derive(Debug)]
pub enum Compilation {
    /// The API server accepts it.
    Compiled(Ast),
    /// The API server refuses it, for one reason at least.
    Refused(Vec<Issue>),
    /// The answer of the API server is not known: the expression is too long or too deep to be read here, or has something that
    /// is not known here.
    Unknown,
}

/// Why the API server refuses an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// A sentence about it. Its words are those of this crate, and not always those of the API server.
    pub message: String,
    /// Its place in the expression, in bytes, if that is known.
    pub offset: Option<usize>,
}

/// Parses and checks an expression whose value has to be of a type, if one is given.
///
/// It recurses as deeply as the expression nests, which needs more than the stack of a thread for the deepest that are read here:
/// see [`on_large_stack`](crate::on_large_stack).
pub fn compile<'a>(
    text: &str,
    environment: &TypeEnvironment,
    result: impl Into<Option<&'a Type>>,
) -> Compilation {
    let parsed = match parse::parse(text) {
        ParseOutcome::Parsed(parsed) => parsed,
        ParseOutcome::Refused(mistake, offset) => {
            let message = mistake.detail;
            return Compilation::Refused(vec![Issue { message, offset }]);
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
        return Compilation::Compiled(Ast { parsed, checked });
    }
    Compilation::Refused(mistakes.into_iter().map(|mistake| issue(text, mistake)).collect())
}

/// The mistake with the only place in the text that it can mean.
fn issue(text: &str, mistake: Mistake) -> Issue {
    let offset = mistake.about.as_deref().and_then(|name| {
        let last = name.rsplit('.').next()?;
        let mut places = tokens::tokens(text)
            .into_iter()
            .filter(|token| &text[token.place.clone()] == last);
        let first = places.next()?;
        places.next().is_none().then_some(first.place.start)
    });
    Issue {
        message: mistake.detail,
        offset,
    }
}

impl Ast {
    /// Makes the program that evaluates the expression.
    pub fn into_program(self) -> Program {
        Program::new(*self.parsed, self.checked)
    }

    /// Whether the expression uses a variable.
    pub fn refers_to(&self, variable: &str) -> bool {
        self.checked.references.values().any(|name| name == variable)
    }

    /// Estimates what evaluating the expression once costs at most.
    ///
    /// `root` is the type of its variables: the API server takes all to be as large as `self`. `path` is the place of that type in
    /// the schema, with which the places of parts without a bound begin. `as_if_bounded` is one of these parts that is taken to
    /// have a bound of one element, to see what a bound would change.
    pub fn estimate_cost(&self, root: &DeclType, path: &Path, as_if_bounded: Option<&Path>) -> Cost {
        cost::estimate(&self.parsed.root, &self.checked, root, path, as_if_bounded)
    }
}
