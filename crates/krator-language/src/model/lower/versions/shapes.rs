//! Takes fields out of schemas and puts fields into them, for the changes between versions.

use krator_machine::versions::Step;

use crate::finding::{Span, Spanned};
use crate::model::lower::schema::Types;
use crate::model::{Field, Schema, Shape};
use crate::names::FieldName;

/// The reason why a change is impossible.
pub(super) type Unfit = String;

/// The schema at a path. Named types on the path are expanded, so that a change at one place does not affect others.
pub(super) fn at<'s>(
    types: &Types<'_>,
    mut schema: &'s mut Schema,
    steps: &[Step],
) -> Result<&'s mut Schema, Unfit> {
    for step in steps {
        types.inline(schema);
        schema = below(schema, step).ok_or_else(|| format!("the path has no {}", shown(step)))?;
    }
    types.inline(schema);
    Ok(schema)
}

/// The schema at a path, if it exists and the path has no reference to a named type.
pub(super) fn find<'s>(schema: &'s mut Schema, steps: &[Step]) -> Option<&'s mut Schema> {
    steps.iter().try_fold(schema, below)
}

fn below<'s>(schema: &'s mut Schema, step: &Step) -> Option<&'s mut Schema> {
    match (step, &mut schema.shape) {
        (Step::Field(name), Shape::Object(fields)) => {
            let mut fields = fields.iter_mut();
            fields
                .find(|field| field.name.as_str() == name)
                .map(|field| &mut field.schema)
        }
        (Step::Each | Step::Index(_), Shape::List(inner)) | (Step::Each, Shape::Map(inner)) => Some(inner),
        _ => None,
    }
}

fn shown(step: &Step) -> String {
    match step {
        Step::Field(name) => format!("field `{name}`"),
        Step::Index(_) => "list".to_owned(),
        Step::Each => "list or map".to_owned(),
    }
}

/// A schema that was taken from its place.
pub(super) struct Taken {
    pub schema: Schema,
    /// The number of steps of the path that remain.
    pub kept: usize,
    /// The required objects and lists on the path that are removed with it: the number of steps to each, and whether it
    /// is a list.
    pub required: Vec<(usize, bool)>,
}

/// Takes the schema at a path, with the objects on the path that have no other field, and with the list whose first
/// item it was.
pub(super) fn take(types: &Types<'_>, schema: &mut Schema, path: &[Step]) -> Result<Taken, Unfit> {
    types.inline(schema);
    let Some((step, rest)) = path.split_first() else {
        return Err("the path names no field".to_owned());
    };
    let inner = below(schema, step).ok_or_else(|| format!("the path has no {}", shown(step)))?;
    types.inline(inner);
    let is_required = !inner.optional;
    let is_list = matches!(inner.shape, Shape::List(_));
    let mut taken = match rest {
        [] => Taken {
            schema: inner.clone(),
            kept: 0,
            required: Vec::new(),
        },
        [Step::Index(_)] => {
            let Shape::List(items) = &inner.shape else {
                return Err("the path has no list".to_owned());
            };
            let mut item = (**items).clone();
            // The API server keeps null in a list, but removes it from a field that is not `nullable`.
            item.nullable |= matches!(types.inlined(&item).shape, Shape::Any);
            item.optional = inner.optional || may_be_empty(inner);
            Taken {
                schema: item,
                kept: 0,
                required: Vec::new(),
            }
        }
        rest => {
            let may_be_made = may_be_made(types, inner, step);
            let mut taken = take(types, inner, rest)?;
            taken.schema.optional |= inner.optional || may_be_empty(inner);
            let is_empty = matches!(&inner.shape, Shape::Object(fields) if fields.is_empty())
                || matches!(&inner.shape, Shape::List(items) if matches!(&items.shape, Shape::Object(fields) if fields.is_empty()));
            taken.required.iter_mut().for_each(|(steps, _)| *steps += 1);
            if taken.kept > 0 || !is_empty {
                may_be_made?;
                taken.kept += 1;
                return Ok(taken);
            }
            taken
        }
    };
    if !rest.is_empty() && is_required {
        taken.required.push((1, is_list));
    }
    if let (Step::Field(name), Shape::Object(fields)) = (step, &mut schema.shape) {
        fields.retain(|field| field.name.as_str() != name);
    }
    Ok(taken)
}

