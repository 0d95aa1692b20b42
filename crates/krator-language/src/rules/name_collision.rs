//! Names that become the same Rust identifier or file, and names that generated code already uses.

use std::collections::{BTreeMap, HashMap};

use super::Check;
use crate::catalog::NAME_COLLISION;
use crate::finding::{Finding, Span};
use crate::model::{Description, Field, Kind, Schema, Shape, TypeId};
use crate::names::{
    CONDITION_ENDING, HANDLER_IMPORTS, KIND_ENDINGS, MACHINE_FIELD, MACHINE_STATICS, is_rust_keyword,
    is_taken, unique_rust_field, unusable_kind, unusable_module,
};
use crate::text::shown;

pub(super) const CHECK: Check = Check::of_description(&NAME_COLLISION, find);

/// The names that handlers of webhooks import.
const ADMISSION_IMPORTS: [&str; 4] = ["Mutate", "Review", "Validate", "Verdict"];

/// The prefixes of traits in the generated machine that are named after a state.
const STATE_TRAITS: [&str; 2] = ["NextOf", "WaitOf"];

/// A finding about a name that is taken.
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

/// Names of kinds and of the types that they share.
fn of_kinds_and_types(description: &Description, findings: &mut Vec<Finding>) {
    let mut modules: BTreeMap<String, (Span, &str)> = BTreeMap::new();
    let mut plurals: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    let mut rust_types: BTreeMap<String, Span> = BTreeMap::new();
    for kind in &description.kinds {
        let name = &kind.resource.rust_name;
        let module = name.module();
        let cannot = format!("a kind cannot be called `{}`", name.value);
        let is_of_webhooks = !kind.webhooks.is_empty() && ADMISSION_IMPORTS.contains(&name.as_str());
        let reason = unusable_kind(&name.value)
            .or_else(|| is_of_webhooks.then_some("generated code uses this name for something else"));
        if let Some(reason) = reason {
            let help = format!(
                "give it another name in Rust: `rustName: {}Kind` beside `kind`",
                name.value
            );
            findings.push(taken(name.span, cannot, reason).help(help));
        } else if let Some((first, other)) = modules.get(&module) {
            let name_of = &name.value;
            let message =
                format!("the kinds `{other}` and `{name_of}` would have the same module, `{module}`");
            findings.push(
                Finding::new(&NAME_COLLISION, name.span, message)
                    .related(*first, "first here")
                    .help("give one of them another name in Rust: `rustName` beside `kind`"),
            );
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
    for (at, named) in description.types.iter().enumerate() {
        let name = &named.name;
        if is_taken(name.as_str()) {
            let message = format!("a type cannot be called `{}`", shown(name.as_str()));
            let reason = "generated code has a type of this name in scope";
            findings.push(taken(name.span, message, reason));
        } else if let Some(kind) = rust_types
            .get(name.as_str())
            .filter(|_| !own_specs.contains(&TypeId(at)))
        {
            let name_of = &name.value;
            let message = format!("the type `{name_of}` has the name of a type that is generated for a kind");
            findings.push(Finding::new(&NAME_COLLISION, name.span, message).related(*kind, "the kind"));
        }
        below(&named.schema, findings);
    }
}

/// Names of the states and fields of one kind.
fn of_kind(description: &Description, kind: &Kind, findings: &mut Vec<Finding>) {
    let mut modules: BTreeMap<String, (Span, &str)> = BTreeMap::new();
    let types = description.types.iter().map(|named| &named.name);
    let types: BTreeMap<&str, Span> = types.map(|name| (name.as_str(), name.span)).collect();
    let states = kind.states.iter().map(|state| &state.name);
    let states: HashMap<&str, Span> = states.map(|name| (name.as_str(), name.span)).collect();
    for state in &kind.states {
        let name = state.name.as_str();
        let span = state.name.span;
        let module = state.name.module();
        let cannot = format!("a state cannot be called `{name}`");
        let named_after = || {
            let mut prefixes = STATE_TRAITS.iter();
            prefixes.find_map(|prefix| states.get(name.strip_prefix(prefix)?))
        };
        // The reason why the state cannot have the name, and the holder of the name.
        let reason: Option<(&str, Option<(Span, &str)>)> = if let Some(reason) = unusable_module(&module) {
            Some((reason, None))
        } else if HANDLER_IMPORTS.contains(&name) || is_rust_keyword(name) {
            Some(("its handler uses this name for something else", None))
        } else if MACHINE_STATICS.contains(&name) {
            Some(("the generated machine has a static of this name", None))
        } else if is_of_kind(name, kind) {
            let holder = (kind.resource.kind.span, "the kind");
            Some(("the kind has a generated type of this name", Some(holder)))
        } else if let Some(named) = types.get(name) {
            let holder = (*named, "the type");
            Some(("its handler has a type of this name in scope", Some(holder)))
        } else {
            named_after().map(|state| {
                let holder = (*state, "named after this state");
                ("the generated machine has a trait of this name", Some(holder))
            })
        };
        if let Some((reason, holder)) = reason {
            let finding = taken(span, cannot, reason);
            findings.push(match holder {
                Some((span, label)) => finding.related(span, label),
                None => finding,
            });
        } else if let Some((first, other)) = modules.get(&module) {
            let message = format!("the states `{other}` and `{name}` would have the same module, `{module}`");
            findings.push(Finding::new(&NAME_COLLISION, span, message).related(*first, "first here"));
        }
        modules.entry(module).or_insert((span, name));
    }
    for field in &kind.status {
        if field.rust_name() == MACHINE_FIELD {
            let message = format!("a status field cannot be called `{}`", shown(field.name.as_str()));
            let reason = "the runtime stores its own state in a field of this name";
            let help = "give it another name in Rust: `rustName: status_of_machine` beside its type";
            findings.push(taken(field.name.span, message, reason).help(help));
        }
        below(&field.schema, findings);
    }
    siblings(&kind.status, findings);
    below(&kind.spec, findings);
}

/// Whether a type of that name is generated for the kind.
fn is_of_kind(name: &str, kind: &Kind) -> bool {
    name.strip_prefix(kind.resource.rust_name.as_str())
        .is_some_and(|ending| endings(kind).any(|taken| taken == ending))
}

/// The suffixes of the types that are generated for the kind.
fn endings(kind: &Kind) -> impl Iterator<Item = &'static str> {
    let has_conditions = !kind.condition_types().is_empty();
    let endings = KIND_ENDINGS.iter().copied();
    endings.filter(move |ending| *ending != CONDITION_ENDING || has_conditions)
}

/// Reports the fields of one object whose names are the same in Rust.
fn siblings(fields: &[Field], findings: &mut Vec<Finding>) {
    let mut rust_names: BTreeMap<String, &Field> = BTreeMap::new();
    for field in fields {
        let name = &field.name;
        let rust_name = field.rust_name();
        if let Some(first) = rust_names.get(&rust_name) {
            let message = format!(
                "the fields `{}` and `{}` would have the same name in Rust, `{}`",
                shown(first.name.as_str()),
                shown(name.as_str()),
                rust_name.trim_start_matches("r#")
            );
            let is_taken = |wanted: &str| fields.iter().any(|field| field.rust_name() == wanted);
            let proposed = unique_rust_field(name.as_str(), is_taken);
            let finding = Finding::new(&NAME_COLLISION, name.span, message).help(format!(
                "give one of them another name: `rustName: {proposed}` beside its type"
            ));
            findings.push(finding.related(first.name.span, "first here"));
        }
        rust_names.entry(rust_name).or_insert(field);
    }
}

/// Reports such fields at and below a schema.
fn below(schema: &Schema, findings: &mut Vec<Finding>) {
    if let Shape::Object(fields) = &schema.shape {
        siblings(fields, findings);
    }
    for child in schema.children() {
        below(child, findings);
    }
}
