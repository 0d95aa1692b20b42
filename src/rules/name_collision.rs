//! Names that become the same Rust identifier or file, and names that generated code already uses.

use std::collections::{BTreeMap, HashMap};

use super::Check;
use crate::catalog::NAME_COLLISION;
use crate::finding::{Finding, Span};
use crate::model::{Description, Field, Kind, Schema, Shape, TypeId};
use crate::names::{
    CONDITION_ENDING, HANDLER_IMPORTS, KIND_ENDINGS, KIND_IMPORTS, MACHINE_FIELD, MACHINE_STATICS,
    TYPE_IMPORTS, is_rust_keyword, unusable_module,
};
use crate::text::shown;

pub(super) const CHECK: Check = Check::of_description(&NAME_COLLISION, find);

/// The modules of the generated crate that do not belong to a kind.
const CRATE_MODULES: [&str; 9] = [
    "bin",
    "build",
    "generated",
    "krator_runtime",
    "lib",
    "main",
    "shared",
    "tests",
    "types",
];

/// The prefixes of traits in the generated machine that are named after a state.
const STATE_TRAITS: [&str; 2] = ["NextOf", "WaitOf"];

/// A finding about a name that something else has already.
fn taken(span: Span, message: String, reason: &str) -> Finding {
    Finding::new(&NAME_COLLISION, span, message).label(reason.to_owned())
}

fn find(description: &Description) -> Vec<Finding> {
    let mut findings = Vec::new();
    of_kinds_and_types(description, &mut findings);
    for kind in &description.kinds {
        of_kind(description, kind, &mut findings);
    }
    findings
}

/// Whether the name is a keyword of Rust, or a type that generated code has in scope.
fn is_taken(name: &str) -> bool {
    HANDLER_IMPORTS.contains(&name) || TYPE_IMPORTS.contains(&name) || is_rust_keyword(name)
}

/// Names of kinds and of the types that they share.
fn of_kinds_and_types(description: &Description, findings: &mut Vec<Finding>) {
    let mut modules: BTreeMap<String, (Span, &str)> = BTreeMap::new();
    let mut plurals: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    let mut rust_types: BTreeMap<String, Span> = BTreeMap::new();
    for kind in &description.kinds {
        let name = &kind.resource.kind;
        let module = name.module();
        let cannot = format!("a kind cannot be called `{}`", name.value);
        if let Some(reason) = unusable_module(&module) {
            findings.push(taken(name.span, cannot, reason));
        } else if CRATE_MODULES.contains(&module.as_str()) {
            findings.push(taken(
                name.span,
                cannot,
                "the generated crate has a module of this name",
            ));
        } else if is_taken(name.as_str()) || KIND_IMPORTS.contains(&name.as_str()) {
            findings.push(taken(
                name.span,
                cannot,
                "generated code uses this name for something else",
            ));
        } else if let Some((first, other)) = modules.get(&module) {
            let message = format!(
                "the kinds `{other}` and `{}` would have the same module, `{module}`",
                name.value
            );
            findings.push(Finding::new(&NAME_COLLISION, name.span, message).related(*first, "first here"));
        }
        modules.entry(module).or_insert((name.span, name.as_str()));
        let plural = &kind.resource.plural;
        let key = (kind.resource.group.as_str(), plural.as_str());
        if let Some(first) = plurals.get(&key) {
            let message = format!("two kinds have the plural `{}`", plural.value);
            findings.push(Finding::new(&NAME_COLLISION, plural.span, message).related(*first, "first here"));
        }
        plurals.entry(key).or_insert(plural.span);
        for ending in endings(kind) {
            rust_types.insert(format!("{}{ending}", name.value), name.span);
        }
    }
    let kinds = description.kinds.iter();
    let own_specs: Vec<TypeId> = kinds.filter_map(|kind| description.own_spec_type(kind)).collect();
    for (id, named) in description
        .types
        .iter()
        .enumerate()
        .map(|(at, named)| (TypeId(at), named))
    {
        let name = &named.name;
        if is_taken(name.as_str()) {
            let message = format!("a type cannot be called `{}`", shown(name.as_str()));
            findings.push(taken(
                name.span,
                message,
                "generated code has a type of this name in scope",
            ));
        } else if let Some(kind) = rust_types.get(name.as_str()).filter(|_| !own_specs.contains(&id)) {
            let message = format!(
                "the type `{}` has the name of a type that is generated for a kind",
                name.value
            );
            findings.push(Finding::new(&NAME_COLLISION, name.span, message).related(*kind, "the kind"));
        }
        below(&named.schema, findings);
    }
}

