//! Fields and values of generated types.

use super::{Judge, Said};
use crate::catalog::{FIELD_ADDED, FIELD_GONE, FIELD_RETYPED, VARIANT_UNMATCHED};
use crate::code::items::{Def, Names};
use crate::code::types::unraw;
use crate::finding::{Finding, nearest};
use quote::ToTokens as _;

impl Judge<'_, '_> {
    /// Fields of generated structs.
    pub(super) fn fields(&self) -> Vec<Said> {
        let mut found = Vec::new();
        for used in &self.facts.fields {
            let owner = unraw(&used.of.ident);
            let field = |of: &syn::ItemStruct| -> Option<String> {
                let field = of
                    .fields
                    .iter()
                    .find(|field| field.ident.as_ref().is_some_and(|i| unraw(i) == used.name))?;
                Some(field.ty.to_token_stream().to_string())
            };
            let Some(now) = field(used.of) else {
                // Said where it is named.
                if !used.is_direct {
                    continue;
                }
                let names: Vec<String> = used
                    .of
                    .fields
                    .iter()
                    .filter_map(|field| field.ident.as_ref().map(unraw))
                    .collect();
                let finding = Finding::new(
                    &FIELD_GONE,
                    used.at.span,
                    format!("`{owner}` has no field `{}`", used.name),
                )
                .help("name a field that krator.yaml has, or add this one there and run `krator gen`")
                .did_you_mean(nearest(&used.name, names.iter().map(String::as_str)));
                found.push((Some(used.at.file), finding));
                continue;
            };
            let path = &self.tree.modules[used.module].path;
            let then = self
                .former
                .get(path)
                .and_then(|former| field(struct_of(former, &owner)?));
            if let Some(then) = then.filter(|then| *then != now) {
                let message = format!("the field `{}` of `{owner}` has another type now", used.name);
                let finding = Finding::new(&FIELD_RETYPED, used.at.span, message)
                    .label(format!("was `{}`, is `{}`", tidy(&then), tidy(&now)))
                    .help("see whether the code means the same with the new type");
                found.push((Some(used.at.file), finding));
            }
        }
        for used in self.facts.structs.iter().filter(|used| !used.has_rest) {
            let owner = unraw(&used.of.ident);
            let fields = used
                .of
                .fields
                .iter()
                .filter_map(|field| field.ident.as_ref().map(unraw));
            let lacking: Vec<String> = fields
                .filter(|field| !used.named.contains(field))
                .map(|field| format!("`{field}`"))
                .collect();
            if !lacking.is_empty() {
                let fields = if lacking.len() == 1 {
                    "the field"
                } else {
                    "the fields"
                };
                let message = format!("`{owner}` has {fields} {} too", lacking.join(", "));
                let finding = Finding::new(&FIELD_ADDED, used.at.span, message)
                    .help("name it, or leave the rest to `..`");
                found.push((Some(used.at.file), finding));
            }
        }
        found
    }

    /// Matches without all variants.
    pub(super) fn matches(&self) -> Vec<Said> {
        let mut found = Vec::new();
        for used in &self.facts.matches {
            let Some((name, module)) = used.of.split_last() else {
                continue;
            };
            let module: Vec<&str> = module.iter().map(String::as_str).collect();
            let defs = self
                .tree
                .module(&module)
                .and_then(|module| self.tree.modules[module].names.defs.get(name));
            let Some(Def::Enum(item)) = defs.into_iter().flatten().find(|def| matches!(def, Def::Enum(_)))
            else {
                continue;
            };
            let variants = item.variants.iter().map(|variant| unraw(&variant.ident));
            let lacking: Vec<String> = variants
                .filter(|variant| !used.covered.contains(variant))
                .map(|variant| format!("`{variant}`"))
                .collect();
            if !lacking.is_empty() {
                let message = format!("no case for {} of `{name}`", lacking.join(", "));
                let finding = Finding::new(&VARIANT_UNMATCHED, used.at.span, message)
                    .help("add the case, or one for the rest: `_ =>`");
                found.push((Some(used.at.file), finding));
            }
        }
        found
    }
}

/// A struct among names.
fn struct_of<'n>(names: &'n Names<'_>, name: &str) -> Option<&'n syn::ItemStruct> {
    names.defs.get(name)?.iter().find_map(|def| match def {
        Def::Struct(item) => Some(*item),
        _ => None,
    })
}

/// A type as people write it.
fn tidy(tokens: &str) -> String {
    let mut text = tokens.to_owned();
    for (loose, tight) in [(" :: ", "::"), (" < ", "<"), (" >", ">"), (" ,", ",")] {
        text = text.replace(loose, tight);
    }
    text
}
