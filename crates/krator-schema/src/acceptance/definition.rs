//! Validates the parts of a definition around its schema: names, scope, versions, subresources, columns and selectable
//! fields.

use std::collections::BTreeSet;

use krator_cel::{formats, names};

use super::problems::Problems;
use super::{field_path, structural, validate_schema};
use crate::definition::{Column, Definition, Names, SelectableField, Subresources, Version};
use crate::{Path, Problem, ProblemKind, Schema};

const SELECTABLE_FIELDS: usize = 8;

/// The reasons why the API server would refuse to create a CRD with this `spec`. The CRD is assumed to have the
/// required name, and no annotations except `approval`. The CEL rules themselves are not checked, but the defaults are
/// checked against them.
///
/// Paths are those that the API server prints. Before validation, it moves the parts that all versions share to the
/// `spec`. So the schema of a definition with a single version is at `spec.validation.openAPIV3Schema`, and its
/// subresources, columns and selectable fields are at `spec.subresources`, `spec.additionalPrinterColumns` and
/// `spec.selectableFields`. Parts that differ between versions are at `spec.versions[0].schema.openAPIV3Schema` and so
/// on. There are two differences from the printed paths: a name with dots, such as `openAPIV3Schema.type`, is split
/// into fields here, and indexes in a default have no dot before them, as in `default[0]` for `default.[0]`.
///
/// `approval` is the annotation `api-approved.kubernetes.io`, which is required for groups of Kubernetes itself.
pub fn validate_definition(definition: &Definition, approval: Option<&str>) -> Vec<Problem> {
    let mut found = Problems::default();
    let root = Path::root();
    found.metadata(definition, approval, &root.field("metadata"));
    found
        .0
        .extend(super::size::validate(definition, &root.field("spec")));
    found.spec(&Moved::new(definition), &root.field("spec"));
    found.0
}

/// Whether the API server accepts a text as the approval of an API in a group of Kubernetes: a URL, or a text that
/// begins with `unapproved`.
pub fn is_approval(text: &str) -> bool {
    text.starts_with("unapproved") || formats::is_url_with_host(text)
}

/// A definition in the internal form of the API server.
struct Moved<'a> {
    definition: &'a Definition,
    names: Names,
    versions: Vec<VersionParts<'a>>,
    common: VersionParts<'a>,
}

/// The parts of a version, or the parts that all versions share.
#[derive(Default)]
struct VersionParts<'a> {
    schema: Option<Option<&'a Schema>>,
    subresources: Option<&'a Subresources>,
    columns: &'a [Column],
    selectable: &'a [SelectableField],
}

impl<'a> Moved<'a> {
    fn new(definition: &'a Definition) -> Self {
        let mut names = definition.names.clone();
        if names.singular.is_empty() {
            names.singular = names.kind.to_lowercase();
        }
        if names.list_kind.is_empty() && !names.kind.is_empty() {
            names.list_kind = format!("{}List", names.kind);
        }
        let mut versions: Vec<VersionParts<'a>> = definition
            .versions
            .iter()
            .map(|version| VersionParts {
                schema: version
                    .schema
                    .as_ref()
                    .map(|schema| schema.open_api_v3_schema.as_ref()),
                subresources: version.subresources.as_ref(),
                columns: &version.additional_printer_columns,
                selectable: &version.selectable_fields,
            })
            .collect();
        let mut common = VersionParts::default();
        if let [first, others @ ..] = &mut versions[..] {
            if others.iter().all(|other| other.schema == first.schema) {
                common.schema = first.schema.take();
                others.iter_mut().for_each(|other| other.schema = None);
            }
            if others
                .iter()
                .all(|other| other.subresources == first.subresources)
            {
                common.subresources = first.subresources.take();
                others.iter_mut().for_each(|other| other.subresources = None);
            }
            if others.iter().all(|other| other.columns == first.columns) {
                common.columns = std::mem::take(&mut first.columns);
                others.iter_mut().for_each(|other| other.columns = &[]);
            }
            if others.iter().all(|other| other.selectable == first.selectable) {
                common.selectable = std::mem::take(&mut first.selectable);
                others.iter_mut().for_each(|other| other.selectable = &[]);
            }
        }
        Moved {
            definition,
            names,
            versions,
            common,
        }
    }
}

