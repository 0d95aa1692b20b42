//! The defaults of a description in Rust: what the API server fills in where a field is absent, serde fills in too, so that
//! objects decode that were stored before the field existed.

use super::{KindNames, ident};
use crate::{
    model::{Description, Field, Schema, Shape, TypeId, kubernetes, parse_duration},
    names::unique_variants,
};
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use syn::Ident;

/// The Rust names of the types that have none in the description: each belongs to one schema, and is told from others by
/// where that schema is in memory. A named type that a kind has as its `.spec` is written there too, with names of its own.
#[derive(Default)]
pub(super) struct TypeNames(BTreeMap<(Root, *const Schema), TypeName>);

/// What a type without a name is part of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Root {
    /// The kind with this module.
    Kind(Ident),
    Type(TypeId),
}

struct TypeName {
    /// The module of the crate that has the type.
    module: Ident,
    name: Ident,
}

impl TypeNames {
    /// Takes over the names of the types that a module has.
    pub fn add<'a>(&mut self, module: &Ident, types: impl IntoIterator<Item = (Root, &'a Schema, Ident)>) {
        let named = types.into_iter().map(|(root, schema, name)| {
            let module = module.clone();
            ((root, std::ptr::from_ref(schema)), TypeName { module, name })
        });
        self.0.extend(named);
    }
}

/// What a field is where it is absent.
pub(super) enum Filled {
    /// What the Rust type has as its default.
    Plain,
    /// This value.
    Value(TokenStream),
}

/// Writes defaults for one module.
pub(super) struct Defaults<'a> {
    pub description: &'a Description,
    pub names: &'a TypeNames,
    /// The module that is written.
    pub module: Ident,
    /// What is written in it.
    pub root: Root,
}

