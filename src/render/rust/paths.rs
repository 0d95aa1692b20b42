//! Ways to values of an object, as Rust goes them: iterators over typed fields, and over JSON where a type of
//! Kubernetes' own begins.

use super::ident;
use crate::model::{Description, Field, FieldPath, Kind, PathRoot, Schema, Segment, Shape};
use proc_macro2::TokenStream;
use quote::quote;

/// What is at the end of a way.
enum At<'a> {
    /// References to values of this schema.
    Typed(&'a Schema),
    /// Owned JSON.
    Json,
}

/// The texts that a path leads to, of `object`: an expression of type `Vec<String>`.
pub fn texts(description: &Description, kind: &Kind, path: &FieldPath) -> TokenStream {
    if let PathRoot::Label(key) = &path.root {
        return quote!(object.metadata.labels.iter().flatten().filter(|(key, _)| *key == #key).map(|(_, value)| value.clone()).collect());
    }
    let (way, end) = way(description, kind, path, &quote!(object.status.as_ref()));
    let text = match end {
        At::Typed(schema) if matches!(description.resolve(schema).shape, Shape::String) => quote!(.cloned()),
        At::Typed(_) => quote!(
            .filter_map(|value| serde_json::to_value(value).ok()?.as_str().map(str::to_owned))
        ),
        At::Json => quote!(.filter_map(|value| value.as_str().map(str::to_owned))),
    };
    quote!(#way #text.collect())
}

/// The value of a field from which a time or a limit is read, given `object` and the `status` that is about to be
/// written: an expression of type `Option<FieldValue>`.
pub fn field_value(description: &Description, kind: &Kind, path: &FieldPath) -> TokenStream {
    let (way, end) = way(description, kind, path, &quote!(status));
    match end {
        At::Typed(_) => quote!(#way.next().and_then(rt::ReadField::read_field)),
        // Only a duration, an integer or a date-time is accepted here, which JSON of Kubernetes' own types may hold.
        At::Json => {
            quote!(#way.next().and_then(|value| value.as_i64()).and_then(|number| rt::ReadField::read_field(&number)))
        }
    }
}

fn way<'a>(
    description: &'a Description,
    kind: &'a Kind,
    path: &FieldPath,
    status: &TokenStream,
) -> (TokenStream, At<'a>) {
    let mut segments = path.segments.iter();
    let (mut way, mut at) = match path.root {
        PathRoot::Spec => (quote!(std::iter::once(&object.spec)), At::Typed(&kind.spec)),
        PathRoot::Status => {
            let field = segments.next().and_then(|segment| match segment {
                Segment::Field(name) => kind.status.iter().find(|field| field.name.value.as_str() == name),
                _ => None,
            });
            match field {
                // All fields of a status may be absent.
                Some(field) => {
                    let name = rust_name(field);
                    (
                        quote!(#status.into_iter().filter_map(|value| value.#name.as_ref())),
                        At::Typed(&field.schema),
                    )
                }
                None => (quote!(std::iter::empty::<serde_json::Value>()), At::Json),
            }
        }
        // No way into code leads through other metadata.
        PathRoot::Metadata | PathRoot::Label(_) => {
            (quote!(std::iter::empty::<serde_json::Value>()), At::Json)
        }
    };
    for segment in segments {
        (way, at) = step(description, way, at, segment);
    }
    (way, at)
}

fn step<'a>(
    description: &'a Description,
    way: TokenStream,
    at: At<'a>,
    segment: &Segment,
) -> (TokenStream, At<'a>) {
    let schema = match at {
        At::Typed(schema) => description.resolve(schema),
        At::Json => return (json_step(way, segment), At::Json),
    };
    match (&schema.shape, segment) {
        (Shape::Object(fields), Segment::Field(name)) => {
            let Some(field) = fields.iter().find(|field| field.name.value.as_str() == name) else {
                return (quote!(std::iter::empty::<serde_json::Value>()), At::Json);
            };
            let rust = rust_name(field);
            let step = if field.schema.optional || field.schema.nullable {
                quote!(.filter_map(|value| value.#rust.as_ref()))
            } else {
                quote!(.map(|value| &value.#rust))
            };
            (quote!(#way #step), At::Typed(&field.schema))
        }
        (Shape::Map(values), Segment::Field(key)) => (
            flat(quote!(#way.filter_map(|value| value.get(#key))), values),
            At::Typed(values),
        ),
        (Shape::Map(values), Segment::Each) => (
            flat(quote!(#way.flat_map(|value| value.values())), values),
            At::Typed(values),
        ),
        (Shape::List(items), Segment::Each) => (
            flat(quote!(#way.flat_map(|value| value.iter())), items),
            At::Typed(items),
        ),
        _ => (
            json_step(
                quote!(#way.filter_map(|value| serde_json::to_value(value).ok())),
                segment,
            ),
            At::Json,
        ),
    }
}

fn flat(way: TokenStream, element: &Schema) -> TokenStream {
    if element.nullable {
        quote!(#way.flatten())
    } else {
        way
    }
}

fn json_step(way: TokenStream, segment: &Segment) -> TokenStream {
    match segment {
        Segment::Field(name) => quote!(#way.filter_map(|value| value.get(#name).cloned())),
        Segment::Each => quote!(#way.flat_map(|value| value.as_array().cloned().unwrap_or_default())),
        Segment::Where { field, value: text } => quote!(
            #way.flat_map(|value| value.as_array().cloned().unwrap_or_default())
                .filter(|value| value.get(#field).and_then(|field| field.as_str()) == Some(#text))
        ),
    }
}

fn rust_name(field: &Field) -> syn::Ident {
    let name = field.name.value.rust_field();
    ident(name.strip_prefix("r#").unwrap_or(&name))
}