impl Problems {
    fn required(&mut self, path: &Path) {
        self.add(path, ProblemKind::Required, "is required");
    }

    fn invalid(&mut self, path: &Path, detail: impl Into<String>) {
        self.add(path, ProblemKind::Invalid, detail);
    }

    /// Reports all errors of a name as one problem.
    fn name(&mut self, path: &Path, wrong: Vec<String>) {
        if !wrong.is_empty() {
            self.invalid(path, wrong.join(","));
        }
    }

    fn metadata(&mut self, definition: &Definition, approval: Option<&str>, path: &Path) {
        let name = format!("{}.{}", definition.names.plural, definition.group);
        for wrong in names::dns_1123_subdomain(&name) {
            self.invalid(&path.field("name"), wrong);
        }
        let under = |domain: &str| {
            let prefix = definition.group.strip_suffix(domain);
            prefix.is_some_and(|prefix| prefix.is_empty() || prefix.ends_with('.'))
        };
        if under("k8s.io") || under("kubernetes.io") {
            let path = path.field("annotations").key("api-approved.kubernetes.io");
            match approval.filter(|approval| !approval.is_empty()) {
                None => self.add(
                    &path,
                    ProblemKind::Required,
                    "protected groups must have approval annotation \"api-approved.kubernetes.io\", see \
                     https://github.com/kubernetes/enhancements/pull/1111",
                ),
                Some(approval) if !is_approval(approval) => self.add(
                    &path,
                    ProblemKind::Invalid,
                    "protected groups must have approval annotation \"api-approved.kubernetes.io\" with either a URL or \
                     a reason starting with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111",
                ),
                Some(_) => {}
            }
        }
    }

    fn spec(&mut self, moved: &Moved<'_>, path: &Path) {
        let definition = moved.definition;
        let group = path.field("group");
        if definition.group.is_empty() {
            self.required(&group);
        } else {
            let wrong = names::dns_1123_subdomain(&definition.group);
            if wrong.is_empty() && !definition.group.contains('.') {
                self.invalid(&group, "should be a domain with at least one dot");
            }
            self.name(&group, wrong);
        }
        match definition.scope.as_str() {
            "" => self.required(&path.field("scope")),
            "Cluster" | "Namespaced" => {}
            _ => self.add(
                &path.field("scope"),
                ProblemKind::NotSupported,
                "supported values: \"Cluster\", \"Namespaced\"",
            ),
        }
        if definition.preserve_unknown_fields == Some(true) {
            self.invalid(
                &path.field("preserveUnknownFields"),
                "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
            );
        }
        self.versions(moved, path);
        self.names(&moved.names, &path.field("names"));

        let common = &moved.common;
        let status = std::iter::once(common)
            .chain(&moved.versions)
            .any(|part| has_status(part.subresources));
        self.part(common, path, &path.field("validation"), status);
    }

