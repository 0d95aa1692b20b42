//! The defaults of a description in Rust: serde sets absent fields to the same values as the API server, so that
//! objects that were stored before a field existed can be decoded.

use super::{duration, ident};
use crate::{
    model::{Description, Field, Schema, Shape, kubernetes},
    names::unique_variants,
};
use krator_machine::nearest;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use serde_json::{Map, Value as Json};
use syn::Ident;

/// The value of an absent field.
pub(super) enum Filled {
    /// The default of the Rust type.
    Plain,
    /// This expression.
    Value(TokenStream),
}

/// Writes the defaults of a description.
#[derive(Clone, Copy)]
pub(super) struct Defaults<'a> {
    pub description: &'a Description,
}

impl Defaults<'_> {
    /// The value that the API server sets an absent field to. `rust_type` is the type of the field, without the
    /// `Option` that `is_option` means. `None` if the API server sets no value, or if the Rust type cannot hold it.
    pub fn of(&self, schema: &Schema, rust_type: &TokenStream, is_option: bool) -> Option<Filled> {
        let default = self.written(schema)?;
        if is_option {
            let value = self.value(schema, rust_type, default)?;
            return Some(Filled::Value(quote!(Some(#value))));
        }
        if self.is_plain(schema, default) {
            return Some(Filled::Plain);
        }
        self.value(schema, rust_type, default).map(Filled::Value)
    }

    /// Whether the Rust type of a field implements `Default`.
    pub fn has_default(&self, field: &Field) -> bool {
        self.is_option(&field.schema) || self.fills_in(&field.schema) || self.type_has_default(&field.schema)
    }

    /// Whether the Rust type of a schema implements `Default`.
    fn type_has_default(&self, schema: &Schema) -> bool {
        match &self.description.resolve(schema).shape {
            Shape::Object(fields) => fields.iter().all(|field| self.has_default(field)),
            Shape::Kubernetes(reference) => kubernetes::has_default(reference),
            _ => true,
        }
    }

    /// The default of a field whose type implements no `Default`, if the description has none: times and durations.
    pub fn plain(&self, schema: &Schema, is_option: bool) -> Option<TokenStream> {
        match &self.description.resolve(schema).shape {
            _ if is_option => None,
            Shape::DateTime => Some(quote!(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(
                k8s_openapi::jiff::Timestamp::UNIX_EPOCH
            ))),
            Shape::Duration => Some(quote!(std::time::Duration::ZERO.into())),
            _ => None,
        }
    }

    /// Whether the values of a schema are times or durations, or lists or maps of them.
    pub fn has_times(&self, schema: &Schema) -> bool {
        match &self.description.resolve(schema).shape {
            Shape::DateTime | Shape::Duration => true,
            Shape::List(items) => self.has_times(items),
            Shape::Map(values) => self.has_times(values),
            _ => false,
        }
    }

    fn is_option(&self, schema: &Schema) -> bool {
        schema.optional || self.description.is_nullable(schema)
    }

    /// Whether serde sets the field if it is absent.
    pub fn fills_in(&self, schema: &Schema) -> bool {
        self.written(schema).is_some_and(|default| {
            !self.is_option(schema) && self.is_plain(schema, default)
                || self.encoded(schema, default).is_some()
        })
    }

    /// The default as it is written. The API server ignores a default of null.
    fn written<'s>(&'s self, schema: &'s Schema) -> Option<&'s Json> {
        let mut chain = self.description.chain(schema);
        let default = chain.find_map(|schema| schema.default.as_ref())?;
        let is_null = default.value.is_null() && !self.is_any(schema);
        (!is_null).then_some(&default.value)
    }

    fn is_any(&self, schema: &Schema) -> bool {
        matches!(self.description.resolve(schema).shape, Shape::Any)
    }

    /// Whether a value is the default of its Rust type.
    fn is_plain(&self, schema: &Schema, value: &Json) -> bool {
        let resolved = self.description.resolve(schema);
        match (&resolved.shape, value) {
            (Shape::String, Json::String(text)) => text.is_empty(),
            (Shape::Boolean, value) => *value == Json::Bool(false),
            (Shape::Integer | Shape::Int32 | Shape::IntOrString, value) => value.as_i64() == Some(0),
            (Shape::Number, value) => value.as_f64() == Some(0.0),
            (Shape::Enum(values), value) => {
                let first = first_variant(resolved, values.iter().map(|value| value.value.as_str()));
                values
                    .get(first)
                    .is_some_and(|first| value.as_str() == Some(first.value.as_str()))
            }
            (Shape::List(_), Json::Array(items)) => items.is_empty(),
            (Shape::Map(_) | Shape::FreeForm, Json::Object(entries)) => entries.is_empty(),
            (Shape::Object(fields), Json::Object(entries)) => {
                let is_absent = |field: &Field| self.is_option(&field.schema) || self.fills_in(&field.schema);
                entries.is_empty() && fields.iter().all(is_absent)
            }
            (Shape::Kubernetes(reference), Json::Object(entries)) => {
                entries.is_empty() && kubernetes::has_default(reference)
            }
            (Shape::Any, value) => value.is_null(),
            _ => false,
        }
    }

    /// An expression for a value of the Rust type of a schema, without `Option`: a literal if possible, and otherwise
    /// the value as JSON, which serde decodes.
    fn value(&self, schema: &Schema, rust_type: &TokenStream, value: &Json) -> Option<TokenStream> {
        let encoded = self.encoded(schema, value)?;
        Some(match (&self.description.resolve(schema).shape, &encoded) {
            (Shape::String, Json::String(text)) if !is_bytes(self.description.resolve(schema)) => {
                quote!(#text.to_owned())
            }
            (Shape::Boolean, Json::Bool(value)) => quote!(#value),
            (Shape::Integer | Shape::Int32, number) => signed(number.as_i64()?),
            (Shape::Number, number) => float(number.as_f64()?),
            (Shape::DateTime, _) => {
                let time = nearest::time(value.as_str()?)?;
                // If the signs of seconds and nanoseconds differed, this would be another time.
                let (seconds, nanoseconds) =
                    (signed(time.as_second()), signed(time.subsec_nanosecond().into()));
                let timestamp = quote!(k8s_openapi::jiff::Timestamp::constant(#seconds, #nanoseconds));
                quote!(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(#timestamp))
            }
            (Shape::Duration, _) => {
                let duration = duration(nearest::duration(value.as_str()?)?);
                quote!(#duration.into())
            }
            // The type may be an alias, which has no constructor.
            (Shape::Quantity, Json::String(text)) => {
                quote!(k8s_openapi::apimachinery::pkg::api::resource::Quantity(#text.to_owned()))
            }
            (Shape::Any, value) => {
                let value = json(value);
                quote!(serde_json::json!(#value))
            }
            (Shape::Enum(values), value) => {
                let at = values
                    .iter()
                    .position(|known| Some(known.value.as_str()) == value.as_str())?;
                let variants = unique_variants(values.iter().map(|value| value.value.as_str()));
                let variant = ident(variants.get(at)?);
                quote!(#rust_type::#variant)
            }
            (_, value) => {
                let value = json(value);
                // The value is valid for the type, so decoding it does not fail.
                quote!(serde_json::from_value(serde_json::json!(#value)).unwrap_or_default())
            }
        })
    }

    /// A value in the form that serde decodes to the Rust type of a schema; `None` if the type cannot hold it.
    fn encoded(&self, schema: &Schema, value: &Json) -> Option<Json> {
        Some(match &self.description.resolve(schema).shape {
            Shape::String => value.as_str()?.into(),
            Shape::Boolean => value.as_bool()?.into(),
            Shape::Integer => value.as_i64()?.into(),
            Shape::Int32 => i32::try_from(value.as_i64()?).ok()?.into(),
            Shape::Number => value.as_f64()?.into(),
            Shape::DateTime => nearest::time(value.as_str()?)?.to_string().into(),
            Shape::Duration => {
                let duration = nearest::duration(value.as_str()?)?;
                match (duration.as_secs(), duration.subsec_nanos()) {
                    (seconds, 0) => format!("{seconds}s").into(),
                    (seconds, nanoseconds) => format!("{seconds}s{nanoseconds}ns").into(),
                }
            }
            Shape::Quantity => match value {
                Json::Number(number) if number.is_f64() => number.as_f64()?.to_string().into(),
                Json::Number(number) => number.to_string().into(),
                other => other.as_str()?.into(),
            },
            Shape::IntOrString if value.is_string() => value.clone(),
            Shape::IntOrString => i32::try_from(value.as_i64()?).ok()?.into(),
            Shape::FreeForm => Json::Object(value.as_object()?.clone()),
            Shape::Any => value.clone(),
            Shape::Kubernetes(reference) => kubernetes::has_default(reference).then(|| value.clone())?,
            Shape::Enum(values) => {
                let is_known = values
                    .iter()
                    .any(|known| Some(known.value.as_str()) == value.as_str());
                is_known.then(|| value.clone())?
            }
            Shape::List(items) => {
                let items = value.as_array()?.iter().map(|item| self.element(items, item));
                Json::Array(items.collect::<Option<_>>()?)
            }
            Shape::Map(values) => {
                let entries = value.as_object()?.iter();
                let entries = entries.map(|(key, value)| Some((key.clone(), self.element(values, value)?)));
                Json::Object(entries.collect::<Option<_>>()?)
            }
            Shape::Object(fields) => {
                let mut entries = Map::new();
                for field in fields {
                    let (name, schema) = (field.name.value.as_str(), &field.schema);
                    let takes_null = self.description.is_nullable(schema) || self.is_any(schema);
                    match value.as_object()?.get(name) {
                        Some(Json::Null) if takes_null => _ = entries.insert(name.to_owned(), Json::Null),
                        Some(value) if !value.is_null() => {
                            entries.insert(name.to_owned(), self.encoded(schema, value)?);
                        }
                        // serde sets it.
                        _ if self.is_option(schema) || self.fills_in(schema) => {}
                        _ => return None,
                    }
                }
                Json::Object(entries)
            }
            // `resolve` has looked through names.
            Shape::Named(_) => return None,
        })
    }

    /// An item of a list or a value of a map.
    fn element(&self, schema: &Schema, value: &Json) -> Option<Json> {
        if value.is_null() && self.description.is_nullable(schema) {
            return Some(Json::Null);
        }
        self.encoded(schema, value)
    }
}

/// Whether the Rust type of a text is that of bytes, which the text encodes in base64.
pub(super) fn is_bytes(schema: &Schema) -> bool {
    let format = schema.constraints.limits.get("format");
    format.is_some_and(|format| format.value == "byte")
}

/// The name of a field in Rust.
pub(super) fn field_ident(field: &Field) -> Ident {
    let name = field.rust_name();
    ident(name.strip_prefix("r#").unwrap_or(&name))
}

/// The variant of an enum that is its default in Rust: the default of the type or, without one, the first variant.
pub(super) fn first_variant<'v>(schema: &Schema, mut values: impl Iterator<Item = &'v str>) -> usize {
    let default = schema.default.as_ref().and_then(|default| default.value.as_str());
    values.position(|value| Some(value) == default).unwrap_or(0)
}

fn signed(value: i64) -> TokenStream {
    let digits = Literal::u64_unsuffixed(value.unsigned_abs());
    if value < 0 {
        quote!(-#digits)
    } else {
        quote!(#digits)
    }
}

fn float(value: f64) -> TokenStream {
    let digits = Literal::f64_unsuffixed(value.abs());
    if value.is_sign_negative() {
        quote!(-#digits)
    } else {
        quote!(#digits)
    }
}

/// A value as an argument of `serde_json::json!`.
fn json(value: &Json) -> TokenStream {
    match value {
        Json::Null => quote!(null),
        Json::Bool(value) => quote!(#value),
        Json::String(text) => quote!(#text),
        Json::Array(items) => {
            let items = items.iter().map(json);
            quote!([#(#items),*])
        }
        Json::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| {
                let value = json(value);
                quote!(#key: #value)
            });
            quote!({#(#entries),*})
        }
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            // The macro treats a number without a suffix as an `i32`.
            (Some(value), _) => {
                let digits = Literal::u64_unsuffixed(value.unsigned_abs());
                match i32::try_from(value) {
                    Ok(..0) => quote!(-#digits),
                    Ok(_) => quote!(#digits),
                    Err(_) => {
                        let value = Literal::i64_suffixed(value);
                        quote!(#value)
                    }
                }
            }
            (None, Some(value)) => {
                let value = Literal::u64_suffixed(value);
                quote!(#value)
            }
            (None, None) => float(number.as_f64().unwrap_or_default()),
        },
    }
}
