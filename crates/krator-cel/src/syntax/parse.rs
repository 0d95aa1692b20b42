//! Parses expressions with the crate `cel`, and handles its differences from cel-go.

use cel::parser::{ParseError, Parser};

use super::Mistake;
use super::plain;
use super::tokens::{self, Token, TokenKind};
use super::tree::{Builder, Node};

/// An expression that both cel-go and this parser accept.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) root: Node,
    /// The number of nodes.
    pub(crate) nodes: usize,
}

#[derive(Debug)]
pub(crate) enum ParseOutcome {
    Parsed(Box<Parsed>),
    /// cel-go refuses the expression, too; with the offset of the mistake, if it is known.
    Refused(Mistake, Option<usize>),
    /// The parser refuses the expression, but cel-go may accept it.
    Unknown,
}

/// The limit of nesting, because the parser is recursive. cel-go refuses more than 250 levels, but counts them
/// differently.
const MAX_DEPTH: usize = 250;
/// The limit of tokens. The tree of a chain of operators is as deep as the chain is long.
const MAX_TOKENS: usize = 3_000;

/// Parses an expression.
pub(crate) fn parse(text: &str) -> ParseOutcome {
    let found = tokens::tokens(text);
    if found.len() > MAX_TOKENS || depth(text, &found) > MAX_DEPTH {
        return ParseOutcome::Unknown;
    }
    if let Some(token) = macro_of_another_version(text, &found) {
        let detail = "`existsOne` is not declared for one variable: `exists_one` is".to_string();
        return ParseOutcome::Refused(Mistake { detail, about: None }, Some(token.place.start));
    }
    let parser = Parser::new()
        .enable_optional_syntax(true)
        .max_recursion_depth(1_000);
    let (plain, has_places) = plain::rewrite(text, &found);
    let source = match parser.parse(&plain) {
        Ok(source) => source,
        Err(errors) => return judge(text, &found, &errors.errors, has_places),
    };
    if has_leading_dot(text, &found) {
        return ParseOutcome::Unknown;
    }
    let mut build = Builder::default();
    match build.lower(&source) {
        Ok(root) => ParseOutcome::Parsed(Box::new(Parsed {
            root,
            nodes: build.nodes,
        })),
        Err(misused) => ParseOutcome::Refused(
            Mistake {
                detail: misused.0,
                about: None,
            },
            None,
        ),
    }
}

/// A number that is out of range. After a minus sign, a number that is too large by one may be the smallest integer.
fn out_of_range<'a>(text: &str, found: &'a [Token]) -> Option<&'a Token> {
    let of = |token: &Token| &text[token.place.clone()];
    let mut before = None;
    found.iter().find(|token| {
        let negative = before.replace(of(token)) == Some("-");
        token.kind == TokenKind::Number && tokens::is_out_of_range(of(token), negative)
    })
}

/// The depth of nested brackets and conditional expressions.
fn depth(text: &str, found: &[Token]) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for token in found.iter().filter(|token| token.kind == TokenKind::Sign) {
        match &text[token.place.clone()] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            // The branches of conditional expressions also nest. They end at the closing bracket.
            "?" => depth += 1,
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// Whether a name has a leading dot, as in `.name`. The parser drops the dot, which refers to the outermost scope.
fn has_leading_dot(text: &str, found: &[Token]) -> bool {
    let is_dot = |token: &Token| &text[token.place.clone()] == ".";
    let ends_operand = |token: &Token| match token.kind {
        TokenKind::Sign => matches!(&text[token.place.clone()], ")" | "]" | "}"),
        _ => true,
    };
    let first = found.first().is_some_and(is_dot);
    first
        || found
            .windows(2)
            .any(|pair| is_dot(&pair[1]) && !ends_operand(&pair[0]))
}

/// A use of the macro `existsOne` with one variable, which the parser expands, but the API server does not have.
fn macro_of_another_version<'a>(text: &str, found: &'a [Token]) -> Option<&'a Token> {
    let sign = |at: usize| found.get(at).map(|token| &text[token.place.clone()]);
    (1..found.len())
        .map(|at| (at, &found[at]))
        .find_map(|(at, token)| {
            let is_call =
                sign(at) == Some("existsOne") && sign(at - 1) == Some(".") && sign(at + 1) == Some("(");
            if !is_call {
                return None;
            }
            let (mut depth, mut commas) = (0, 0);
            for next in at + 1..found.len() {
                match sign(next)? {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth -= 1,
                    "," if depth == 1 => commas += 1,
                    _ => {}
                }
                if depth == 0 {
                    return (commas == 1).then_some(token);
                }
            }
            None
        })
}

fn judge(text: &str, found: &[Token], errors: &[ParseError], has_places: bool) -> ParseOutcome {
    if let Some(token) = out_of_range(text, found) {
        let detail = format!("the number {} is out of range", &text[token.place.clone()]);
        return ParseOutcome::Refused(Mistake { detail, about: None }, Some(token.place.start));
    }
    const CERTAIN: [&str; 3] = [
        "Syntax error: ",
        "invalid argument to has() macro",
        "argument must be a simple name",
    ];
    let certain = errors.iter().find_map(|error| {
        let said = CERTAIN.iter().find(|said| error.msg.starts_with(**said))?;
        let detail = error.msg.strip_prefix("Syntax error: ").unwrap_or(said);
        Some((detail.to_string(), error.pos))
    });
    match certain {
        Some((detail, at)) => {
            let offset = offset_of(text, at).filter(|_| has_places);
            ParseOutcome::Refused(Mistake { detail, about: None }, offset)
        }
        None => ParseOutcome::Unknown,
    }
}

/// The offset of a line and a column, both of which start at one.
fn offset_of(text: &str, (line, column): (isize, isize)) -> Option<usize> {
    let (line, column) = (usize::try_from(line).ok()?, usize::try_from(column).ok()?);
    let before: usize = text
        .split_inclusive('\n')
        .take(line.checked_sub(1)?)
        .map(str::len)
        .sum();
    let mut places = text[before..].char_indices().map(|(at, _)| at);
    let within = places.nth(column.checked_sub(1)?);
    Some(within.map_or(text.len(), |within| before + within))
}
