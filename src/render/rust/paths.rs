//! Field paths of a description as Rust expressions: iterators over the fields of generated types, and over JSON after
//! a path has entered a type of Kubernetes.

use super::ident;
use crate::model::{Description, Field, FieldPath, Kind, PathRoot, Schema, Segment, Shape};
use proc_macro2::TokenStream;
use quote::quote;

/// The items of the iterator for a path.
enum PathEnd<'a> {
    /// References to values of this schema.
    Typed(&'a Schema),
    /// Owned JSON.
    Json,
}

/// The strings at a path in `object`: an expression of type `Vec<String>`.
pub fn strings(description: &Description, kind: &Kind, path: &FieldPath) -> TokenStream {
    if let PathRoot::Label(key) = &path.root {
        return quote!(object.metadata.labels.iter().flatten().filter(|(key, _)| *key == #key).map(|(_, value)| value.clone()).collect());
    }
    let (values, end) = values(description, kind, path, &quote!(object.status.as_ref()));
    let to_string = match end {
        PathEnd::Typed(schema) if matches!(description.resolve(schema).shape, Shape::String) => {
            quote!(.cloned())
        }
        PathEnd::Typed(_) => quote!(
            .filter_map(|value| serde_json::to_value(value).ok()?.as_str().map(str::to_owned))
        ),
        PathEnd::Json => quote!(.filter_map(|value| value.as_str().map(str::to_owned))),
    };
    quote!(#values #to_string.collect())
}

/// The value of a field from which a time, a limit or a text is read, given `object` and the `status` that is about to be
/// written: an expression of type `Option<FieldValue>`.
pub fn field_value(description: &Description, kind: &Kind, path: &FieldPath, is_text: bool) -> TokenStream {
    if matches!(path.root, PathRoot::Metadata) {
        // The namespace is the only metadata from which such a value is read.
        return quote!(
            object
                .metadata
                .namespace
                .as_deref()
                .and_then(rt::ReadField::read_field)
        );
    }
    let (values, end) = values(description, kind, path, &quote!(status));
    match end {
        PathEnd::Typed(schema) if is_text && !matches!(description.resolve(schema).shape, Shape::String) => {
            quote!(#values.next().and_then(|value| rt::ReadField::read_field(serde_json::to_value(value).ok()?.as_str()?)))
        }
        PathEnd::Json if is_text => {
            quote!(#values.next().and_then(|value| rt::ReadField::read_field(value.as_str()?)))
        }
        PathEnd::Typed(_) => quote!(#values.next().and_then(rt::ReadField::read_field)),
        // Only a duration, an integer or a date-time is accepted here. JSON of Kubernetes' own types may contain them.
        PathEnd::Json => {
            quote!(#values.next().and_then(|value| value.as_i64()).and_then(|number| rt::ReadField::read_field(&number)))
        }
    }
}

/// An iterator over the values at a path, and the type of its items.
fn values<'a>(
    description: &'a Description,
    kind: &'a Kind,
    path: &FieldPath,
    status: &TokenStream,
) -> (TokenStream, PathEnd<'a>) {
    let mut segments = path.segments.iter();
    let (mut values, mut end) = match path.root {
        PathRoot::Spec => (quote!(std::iter::once(&object.spec)), PathEnd::Typed(&kind.spec)),
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
                        PathEnd::Typed(&field.schema),
                    )
                }
                None => (quote!(std::iter::empty::<serde_json::Value>()), PathEnd::Json),
            }
        }
        // Paths that become code do not refer to other metadata.
        PathRoot::Metadata | PathRoot::Label(_) => {
            (quote!(std::iter::empty::<serde_json::Value>()), PathEnd::Json)
        }
    };
    for segment in segments {
        (values, end) = step(description, values, end, segment);
    }
    (values, end)
}

fn step<'a>(
    description: &'a Description,
    values: TokenStream,
    end: PathEnd<'a>,
    segment: &Segment,
) -> (TokenStream, PathEnd<'a>) {
    let schema = match end {
        PathEnd::Typed(schema) => description.resolve(schema),
        PathEnd::Json => return (json_step(values, segment), PathEnd::Json),
    };
    match (&schema.shape, segment) {
        (Shape::Object(fields), Segment::Field(name)) => {
            let Some(field) = fields.iter().find(|field| field.name.value.as_str() == name) else {
                return (quote!(std::iter::empty::<serde_json::Value>()), PathEnd::Json);
            };
            let rust = rust_name(field);
            let step = if field.schema.optional || description.is_nullable(&field.schema) {
                quote!(.filter_map(|value| value.#rust.as_ref()))
            } else {
                quote!(.map(|value| &value.#rust))
            };
            (quote!(#values #step), PathEnd::Typed(&field.schema))
        }
        (Shape::Map(element), Segment::Field(key)) => (
            flat(
                description,
                quote!(#values.filter_map(|value| value.get(#key))),
                element,
            ),
            PathEnd::Typed(element),
        ),
        (Shape::Map(element), Segment::Each) => (
            flat(
                description,
                quote!(#values.flat_map(|value| value.values())),
                element,
            ),
            PathEnd::Typed(element),
        ),
        (Shape::List(items), Segment::Each) => (
            flat(description, quote!(#values.flat_map(|value| value.iter())), items),
            PathEnd::Typed(items),
        ),
        _ => (
            json_step(
                quote!(#values.filter_map(|value| serde_json::to_value(value).ok())),
                segment,
            ),
            PathEnd::Json,
        ),
    }
}

/// Skips the null elements of a list or a map, if its schema allows them.
fn flat(description: &Description, values: TokenStream, element: &Schema) -> TokenStream {
    if description.is_nullable(element) {
        quote!(#values.flatten())
    } else {
        values
    }
}

fn json_step(values: TokenStream, segment: &Segment) -> TokenStream {
    match segment {
        Segment::Field(name) => quote!(#values.filter_map(|value| value.get(#name).cloned())),
        Segment::Each => quote!(#values.flat_map(|value| value.as_array().cloned().unwrap_or_default())),
        Segment::Where { field, value: text } => quote!(
            #values.flat_map(|value| value.as_array().cloned().unwrap_or_default())
                .filter(|value| value.get(#field).and_then(|field| field.as_str()) == Some(#text))
        ),
    }
}

fn rust_name(field: &Field) -> syn::Ident {
    let name = field.rust_name();
    ident(name.strip_prefix("r#").unwrap_or(&name))
}