    fn versions(&mut self, moved: &Moved<'_>, path: &Path) {
        let versions = &moved.definition.versions;
        let path = path.field("versions");
        let mut seen = BTreeSet::new();
        let unique = versions
            .iter()
            .filter(|version| seen.insert(&version.name))
            .count()
            == versions.len();
        if !unique {
            self.invalid(&path, "must contain unique version names");
        }
        if versions.iter().filter(|version| version.storage).count() != 1 {
            self.invalid(&path, "must have exactly one version marked as storage version");
        }
        // The server uses the first storage version as the stored version.
        let status = Path::root().field("status").field("storedVersions");
        let mut stored = versions
            .iter()
            .find(|version| version.storage)
            .map(|version| &version.name);
        if stored.is_none() {
            self.invalid(&status, "must have at least one stored version");
        }
        for version in versions {
            let is_stored = stored.take_if(|stored| **stored == version.name).is_some();
            if version.storage && !is_stored {
                self.invalid(&status, format!("must have the storage version {}", version.name));
            }
        }
        if let Some(first) = versions.first().filter(|version| !version.name.is_empty()) {
            self.name(
                &Path::root().field("spec").field("version"),
                names::dns_1035_label(&first.name),
            );
        }
        for (index, (version, part)) in versions.iter().zip(&moved.versions).enumerate() {
            let path = path.index(index);
            self.name(&path.field("name"), names::dns_1035_label(&version.name));
            self.deprecation(version, &path.field("deprecationWarning"));
            let has_schema = |schema: Option<Option<&Schema>>| schema.flatten().is_some();
            if !has_schema(part.schema) && !has_schema(moved.common.schema) {
                self.required(&path.field("schema").field("openAPIV3Schema"));
            }
            let subresources = part.subresources.or(moved.common.subresources);
            self.part(part, &path, &path.field("schema"), has_status(subresources));
        }
    }

    /// Validates the parts of a version, or the shared parts: the schema, the subresources, the columns and the
    /// selectable fields.
    fn part(&mut self, part: &VersionParts<'_>, path: &Path, schema_path: &Path, status: bool) {
        if let Some(schema) = part.schema.flatten() {
            let path = schema_path.field("openAPIV3Schema");
            self.0.extend(validate_schema(schema, &path, status));
        }
        self.subresources(part.subresources, &path.field("subresources"));
        for (index, column) in part.columns.iter().enumerate() {
            self.column(column, &path.field("additionalPrinterColumns").index(index));
        }
        let path = path.field("selectableFields");
        match part.schema.flatten() {
            _ if part.selectable.is_empty() => {}
            Some(schema) if structural::unsupported(schema).is_none() => {
                self.selectable(part.selectable, schema, &path);
            }
            Some(_) => {}
            None => self.invalid(&path, "may only be set when a schema is included"),
        }
    }

    fn deprecation(&mut self, version: &Version, path: &Path) {
        let Some(warning) = &version.deprecation_warning else {
            return;
        };
        if !version.deprecated {
            self.invalid(path, "can only be set for deprecated versions");
            return;
        }
        if warning.len() > 256 {
            self.invalid(path, "must be <= 256 characters long");
        }
        if warning.is_empty() {
            self.invalid(path, "must not be an empty string");
        }
        if warning.chars().any(char::is_control) {
            self.invalid(path, "must only contain printable UTF-8 characters");
        }
    }

    fn names(&mut self, names: &Names, path: &Path) {
        let mixed_case = |name: &str| {
            let wrong = names::dns_1035_label(&name.to_lowercase());
            (!wrong.is_empty()).then(|| {
                format!(
                    "may have mixed case, but should otherwise match: {}",
                    wrong.join(",")
                )
            })
        };
        for (field, name, mixed) in [
            ("plural", &names.plural, false),
            ("singular", &names.singular, false),
            ("kind", &names.kind, true),
            ("listKind", &names.list_kind, true),
        ] {
            let path = path.field(field);
            match mixed {
                _ if name.is_empty() => self.required(&path),
                true => self.name(&path, mixed_case(name).into_iter().collect()),
                false => self.name(&path, names::dns_1035_label(name)),
            }
        }
        for (field, list) in [
            ("shortNames", &names.short_names),
            ("categories", &names.categories),
        ] {
            for (index, name) in list.iter().enumerate() {
                self.name(&path.field(field).index(index), names::dns_1035_label(name));
            }
        }
        if !names.kind.is_empty() && names.kind == names.list_kind {
            self.invalid(&path.field("listKind"), "kind and listKind may not be the same");
        }
    }

