//! The rules of a schema, each checked with the type of its place, after
//! `apiextensions/validation/validation.go` and `cel_validation.go`.

use crate::{Items, Path, Problem, ProblemKind, Properties, Rule, Schema};

use super::CelProblem;
use super::check::{self, Checked, Environment, Mistake};
use super::field_path;
use super::literals;
use super::parse::{self, ParseOutcome, Parsed};
use super::schema_types::{self, Declared, Shape};
use super::tokens;
use super::types::Type;

/// A part of a schema, with what its place means for its rules.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) schema: &'a Schema,
    pub(super) path: Path,
    /// Where old and new values cannot be told apart, so that rules must not compare them.
    uncorrelated: Option<Path>,
    /// The type that a rule further up gives to this part.
    inherited: Inherited,
    is_root: bool,
    /// How many values there may be at this place; `None` if nothing bounds them.
    pub(super) cardinality: Option<u64>,
    /// The lists and maps around this place that nothing bounds.
    pub(super) unbounded: Vec<Path>,
}

#[derive(Debug, Clone)]
enum Inherited {
    /// There is no rule further up.
    Nothing,
    Type(Declared),
    /// A rule further up has no type, which is an error for this place, too.
    Failed,
}

impl<'a> Place<'a> {
    pub(super) fn root(schema: &'a Schema, path: &Path) -> Self {
        Place {
            schema,
            path: path.clone(),
            uncorrelated: None,
            inherited: Inherited::Nothing,
            is_root: true,
            cardinality: Some(1),
            unbounded: Vec::new(),
        }
    }

    pub(super) fn rules(&self) -> &'a [Rule] {
        self.schema.validations.as_deref().unwrap_or_default()
    }

    /// The type that rules of this place see.
    pub(super) fn declared(&self) -> Option<Declared> {
        match &self.inherited {
            Inherited::Type(declared) => Some(declared.clone()),
            Inherited::Nothing => schema_types::declare(
                self.schema,
                schema_types::root_of_resource(self.schema, self.is_root),
            ),
            Inherited::Failed => None,
        }
    }

    pub(super) fn rule_path(&self, index: usize) -> Path {
        self.path.field("x-kubernetes-validations").index(index)
    }

    /// The parts right below this one that rules may be in.
    pub(super) fn children(&self) -> Vec<Place<'a>> {
        let in_scope = !self.rules().is_empty() || !matches!(self.inherited, Inherited::Nothing);
        let declared = if in_scope { self.declared() } else { None };
        let child = |schema: &'a Schema, path: Path, of: Option<&Declared>, uncorrelated: Option<Path>| {
            let inherited = match (&declared, of) {
                _ if !in_scope => Inherited::Nothing,
                (None, _) => Inherited::Failed,
                (Some(_), Some(of)) => Inherited::Type(of.clone()),
                (Some(_), None) => {
                    match schema_types::declare(schema, schema.embedded_resource == Some(true)) {
                        Some(declared) => Inherited::Type(declared),
                        None => Inherited::Failed,
                    }
                }
            };
            let (cardinality, unbounded) = self.cardinality_below();
            Place {
                schema,
                path,
                uncorrelated: self.uncorrelated.clone().or(uncorrelated),
                inherited,
                is_root: false,
                cardinality,
                unbounded,
            }
        };
        let mut children = Vec::new();
        if let Some(Properties::Schema(values)) = &self.schema.additional_properties {
            let of = match declared.as_ref().map(|declared| &declared.shape) {
                Some(Shape::Map(of)) => Some(&**of),
                _ => None,
            };
            children.push(child(values, self.path.field("additionalProperties"), of, None));
        }
        let granular = self
            .schema
            .map_type
            .as_deref()
            .is_none_or(|kind| matches!(kind, "granular" | "atomic"));
        for (name, property) in self.schema.properties.iter().flatten() {
            let of = match declared.as_ref().map(|declared| &declared.shape) {
                Some(Shape::Object(fields)) => {
                    schema_types::escape(name).and_then(|name| Some(&fields.get(&name)?.declared))
                }
                _ => None,
            };
            let uncorrelated = (!granular).then(|| self.path.clone());
            children.push(child(
                property,
                self.path.field("properties").key(name),
                of,
                uncorrelated,
            ));
        }
        if let Some(Items::All(items)) = &self.schema.items {
            let of = match declared.as_ref().map(|declared| &declared.shape) {
                Some(Shape::List(of)) => Some(&**of),
                _ => None,
            };
            let is_map = self.schema.list_type.as_deref() == Some("map");
            children.push(child(
                items,
                self.path.field("items"),
                of,
                (!is_map).then(|| self.path.clone()),
            ));
        }
        children
    }

    fn cardinality_below(&self) -> (Option<u64>, Vec<Path>) {
        let schema = self.schema;
        let factor = match schema.type_.as_deref() {
            Some("object") if schema.additional_properties.is_some() => schema.max_properties,
            Some("array") => schema.max_items,
            _ => Some(1),
        };
        let mut unbounded = self.unbounded.clone();
        let Some(factor) = factor else {
            unbounded.push(self.path.clone());
            return (None, unbounded);
        };
        let factor = u64::try_from(factor).unwrap_or(0);
        (
            self.cardinality
                .map(|cardinality| cardinality.saturating_mul(factor)),
            unbounded,
        )
    }
}

