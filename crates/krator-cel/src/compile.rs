//! Compiles expressions, with the issues for which the API server refuses them.

mod literals;

use crate::check::{self, Checked, TypeEnvironment};
use crate::cost::{self, Cost};
use crate::eval::Program;
use crate::syntax::parse::{self, ParseOutcome, Parsed};
use crate::syntax::{Mistake, tokens};
use crate::types::Type;
use crate::{DeclType, Path};

/// A parsed and checked expression: a checked AST in the terms of cel-go. It can be turned into a [`Program`].
#[derive(Debug)]
pub struct Ast {
    parsed: Box<Parsed>,
    checked: Checked,
}

/// The result of compiling an expression.
#[derive(Debug)]
pub enum Compilation {
    /// The API server accepts the expression.
    Compiled(Ast),
    /// The API server refuses the expression, for at least one reason.
    Refused(Vec<Issue>),
    /// The result of the API server is unknown: the expression is too long or too deep for this crate, or uses unknown
    /// features.
    Unknown,
}

/// The reason why the API server refuses an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The message. It is that of this crate, which may differ from that of the API server.
    pub message: String,
    /// The byte offset in the expression, if it is known.
    pub offset: Option<usize>,
}

/// Parses and checks an expression. If `result` is given, the value must have this type.
///
/// The function recurses over the nesting of the expression. The deepest accepted expressions need a larger stack than
/// that of a thread: see [`on_large_stack`](crate::on_large_stack).
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

/// The issue for a mistake. The offset is known only if the name in the mistake occurs once in the text.
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
    /// Turns the expression into a program that can be evaluated.
    pub fn into_program(self) -> Program {
        Program::new(*self.parsed, self.checked)
    }

    /// Whether the expression refers to a variable.
    pub fn refers_to(&self, variable: &str) -> bool {
        self.checked.references.values().any(|name| name == variable)
    }

    /// Estimates the highest cost of one evaluation of the expression.
    ///
    /// `root` is the type of its variables: the API server assumes that all are as large as `self`. `path` is the path
    /// of that type in the schema, with which the paths of unbounded parts start. `as_if_bounded` is one of these
    /// parts, and is treated as bounded to one element, to estimate the effect of a bound.
    pub fn estimate_cost(&self, root: &DeclType, path: &Path, as_if_bounded: Option<&Path>) -> Cost {
        cost::estimate(&self.parsed.root, &self.checked, root, path, as_if_bounded)
    }
}
