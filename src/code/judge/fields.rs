//! The rules on fields of generated structs, in literals and patterns.

use super::{CodeCheck, Located};
use crate::catalog::{FIELD_ADDED, FIELD_GONE};
use crate::code::items::unraw;
use crate::finding::{Finding, nearest};

impl CodeCheck<'_, '_> {
    /// Finds fields that the struct does not have, and fields that a literal or a pattern lacks.
    pub(super) fn fields(&self) -> Vec<Located> {
        let mut found = Vec::new();
        for used in &self.facts.structs {
            let owner = unraw(&used.of.ident);
            let fields: Vec<String> = used
                .of
                .fields
                .iter()
                .filter_map(|field| field.ident.as_ref().map(unraw))
                .collect();
            for (name, at) in used.named.iter().filter(|(name, _)| !fields.contains(name)) {
                let message = format!("`{owner}` has no field `{name}`");
                let finding = Finding::new(&FIELD_GONE, at.span, message)
                    .help("name a field that krator.yaml has, or add this one there and run `krator gen`")
                    .did_you_mean(nearest(name, fields.iter().map(String::as_str)));
                found.push((Some(at.file), finding));
            }
            let is_named = |field: &String| used.named.iter().any(|(name, _)| name == field);
            let missing: Vec<String> = fields
                .iter()
                .filter(|field| !used.has_rest && !is_named(field))
                .map(|field| format!("`{field}`"))
                .collect();
            if !missing.is_empty() {
                let fields = if missing.len() == 1 {
                    "the field"
                } else {
                    "the fields"
                };
                let message = format!("`{owner}` has {fields} {} too", missing.join(", "));
                let finding = Finding::new(&FIELD_ADDED, used.at.span, message)
                    .help("name it, or leave the rest to `..`");
                found.push((Some(used.at.file), finding));
            }
        }
        found
    }
}
