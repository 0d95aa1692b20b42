//! What tells the machine that the spec has changed, beside the generation.

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::{Kind, Segment};

use super::KindNames;

/// `fn spec_digests` of the machine, if the kind keeps digests.
pub fn spec_digests(kind: &Kind) -> Option<TokenStream> {
    let KindNames {
        module, kind: object, ..
    } = KindNames::of(kind);
    let paths = kind.told_apart();
    let whole = kind.converts().then(|| quote!((".spec", &[])));
    let digest = kind.converts().then(|| {
        quote! {
            fn spec_digest(object: &crate::#module::#object) -> Option<u64> {
                Some(rt::spec_digest(&object.spec))
            }
        }
    });
    let fields = paths.iter().map(|path| {
        let text = path.to_string();
        let names = path.segments.iter().filter_map(|segment| match segment {
            Segment::Field(name) => Some(name),
            // Such a path is refused here.
            Segment::Each | Segment::Where { .. } => None,
        });
        quote!((#text, &[#(#names),*]))
    });
    let fields = whole.into_iter().chain(fields);
    kind.keeps_digests().then(|| {
        quote! {
            #digest
            fn spec_digests(object: &crate::#module::#object) -> Vec<rt::SpecDigest> {
                rt::spec_digests(&object.spec, &[#(#fields),*])
            }
        }
    })
}