/// Names of the states and fields of one kind.
fn of_kind(description: &Description, kind: &Kind, findings: &mut Vec<Finding>) {
    let mut modules: BTreeMap<String, (Span, &str)> = BTreeMap::new();
    let types: BTreeMap<&str, Span> = description
        .types
        .iter()
        .map(|named| (named.name.as_str(), named.name.span))
        .collect();
    let states: HashMap<&str, Span> = kind
        .states
        .iter()
        .map(|state| (state.name.as_str(), state.name.span))
        .collect();
    for state in &kind.states {
        let name = state.name.as_str();
        let span = state.name.span;
        let module = state.name.module();
        let cannot = format!("a state cannot be called `{name}`");
        let finding = if let Some(reason) = unusable_module(&module) {
            Some(taken(span, cannot, reason))
        } else if HANDLER_IMPORTS.contains(&name) || is_rust_keyword(name) {
            Some(taken(
                span,
                cannot,
                "its handler uses this name for something else",
            ))
        } else if MACHINE_STATICS.contains(&name) {
            Some(taken(
                span,
                cannot,
                "the generated machine has a static of this name",
            ))
        } else if is_of_kind(name, kind) {
            let finding = taken(span, cannot, "the kind has a generated type of this name");
            Some(finding.related(kind.resource.kind.span, "the kind"))
        } else if let Some(named) = types.get(name) {
            let finding = taken(span, cannot, "its handler has a type of this name in scope");
            Some(finding.related(*named, "the type"))
        } else if let Some(of) = STATE_TRAITS
            .iter()
            .find_map(|word| states.get(name.strip_prefix(word)?))
        {
            let finding = taken(span, cannot, "the generated machine has a trait of this name");
            Some(finding.related(*of, "named after this state"))
        } else if let Some((first, other)) = modules.get(&module) {
            let message = format!("the states `{other}` and `{name}` would have the same module, `{module}`");
            Some(Finding::new(&NAME_COLLISION, span, message).related(*first, "first here"))
        } else {
            None
        };
        modules.entry(module).or_insert((span, name));
        findings.extend(finding);
    }
    for field in &kind.status {
        if field.name.rust_field() == MACHINE_FIELD {
            let message = format!("a status field cannot be called `{}`", field.name.value);
            let finding = taken(
                field.name.span,
                message,
                "the runtime keeps its own state in a field of this name",
            );
            findings.push(finding);
        }
        below(&field.schema, findings);
    }
    siblings(&kind.status, findings);
    below(&kind.spec, findings);
}

/// Whether a type of that name is generated for the kind.
fn is_of_kind(name: &str, kind: &Kind) -> bool {
    name.strip_prefix(kind.resource.kind.as_str())
        .is_some_and(|ending| endings(kind).any(|taken| taken == ending))
}

/// The suffixes of the types that are generated for the kind.
fn endings(kind: &Kind) -> impl Iterator<Item = &'static str> {
    let has_conditions = !kind.condition_types().is_empty();
    let endings = KIND_ENDINGS.iter().copied();
    endings.filter(move |ending| *ending != CONDITION_ENDING || has_conditions)
}

/// The fields of one object whose names become the same, or cannot be written, in Rust.
fn siblings(fields: &[Field], findings: &mut Vec<Finding>) {
    let mut rust_names: BTreeMap<String, &Field> = BTreeMap::new();
    for field in fields {
        let name = &field.name;
        let rust_name = name.rust_field();
        let finding = if matches!(
            rust_name.trim_start_matches('_'),
            "" | "self" | "super" | "crate" | "Self"
        ) {
            let message = format!("a field cannot be called `{}`", name.value);
            Some(taken(
                name.span,
                message,
                "this name cannot be written as a Rust field",
            ))
        } else if let Some(first) = rust_names.get(&rust_name) {
            let message = format!(
                "the fields `{}` and `{}` would have the same name in Rust, `{}`",
                first.name.value,
                name.value,
                rust_name.trim_start_matches("r#")
            );
            Some(Finding::new(&NAME_COLLISION, name.span, message).related(first.name.span, "first here"))
        } else {
            None
        };
        rust_names.entry(rust_name).or_insert(field);
        findings.extend(finding);
    }
}

/// The fields at and below a schema.
fn below(schema: &Schema, findings: &mut Vec<Finding>) {
    if let Shape::Object(fields) = &schema.shape {
        siblings(fields, findings);
    }
    for child in schema.children() {
        below(child, findings);
    }
}