/// A rule or message whose expression was parsed and checked.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) parsed: Box<Parsed>,
    pub(super) checked: Checked,
}

/// What the API server says of an expression.
pub(super) enum Compilation {
    Good(Compiled),
    Refused(Vec<(String, Option<usize>)>),
    /// It cannot be told.
    Unknown,
}

/// The environment of the rules of a place.
pub(super) fn environment(declared: &Declared, optional_old_self: bool) -> Environment {
    let mut environment = Environment::default();
    let this = declared.cel_type("self", &mut environment);
    let old = if optional_old_self {
        Type::optional(this.clone())
    } else {
        this.clone()
    };
    environment.variables.insert("self".to_string(), this);
    environment.variables.insert("oldSelf".to_string(), old);
    environment
}

/// Parses and checks an expression whose value has to be of a type.
pub(super) fn compile(text: &str, environment: &Environment, result: &Type) -> Compilation {
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
    if mistakes.is_empty() && found != result {
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

/// Checks all rules of a schema.
pub(super) fn check_rules(root: &Schema, root_path: &Path) -> Vec<CelProblem> {
    let mut problems = Vec::new();
    let mut places = vec![Place::root(root, root_path)];
    while let Some(place) = places.pop() {
        check_place(&place, &mut problems);
        let mut children = place.children();
        children.reverse();
        places.append(&mut children);
    }
    problems
}

fn check_place(place: &Place<'_>, problems: &mut Vec<CelProblem>) {
    if place.rules().is_empty() {
        return;
    }
    let mut report = |path: Path, kind, detail: String, offset| {
        problems.push(CelProblem {
            problem: Problem::new(&path, kind, detail),
            offset,
        });
    };
    for (index, rule) in place.rules().iter().enumerate() {
        if let Some(field) = rule.field_path.as_deref().filter(|field| !field.is_empty())
            && let Err(why) = field_path::resolve(field, place.schema)
        {
            report(
                place.rule_path(index).field("fieldPath"),
                ProblemKind::Invalid,
                why,
                None,
            );
        }
    }
    let Some(declared) = place.declared() else {
        report(
            place.path.field("x-kubernetes-validations"),
            ProblemKind::Internal,
            "rules need a schema whose type is known here: `type`, and for lists and maps the type of their values"
                .to_string(),
            None,
        );
        return;
    };
    for (index, rule) in place.rules().iter().enumerate() {
        if rule.rule.trim().is_empty() {
            continue;
        }
        let at = place.rule_path(index);
        let environment = environment(&declared, rule.optional_old_self == Some(true));
        let compiled = match compile(&rule.rule, &environment, &Type::Bool) {
            Compilation::Good(compiled) => compiled,
            Compilation::Refused(mistakes) => {
                for (detail, offset) in mistakes {
                    report(at.field("rule"), ProblemKind::Invalid, detail, offset);
                }
                continue;
            }
            Compilation::Unknown => continue,
        };
        let message = rule
            .message_expression
            .as_deref()
            .filter(|message| !message.trim().is_empty());
        if let Some(Compilation::Refused(mistakes)) =
            message.map(|text| compile(text, &environment, &Type::String))
        {
            for (detail, offset) in mistakes {
                report(
                    at.field("messageExpression"),
                    ProblemKind::Invalid,
                    detail,
                    offset,
                );
            }
        }
        if compiled.uses_old_self() {
            if let Some(within) = &place.uncorrelated {
                let detail = format!(
                    "`oldSelf` cannot be used here: the old and new values within {within} cannot be told apart"
                );
                report(at.field("rule"), ProblemKind::Invalid, detail, None);
            }
        } else if rule.optional_old_self.is_some() {
            let detail = "may not be set if the rule does not use `oldSelf`".to_string();
            report(at.field("optionalOldSelf"), ProblemKind::Invalid, detail, None);
        }
    }
}

impl Compiled {
    pub(super) fn uses_old_self(&self) -> bool {
        self.checked.references.values().any(|name| name == "oldSelf")
    }
}