impl Defaults<'_> {
    /// What the API server fills in for a field that is an `Option` in Rust or is none. `None` if it fills in nothing, or if
    /// no expression without a panic has the value.
    pub fn of(&self, schema: &Schema, is_option: bool) -> Option<Filled> {
        let default = self.written(schema)?;
        if is_option {
            let value = self.value(schema, default)?;
            return Some(Filled::Value(quote!(Some(#value))));
        }
        if self.is_plain(schema, default) {
            return Some(Filled::Plain);
        }
        self.value(schema, default).map(Filled::Value)
    }

    /// Whether the Rust type of a field implements `Default`.
    pub fn has_default(&self, field: &Field) -> bool {
        let schema = &field.schema;
        if self.is_option(schema) || self.of(schema, false).is_some() {
            return true;
        }
        match &self.description.resolve(schema).shape {
            Shape::DateTime | Shape::Duration => false,
            Shape::Object(fields) => fields.iter().all(|field| self.has_default(field)),
            Shape::Kubernetes(reference) => kubernetes::has_default(reference),
            _ => true,
        }
    }

    fn is_option(&self, schema: &Schema) -> bool {
        schema.optional || self.description.is_nullable(schema)
    }

    /// The default as it is written. The API server does not fill in null.
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
                let is_absent =
                    |field: &Field| self.is_option(&field.schema) || self.of(&field.schema, false).is_some();
                entries.is_empty() && fields.iter().all(is_absent)
            }
            (Shape::Kubernetes(reference), Json::Object(entries)) => {
                entries.is_empty() && kubernetes::has_default(reference)
            }
            (Shape::Any, value) => value.is_null(),
            _ => false,
        }
    }

    /// An expression for a value of the Rust type of a schema, without `Option`.
    fn value(&self, schema: &Schema, value: &Json) -> Option<TokenStream> {
        let names = self
            .description
            .chain(schema)
            .filter_map(|schema| match schema.shape {
                Shape::Named(id) => Some(id),
                _ => None,
            });
        let Some(named) = names.last() else {
            return self.expression(schema, value);
        };
        let mut kinds = self.description.kinds.iter();
        let of_kind = kinds.find(|kind| self.description.own_spec_type(kind) == Some(named));
        let inside = Self {
            module: self.module.clone(),
            root: of_kind.map_or(Root::Type(named), |kind| Root::Kind(KindNames::of(kind).module)),
            ..*self
        };
        inside.expression(schema, value)
    }

    fn expression(&self, schema: &Schema, value: &Json) -> Option<TokenStream> {
        Some(match &self.description.resolve(schema).shape {
            Shape::String => string(value.as_str()?),
            Shape::Boolean => {
                let value = value.as_bool()?;
                quote!(#value)
            }
            Shape::Integer => signed(value.as_i64()?),
            Shape::Int32 => signed(i32::try_from(value.as_i64()?).ok()?.into()),
            Shape::Number => float(value.as_f64()?),
            Shape::DateTime => {
                let text = plain_time(value.as_str()?)?;
                // The text is one that can be parsed, so this is never the default.
                quote!(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(#text.parse().unwrap_or_default()))
            }
            Shape::Duration => {
                let duration = parse_duration(value.as_str()?)?;
                let seconds = Literal::u64_unsuffixed(duration.as_secs());
                match duration.subsec_nanos() {
                    0 => quote!(std::time::Duration::from_secs(#seconds).into()),
                    nanoseconds => {
                        let nanoseconds = Literal::u32_unsuffixed(nanoseconds);
                        quote!(std::time::Duration::new(#seconds, #nanoseconds).into())
                    }
                }
            }
            Shape::Quantity => {
                let text = match value {
                    Json::Number(number) if number.is_f64() => number.as_f64()?.to_string(),
                    Json::Number(number) => number.to_string(),
                    other => other.as_str()?.to_owned(),
                };
                let text = string(&text);
                quote!(k8s_openapi::apimachinery::pkg::api::resource::Quantity(#text))
            }
            Shape::IntOrString => {
                let path = quote!(k8s_openapi::apimachinery::pkg::util::intstr::IntOrString);
                if let Some(text) = value.as_str().map(string) {
                    quote!(#path::String(#text))
                } else {
                    let number = signed(i32::try_from(value.as_i64()?).ok()?.into());
                    quote!(#path::Int(#number))
                }
            }
            Shape::FreeForm => {
                let entries = value.as_object()?.iter().map(|(key, value)| {
                    let (key, value) = (string(key), json(value));
                    quote!((#key, serde_json::json!(#value)))
                });
                quote!(serde_json::Map::from_iter([#(#entries),*]))
            }
            Shape::Any => {
                let value = json(value);
                quote!(serde_json::json!(#value))
            }
            Shape::Kubernetes(reference) => {
                if !kubernetes::has_default(reference) {
                    return None;
                }
                let value = json(value);
                // The API server has accepted the value as one of the type, so this is never the default.
                quote!(serde_json::from_value(serde_json::json!(#value)).unwrap_or_default())
            }
            Shape::Enum(values) => {
                let at = values
                    .iter()
                    .position(|known| Some(known.value.as_str()) == value.as_str())?;
                let variants = unique_variants(values.iter().map(|value| value.value.as_str()));
                let (path, variant) = (self.path(schema)?, ident(variants.get(at)?));
                quote!(#path::#variant)
            }
            Shape::List(items) => {
                let items: Option<Vec<_>> = value
                    .as_array()?
                    .iter()
                    .map(|item| self.element(items, item))
                    .collect();
                let items = items?;
                quote!(vec![#(#items),*])
            }
            Shape::Map(values) => {
                let entries: Option<Vec<_>> = value
                    .as_object()?
                    .iter()
                    .map(|(key, value)| {
                        let (key, value) = (string(key), self.element(values, value)?);
                        Some(quote!((#key, #value)))
                    })
                    .collect();
                let entries = entries?;
                quote!(std::collections::BTreeMap::from([#(#entries),*]))
            }
            Shape::Object(fields) => {
                let entries = value.as_object()?;
                let path = self.path(schema)?;
                let fields: Option<Vec<_>> = fields
                    .iter()
                    .map(|field| {
                        let name = field_ident(field);
                        let value = self.field(&field.schema, entries.get(field.name.value.as_str()))?;
                        Some(quote!(#name: #value))
                    })
                    .collect();
                let fields = fields?;
                quote!(#path { #(#fields),* })
            }
            // `resolve` has looked through names.
            Shape::Named(_) => return None,
        })
    }

    /// An item of a list or a value of a map.
    fn element(&self, schema: &Schema, value: &Json) -> Option<TokenStream> {
        if !self.description.is_nullable(schema) {
            return self.value(schema, value);
        }
        if value.is_null() {
            return Some(quote!(None));
        }
        let value = self.value(schema, value)?;
        Some(quote!(Some(#value)))
    }

    /// A field of an object that is given so; absent ones are filled in here too.
    fn field(&self, schema: &Schema, given: Option<&Json>) -> Option<TokenStream> {
        let takes_null = self.description.is_nullable(schema) || self.is_any(schema);
        let given = given.filter(|value| takes_null || !value.is_null());
        let Some(value) = given.or_else(|| self.written(schema)) else {
            return self.is_option(schema).then(|| quote!(None));
        };
        if !self.is_option(schema) {
            return self.value(schema, value);
        }
        if value.is_null() && !self.is_any(schema) {
            return Some(quote!(None));
        }
        let value = self.value(schema, value)?;
        Some(quote!(Some(#value)))
    }

    /// The path of the struct or the enum of a schema.
    fn path(&self, schema: &Schema) -> Option<TokenStream> {
        if let Shape::Named(id) = &schema.shape {
            let name = ident(self.description.type_(*id).name.value.as_str());
            return Some(quote!(#name));
        }
        let TypeName { module, name } = self
            .names
            .0
            .get(&(self.root.clone(), std::ptr::from_ref(schema)))?;
        Some(if *module == self.module {
            quote!(#name)
        } else {
            quote!(crate::#module::#name)
        })
    }
}

/// The name of a field in Rust.
pub(super) fn field_ident(field: &Field) -> Ident {
    let name = field.name.value.rust_field();
    ident(name.strip_prefix("r#").unwrap_or(&name))
}

/// The variant of an enum that is its default in Rust: that of the type, or else the first.
pub(super) fn first_variant<'v>(schema: &Schema, mut values: impl Iterator<Item = &'v str>) -> usize {
    let default = schema.default.as_ref().and_then(|default| default.value.as_str());
    values.position(|value| Some(value) == default).unwrap_or(0)
}

fn string(text: &str) -> TokenStream {
    if text.is_empty() {
        return quote!(String::new());
    }
    quote!(#text.to_owned())
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

/// A value as `serde_json::json!` takes it.
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
            // The macro takes a number without a suffix for an `i32`.
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

/// A time in UTC that every parser of RFC 3339 reads.
fn plain_time(text: &str) -> Option<&str> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let digits = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text
                .bytes()
                .zip(pattern.bytes())
                .all(|(byte, wanted)| match wanted {
                    b'0' => byte.is_ascii_digit(),
                    other => byte == other,
                })
    };
    let is_fraction = (1..=9).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    (digits(date, "0000-00-00") && digits(time, "00:00:00") && is_fraction).then_some(text)
}