    fn subresources(&mut self, subresources: Option<&Subresources>, path: &Path) {
        let Some(scale) = subresources.and_then(|subresources| subresources.scale.as_ref()) else {
            return;
        };
        let path = path.field("scale");
        for (field, value, under) in [
            (
                "specReplicasPath",
                Some(&scale.spec_replicas_path),
                &[".spec."][..],
            ),
            (
                "statusReplicasPath",
                Some(&scale.status_replicas_path),
                &[".status."],
            ),
            (
                "labelSelectorPath",
                scale.label_selector_path.as_ref(),
                &[".spec.", ".status."],
            ),
        ] {
            let path = path.field(field);
            match value.map_or("", String::as_str) {
                "" if field == "labelSelectorPath" => {}
                "" => self.required(&path),
                value if !value.starts_with('.') => self.json_path(value, &path),
                value if under.iter().any(|under| value.starts_with(under)) => {}
                _ => {
                    let under: Vec<&str> = under.iter().map(|under| under.trim_end_matches('.')).collect();
                    self.invalid(
                        &path,
                        format!("should be a json path under {}", under.join(" or ")),
                    );
                }
            }
        }
    }

    fn json_path(&mut self, value: &str, path: &Path) {
        if !value.starts_with('.') {
            self.invalid(path, "must be a simple json path starting with .");
        }
    }

    fn column(&mut self, column: &Column, path: &Path) {
        const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
        const FORMATS: [&str; 8] = [
            "byte",
            "date",
            "date-time",
            "double",
            "float",
            "int32",
            "int64",
            "password",
        ];
        if column.name.is_empty() {
            self.required(&path.field("name"));
        }
        let one_of = |values: &[&str]| format!("must be one of {}", values.join(","));
        if column.type_.is_empty() {
            self.add(&path.field("type"), ProblemKind::Required, one_of(&TYPES));
        } else if !TYPES.contains(&column.type_.as_str()) {
            self.invalid(&path.field("type"), one_of(&TYPES));
        }
        if !column.format.is_empty() && !FORMATS.contains(&column.format.as_str()) {
            self.invalid(&path.field("format"), one_of(&FORMATS));
        }
        let path = path.field("JSONPath");
        match column.json_path.as_str() {
            "" => self.required(&path),
            value => self.json_path(value, &path),
        }
    }

    fn selectable(&mut self, fields: &[SelectableField], schema: &Schema, path: &Path) {
        let mut unique = BTreeSet::new();
        for (index, field) in fields.iter().enumerate() {
            let path = path.index(index).field("jsonPath");
            if field.json_path.is_empty() {
                self.required(&path);
                continue;
            }
            let (found, schema) = match field_path::resolve(&field.json_path, schema, false) {
                Ok(found) => found,
                Err(error) => {
                    self.invalid(&path, format!("is an invalid path: {error}"));
                    continue;
                }
            };
            if found.to_string().split(['.', '[']).next() == Some("metadata") {
                self.invalid(&path, "must not point to fields in metadata");
            }
            let type_ = schema.and_then(|schema| schema.type_.as_deref());
            if !matches!(type_, Some("string" | "boolean" | "integer")) {
                self.invalid(
                    &path,
                    "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                     formats are allowed.",
                );
            }
            if !unique.insert(found) {
                self.add(
                    &path,
                    ProblemKind::Duplicate,
                    format!("duplicate value: {}", field.json_path),
                );
            }
        }
        if unique.len() > SELECTABLE_FIELDS {
            self.add(
                path,
                ProblemKind::TooMany,
                format!("must have at most {SELECTABLE_FIELDS} items"),
            );
        }
    }
}

fn has_status(subresources: Option<&Subresources>) -> bool {
    subresources.is_some_and(|subresources| {
        subresources
            .status
            .as_ref()
            .is_some_and(|status| !status.is_null())
    })
}