fn is_required(types: &Types<'_>, schema: &Schema) -> bool {
    !schema.optional && types.inlined(schema).default.is_none()
}

/// Refuses an object with required fields that may be absent in one version: in the other one, a value at another place
/// would create it without these fields.
fn may_be_made(types: &Types<'_>, schema: &Schema, step: &Step) -> Result<(), Unfit> {
    let Shape::Object(fields) = &schema.shape else {
        return Ok(());
    };
    let required = fields.iter().find(|field| is_required(types, &field.schema));
    match required.filter(|_| !is_required(types, schema)) {
        None => Ok(()),
        Some(field) => Err(format!(
            "{} may be absent, but has a required field `{}`",
            shown(step),
            field.name.value
        )),
    }
}

/// Whether a value may be an empty list.
fn may_be_empty(schema: &Schema) -> bool {
    let least = schema.constraints.limits.get("minItems");
    let least = least.and_then(|least| least.value.as_u64()).unwrap_or(0);
    matches!(schema.shape, Shape::List(_)) && least == 0
}

/// Puts a schema at a path, and creates the objects and lists on the path. Returns the number of steps that existed
/// before.
pub(super) fn put(
    types: &Types<'_>,
    schema: &mut Schema,
    path: &[Step],
    new: Schema,
    span: Span,
) -> Result<usize, Unfit> {
    types.inline(schema);
    let Some((step, rest)) = path.split_first() else {
        return Err("the path already has a value".to_owned());
    };
    if below(schema, step).is_some() && !rest.is_empty() {
        let inner = below(schema, step).ok_or_else(String::new)?;
        if inner.optional && is_required(types, &new) {
            return Err(format!(
                "{} may be absent, but the field in it is required",
                shown(step)
            ));
        }
        may_be_made(types, inner, step)?;
        return Ok(put(types, inner, rest, new, span)? + 1);
    }
    let (Step::Field(name), Shape::Object(fields)) = (step, &mut schema.shape) else {
        return Err(format!("the path cannot have a {}", shown(step)));
    };
    if fields.iter().any(|field| field.name.as_str() == name) {
        return Err(format!("the field `{name}` already exists"));
    }
    fields.push(field(name, around(rest, new, span)?, span)?);
    Ok(0)
}

/// A field of this name, which also has to be a valid name in Rust.
fn field(name: &str, schema: Schema, span: Span) -> Result<Field, Unfit> {
    let parsed = FieldName::parse(name)
        .map_err(|error| format!("the name of a field has to be {}", error.expected))?;
    if schema.rust_name.is_none() && parsed.rust_field().is_none() {
        return Err(format!(
            "`{name}` cannot be the name of a Rust field; add `rustName` beside its type"
        ));
    }
    Ok(Field {
        name: Spanned::new(parsed, span),
        schema,
    })
}

/// A schema within the objects and lists of a path.
fn around(path: &[Step], schema: Schema, span: Span) -> Result<Schema, Unfit> {
    let Some((step, rest)) = path.split_first() else {
        return Ok(schema);
    };
    let optional = schema.optional;
    let mut inner = around(rest, schema, span)?;
    let shape = match step {
        Step::Field(name) => Shape::Object(vec![field(name, inner, span)?]),
        Step::Index(_) => {
            inner.optional = false;
            Shape::List(Box::new(inner))
        }
        Step::Each => return Err("a list or map before `[*]` has to exist".to_owned()),
    };
    let mut outer = Schema::plain(shape, span);
    outer.optional = optional;
    Ok(outer)
}
