//! Other kinds, as `owns`, `watches`, `access` and `wait` name them.

use std::collections::BTreeMap;

use super::keys::Keys;
use super::nodes::{boolean, is_empty_list, list, name, name_of, named, text};
use super::paths::{Fields, Leaf};
use super::schema::kubernetes_reference;
use super::sink::Sink;
use crate::catalog::keys::{AccessKey, OwnedKey, SectionKey as _, WatchKey};
use crate::catalog::{INVALID_NAME, MISSING_KEY, UNKNOWN_KIND, WILDCARD_ACCESS, WRONG_TYPE};
use crate::finding::{Finding, Spanned};
use crate::model::{
    Access, ChildDeletion, FieldPath, ForeignKind, Grant, KindId, LookIn, ObjectKind, Owned, PathRoot,
    Resource, Watch, WatchBy, kubernetes,
};
use crate::names::{GroupName, KindName, LabelKey, NamespaceName, ResourceName, Verb, VersionName, plural};
use crate::spec::Node;
use crate::text::shown;

/// Resolves references to kinds: a kind of this file first, then those of `schemas` and of Kubernetes, then unknown ones.
pub(super) struct Kinds<'m> {
    pub described: &'m [Resource],
    pub foreign: &'m [ForeignKind],
}

impl Kinds<'_> {
    /// Reads `group/version.Kind`, with the `plural` that is written beside it, if any.
    fn reference(
        &self,
        node: &Node,
        plural_node: Option<&Node>,
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<ObjectKind>> {
        let written = text(node, sink)?;
        if written.contains('*') {
            sink.report(
                Finding::new(
                    &WILDCARD_ACCESS,
                    written.span,
                    "`*` grants more than anybody can know",
                )
                .help("name each kind, verb and resource"),
            );
            return None;
        }
        let Some(reference) = kubernetes_reference(&written.value) else {
            let message = format!("`{}` is not a reference to a kind", shown(&written.value));
            let help = "a kind is `group/version.Kind`, such as `core/v1.Service` or `apps/v1.Deployment`";
            sink.report(Finding::new(&INVALID_NAME, written.span, message).help(help));
            return None;
        };
        let plural_node = plural_node
            .and_then(|node| name(node, "plural", ResourceName::parse, sink))
            .map(|plural| plural.value);
        let kind = named(&reference.name, written.span, "kind", KindName::parse, sink)?.value;
        named(
            &reference.version,
            written.span,
            "version",
            VersionName::parse,
            sink,
        )?;
        let is_native = kubernetes::has_group(&reference.group);
        if !is_native {
            named(&reference.group, written.span, "group", GroupName::parse, sink)?;
        }
        let described = self.described.iter().position(|resource| {
            resource.group.as_str() == reference.group && resource.kind.as_str() == reference.name
        });
        if let Some(id) = described {
            let resource = &self.described[id];
            if resource.version.as_str() != reference.version {
                let message = format!(
                    "this file describes version `{}` of the kind",
                    resource.version.value
                );
                sink.report(
                    Finding::new(&UNKNOWN_KIND, written.span, message)
                        .related(resource.version.span, "described here"),
                );
            }
            return Some(written.map(|_| ObjectKind {
                group: reference.group,
                version: reference.version,
                kind,
                plural: resource.plural.value.clone(),
                scope: Some(resource.scope.value),
                described: Some(KindId(id)),
                has_type: false,
            }));
        }
        let foreign = self.foreign.iter().find(|foreign| {
            (&foreign.group, &foreign.version) == (&reference.group, &reference.version)
                && foreign.kind == kind
        });
        if let Some(foreign) = foreign {
            return Some(written.map(|_| ObjectKind {
                group: reference.group,
                version: reference.version,
                kind,
                plural: foreign.plural.clone(),
                scope: Some(foreign.scope),
                described: None,
                has_type: false,
            }));
        }
        let known = kubernetes::resource(&reference.group, &reference.version, &reference.name);
        if known.is_none() && is_native && kubernetes::has_version(&reference.group, &reference.version) {
            let message = format!("Kubernetes has no kind `{}`", shown(&written.value));
            let suggestion = sink.suggest(&written.value, kubernetes::kinds());
            sink.report(Finding::new(&UNKNOWN_KIND, written.span, message).did_you_mean(suggestion));
            return None;
        }
        let plural = match (plural_node, known) {
            (Some(plural), _) => plural,
            (None, Some((plural, _))) => ResourceName::parse(plural).ok()?,
            (None, None) => ResourceName::parse(&plural(kind.as_str())).ok()?,
        };
        let group = if reference.group == "core" {
            String::new()
        } else {
            reference.group
        };
        Some(written.map(|_| ObjectKind {
            group,
            version: reference.version,
            kind,
            plural,
            scope: known.map(|(_, scope)| scope),
            described: None,
            has_type: known.is_some(),
        }))
    }

    /// Reads a kind that is written as a reference only.
    pub fn kind(&self, node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<ObjectKind>> {
        self.reference(node, None, sink)
    }

    /// Reads `owns`.
    pub fn owns(&self, node: &Node, sink: &mut Sink<'_>) -> Vec<Owned> {
        let mut owned: Vec<Owned> = Vec::new();
        let mut seen = BTreeMap::new();
        for item in list(node, "a list of kinds", sink) {
            let (kind, deletion) = if item.scalar().is_some() {
                (self.kind(item, sink), None)
            } else if let Some(mut keys) = Keys::of(item, sink) {
                let kind = keys.get(OwnedKey::Kind, sink);
                let plural = keys.get(OwnedKey::Plural, sink);
                let deletion = keys.word(OwnedKey::Deletion, &ChildDeletion::ALL, sink);
                keys.finish(sink);
                let kind = kind.and_then(|kind| self.reference(kind, plural, sink));
                (kind, deletion)
            } else {
                (None, None)
            };
            let Some(kind) = kind else { continue };
            let key = (kind.group.clone(), kind.kind.clone());
            if let Some(first) = seen.get(&key) {
                let message = format!("`{}` is owned twice", kind.reference());
                sink.report(Finding::new(&WRONG_TYPE, kind.span, message).related(*first, "first here"));
                continue;
            }
            seen.insert(key, kind.span);
            let deletion = deletion.unwrap_or_else(|| Spanned::new(ChildDeletion::default(), kind.span));
            owned.push(Owned { kind, deletion });
        }
        owned
    }

    /// Reads `watches`.
    pub fn watches(&self, node: &Node, fields: &Fields<'_, '_>, sink: &mut Sink<'_>) -> Vec<Watch> {
        let mut watches = Vec::new();
        for item in list(node, "a list of watched kinds", sink) {
            let Some(mut keys) = Keys::of(item, sink) else {
                continue;
            };
            let kind_node = keys.get(WatchKey::Kind, sink);
            let plural = keys.get(WatchKey::Plural, sink);
            let kind = kind_node.and_then(|node| self.reference(node, plural, sink));
            let ways: Vec<&str> = [WatchKey::By, WatchKey::Label, WatchKey::All]
                .into_iter()
                .filter(|key| keys.has(*key))
                .map(|key| key.key().name)
                .collect();
            let head = keys.head();
            match ways[..] {
                [_] => {}
                [] => sink.report(
                    Finding::new(&MISSING_KEY, head, "a watched kind has no `by`")
                        .help("`by: PATH` for objects that a field names, `label: KEY`, or `all: true`"),
                ),
                _ => sink.error(
                    &WRONG_TYPE,
                    head,
                    format!("a watched kind has only one of {}", ways.join(", ")),
                ),
            }
            let names = &[Leaf::String, Leaf::Open];
            let by_path = keys
                .read(WatchKey::By, sink, |node, sink| {
                    watched_path(node, fields, names, sink)
                })
                .map(WatchBy::Path);
            let by_label = keys
                .read(WatchKey::Label, sink, name_of("label", LabelKey::parse))
                .map(WatchBy::Label);
            let all = keys.read(WatchKey::All, sink, |node, sink| {
                let all = boolean(node, sink)?;
                if !all.value {
                    sink.error(&WRONG_TYPE, all.span, "`all` is `true` or absent");
                }
                Some(WatchBy::All)
            });
            let namespace = keys.read(WatchKey::Namespace, sink, |node, sink| {
                if node.scalar().is_some_and(|scalar| scalar.text.starts_with('.')) {
                    Some(watched_path(node, fields, names, sink)?.map(LookIn::Path))
                } else {
                    Some(name(node, "namespace", NamespaceName::parse, sink)?.map(LookIn::Name))
                }
            });
            keys.finish(sink);
            if let (Some(kind), Some(by)) = (kind, by_path.or(by_label).or(all)) {
                watches.push(Watch { kind, by, namespace });
            }
        }
        watches
    }

    /// Reads `access`.
    pub fn access(&self, node: &Node, sink: &mut Sink<'_>) -> Vec<Access> {
        let mut access = Vec::new();
        for item in list(node, "a list of rights", sink) {
            let Some(mut keys) = Keys::of(item, sink) else {
                continue;
            };
            let kind = keys.read(AccessKey::Kind, sink, |node, sink| self.kind(node, sink));
            let verbs = keys.read_all(AccessKey::Verbs, sink, |node, sink| {
                let nodes = list(node, "a list of verbs", sink);
                if is_empty_list(node) {
                    sink.report(
                        Finding::new(&WRONG_TYPE, node.span, "a right needs at least one verb").help(
                            "name what the operator does, as in `[get, list]`, or remove the whole right",
                        ),
                    );
                }
                nodes.iter().filter_map(|node| verb(node, sink)).collect()
            });
            let resource = keys.read(AccessKey::Resource, sink, grant);
            keys.finish(sink);
            if let (Some(kind), false) = (kind, verbs.is_empty()) {
                access.push(Access {
                    kind,
                    verbs,
                    resource,
                });
            }
        }
        access
    }
}

/// A path into `.spec`, `.status` or `.metadata.labels`.
fn watched_path(
    node: &Node,
    fields: &Fields<'_, '_>,
    wanted: &[Leaf],
    sink: &mut Sink<'_>,
) -> Option<Spanned<FieldPath>> {
    let path = fields.path(node, wanted, sink)?;
    if path.root == PathRoot::Metadata {
        sink.error(
            &WRONG_TYPE,
            path.span,
            "only `.spec`, `.status` and `.metadata.labels` name other objects",
        );
        return None;
    }
    Some(path)
}

fn verb(node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<Verb>> {
    const KNOWN: [&str; 13] = [
        "get",
        "list",
        "watch",
        "create",
        "update",
        "patch",
        "delete",
        "deletecollection",
        "bind",
        "escalate",
        "impersonate",
        "use",
        "approve",
    ];
    if node.scalar().is_some_and(|scalar| scalar.text.contains('*')) {
        sink.report(
            Finding::new(
                &WILDCARD_ACCESS,
                node.span,
                "`*` grants more than anybody can know",
            )
            .help("name each verb"),
        );
        return None;
    }
    let verb = name(node, "verb", Verb::parse, sink)?;
    // Other verbs exist (`sign`, `attest`), but not one that is nearly one of these.
    if !KNOWN.contains(&verb.as_str())
        && let Some(suggestion) = sink.suggest(verb.as_str(), KNOWN)
    {
        let message = format!("`{}` is not a verb", verb.value);
        sink.report(Finding::new(&WRONG_TYPE, verb.span, message).did_you_mean(Some(suggestion)));
    }
    Some(verb)
}

fn grant(node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<Grant>> {
    let written = text(node, sink)?;
    if written.contains('*') {
        sink.report(
            Finding::new(
                &WILDCARD_ACCESS,
                node.span,
                "`*` grants more than anybody can know",
            )
            .help("name each resource"),
        );
        return None;
    }
    let (plural, subresource) = match written.split_once('/') {
        Some((plural, subresource)) => (plural, Some(subresource)),
        None => (written.as_str(), None),
    };
    let plural = named(plural, written.span, "resource", ResourceName::parse, sink)?.value;
    let subresource = match subresource {
        Some(subresource) => Some(
            named(
                subresource,
                written.span,
                "subresource",
                ResourceName::parse,
                sink,
            )?
            .value,
        ),
        None => None,
    };
    Some(written.map(|_| Grant { plural, subresource }))
}
