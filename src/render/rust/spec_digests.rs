//! The digests by which the machine detects changes of the spec, in addition to the generation.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;

use crate::machine::digested_fields;
use crate::model::{Description, Kind, Schema, Shape};

use super::{KindNames, defaults::Defaults};

/// `fn spec_digests` of the machine, if the kind keeps digests.
pub fn spec_digests(description: &Description, kind: &Kind) -> Option<TokenStream> {
    let KindNames {
        module, kind: object, ..
    } = KindNames::of(kind);
    let digest = kind.converts().then(|| {
        quote! {
            fn spec_digest(object: &crate::#module::#object) -> Option<u64> {
                Some(rt::spec_digest(&object.spec))
            }
        }
    });
    let paths = digested_fields(kind);
    let is_along = |names: &[&str], path: &[&str]| path.iter().zip(names).all(|(one, other)| one == other);
    let mut defaults = Vec::new();
    find_defaults(Defaults { description }, &kind.spec, (&[], 0), &mut defaults);
    for level in &mut defaults {
        level.retain(|names| paths.iter().any(|(_, path)| is_along(names, path)));
    }
    defaults.retain(|level| !level.is_empty());
    let defaults = defaults.iter().map(|level| {
        let level = level.iter().map(|names| quote!(&[#(#names),*]));
        quote!(&[#(#level),*])
    });
    let fields = paths.iter().map(|(path, names)| quote!((#path, &[#(#names),*])));
    kind.keeps_digests().then(|| {
        quote! {
            #digest
            fn spec_digests(object: &crate::#module::#object) -> Vec<rt::SpecDigest> {
                rt::spec_digests(&object.spec, &[#(#fields),*], &[#(#defaults),*])
            }
        }
    })
}

/// Collects the paths to the fields of a schema that have defaults, by the number of fields with defaults above them.
/// `above` is the path to the schema, and the number of such fields in it.
fn find_defaults<'a>(
    all: Defaults<'a>,
    schema: &'a Schema,
    above: (&[&'a str], usize),
    found: &mut Vec<BTreeSet<Vec<&'a str>>>,
) {
    let (names, level) = above;
    let with = |name| [names, &[name]].concat();
    match &all.description.resolve(schema).shape {
        Shape::Object(fields) => {
            for field in fields {
                let names = with(field.name.value.as_str());
                let is_filled = all.fills_in(&field.schema);
                if is_filled {
                    found.resize_with(found.len().max(level + 1), BTreeSet::new);
                    found[level].insert(names.clone());
                }
                find_defaults(
                    all,
                    &field.schema,
                    (&names, level + usize::from(is_filled)),
                    found,
                );
            }
        }
        Shape::List(items) => find_defaults(all, items, above, found),
        Shape::Map(values) => find_defaults(all, values, (&with(""), level), found),
        _ => {}
    }
}
