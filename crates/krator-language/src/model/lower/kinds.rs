//! References to other kinds in `owns`, `watches`, `access` and `wait`.

use std::collections::BTreeMap;

use super::keys::Keys;
use super::nodes::{Input, boolean, is_empty_list, list, name, name_of, named, text};
use super::paths::{Fields, Leaf};
use super::schema::kubernetes_reference;
use super::sink::Sink;
use crate::catalog::keys::{AccessKey, OwnedKey, SectionKey as _, WatchKey};
use crate::catalog::{INVALID_NAME, MISSING_KEY, UNKNOWN_KIND, WILDCARD_ACCESS, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{
    Access, ChildDeletion, FieldPath, ForeignKind, Grant, Kind, KindId, KubernetesType, LookIn, ObjectKind,
    Owned, PathRoot, Resource, Scope, Watch, WatchBy, kubernetes,
};
use crate::names::{
    GroupName, KindName, LabelKey, NamespaceName, ResourceName, VERBS, Verb, VersionName, plural,
};
use crate::text::shown;

/// Resolves references to kinds: first to a kind of this file, then to one of `schemas` or of Kubernetes, and otherwise
/// to an unknown kind.
pub(super) struct Kinds<'m> {
    pub described: &'m [Resource],
    pub foreign: &'m [ForeignKind],
}

impl Kinds<'_> {
    /// Reads `group/version.Kind`, with its `plural` and `scope`, if any.
    fn reference(
        &self,
        node: Input<'_>,
        plural_node: Option<Input<'_>>,
        scope: Option<Spanned<Scope>>,
    ) -> Option<Spanned<ObjectKind>> {
        let mut kind = self.known(node, plural_node)?;
        let Some(scope) = scope else { return Some(kind) };
        let known = *kind.value.scope.get_or_insert(scope.value);
        if known != scope.value {
            let message = match known {
                Scope::Namespaced => format!("objects of the kind `{}` are namespaced", kind.kind),
                Scope::Cluster => format!("objects of the kind `{}` are cluster-scoped", kind.kind),
            };
            node.sink.error(&WRONG_TYPE, scope.span, message);
        }
        Some(kind)
    }

    /// Reads `group/version.Kind`, with the scope from Kubernetes or the description.
    fn known(&self, node: Input<'_>, plural_node: Option<Input<'_>>) -> Option<Spanned<ObjectKind>> {
        let written = text(node)?;
        if refuse_wildcard(&written, "name each kind, verb and resource", node.sink) {
            return None;
        }
        let plural_node = plural_node
            .and_then(|node| name(node, "plural", ResourceName::parse))
            .map(|plural| plural.value);
        let example = "`core/v1.Service` or `apps/v1.Deployment`";
        let (reference, kind) = reference_of(&written, written.span, example, node.sink)?;
        let of = |plural: ResourceName, scope: Option<Scope>| ObjectKind {
            group: reference.group.clone(),
            version: reference.version.clone(),
            kind: kind.clone(),
            plural,
            scope,
            described: None,
            has_type: false,
        };
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
                node.report(
                    Finding::new(&UNKNOWN_KIND, written.span, message)
                        .related(resource.version.span, "described here"),
                );
            }
            return Some(written.map(|_| ObjectKind {
                described: Some(KindId(id)),
                ..of(resource.plural.value.clone(), Some(resource.scope.value))
            }));
        }
        let foreign = self.foreign.iter().find(|foreign| {
            (&foreign.group, &foreign.version) == (&reference.group, &reference.version)
                && foreign.kind == kind
        });
        if let Some(foreign) = foreign {
            return Some(written.map(|_| of(foreign.plural.clone(), Some(foreign.scope))));
        }
        let known = kubernetes::resource(&reference.group, &reference.version, &reference.name);
        if known.is_none() && kubernetes::has_version(&reference.group, &reference.version) {
            let message = format!("Kubernetes has no kind `{}`", shown(&written.value));
            let suggestion = node.sink.suggest(&written.value, kubernetes::kinds());
            return node.refuse(Finding::new(&UNKNOWN_KIND, written.span, message).did_you_mean(suggestion));
        }
        let plural = match (plural_node, known) {
            (Some(plural), _) => plural,
            (None, Some((plural, _))) => ResourceName::parse(plural).ok()?,
            (None, None) => ResourceName::parse(&plural(kind.as_str())).ok()?,
        };
        let found = of(plural, known.map(|(_, scope)| scope));
        Some(written.map(|_| ObjectKind {
            group: if found.group == "core" {
                String::new()
            } else {
                found.group
            },
            has_type: known.is_some(),
            ..found
        }))
    }

    /// Reads a kind without a `plural` or `scope`.
    pub fn kind(&self, node: Input<'_>) -> Option<Spanned<ObjectKind>> {
        self.reference(node, None, None)
    }

    /// Reads `owns`.
    pub fn owns(&self, node: Input<'_>) -> Vec<Owned> {
        let mut owned: Vec<Owned> = Vec::new();
        for item in list(node, "a list of kinds") {
            let read = match item.scalar() {
                Some(_) => self.kind(item).map(|kind| (kind, None)),
                None => Keys::mapping(item, |keys| {
                    let kind = keys.get(OwnedKey::Kind);
                    let plural = keys.get(OwnedKey::Plural);
                    let scope = keys.word(OwnedKey::Scope, &Scope::ALL);
                    let deletion = keys.word(OwnedKey::Deletion, &ChildDeletion::ALL);
                    Some((self.reference(kind?, plural, scope)?, deletion))
                }),
            };
            let Some((kind, deletion)) = read else { continue };
            let is_same = |other: &&Owned| (&other.kind.group, &other.kind.kind) == (&kind.group, &kind.kind);
            if let Some(first) = owned.iter().find(is_same) {
                let message = format!("`{}` is owned twice", kind.reference());
                let finding = Finding::new(&WRONG_TYPE, kind.span, message);
                node.report(finding.related(first.kind.span, "first here"));
                continue;
            }
            let deletion = deletion.unwrap_or_else(|| Spanned::new(ChildDeletion::default(), kind.span));
            owned.push(Owned { kind, deletion });
        }
        owned
    }

    /// Reads `watches`.
    pub fn watches(&self, node: Input<'_>, fields: &Fields<'_, '_>) -> Vec<Watch> {
        Keys::list(node, "a list of watched kinds", |keys| {
            let kind = keys.get(WatchKey::Kind);
            let plural = keys.get(WatchKey::Plural);
            let scope = keys.word(WatchKey::Scope, &Scope::ALL);
            let mut kind = kind.and_then(|node| self.reference(node, plural, scope));
            let mut ways = vec![WatchKey::By, WatchKey::Label, WatchKey::All];
            ways.retain(|key| keys.has(*key));
            match ways[..] {
                [_] => {}
                [] => node.report(
                    Finding::new(&MISSING_KEY, keys.head(), "a watched kind has no `by`").help(
                        "add `by: PATH` for the objects that a field names, `label: KEY`, or `all: true`",
                    ),
                ),
                _ => {
                    let names: Vec<&str> = ways.iter().map(|key| key.key().name).collect();
                    let message = format!("a watched kind can have only one of {}", names.join(", "));
                    node.sink.error(&WRONG_TYPE, keys.head(), message);
                }
            }
            let by_path = keys.read(WatchKey::By, |node| watched_path(node, fields));
            let by_label = keys.read(WatchKey::Label, name_of("label", LabelKey::parse));
            let all = keys.read(WatchKey::All, |node| {
                let all = boolean(node)?;
                if !all.value {
                    node.sink
                        .error(&WRONG_TYPE, all.span, "`all` has to be `true` or absent");
                }
                Some(WatchBy::All)
            });
            let namespace = keys.read(WatchKey::Namespace, |node| match node.is_path() {
                true => Some(watched_path(node, fields)?.map(LookIn::Path)),
                false => Some(name(node, "namespace", NamespaceName::parse)?.map(LookIn::Name)),
            });
            if let (Some(kind), Some(_)) = (&mut kind, &namespace) {
                kind.value.scope.get_or_insert(Scope::Namespaced);
            }
            let by = by_path
                .map(WatchBy::Path)
                .or(by_label.map(WatchBy::Label))
                .or(all);
            Some(Watch {
                kind: kind?,
                by: by?,
                namespace,
            })
        })
    }

    /// Reads `access`.
    pub fn access(&self, node: Input<'_>) -> Vec<Access> {
        Keys::list(node, "a list of rights", |keys| {
            let kind = keys.get(AccessKey::Kind);
            let scope = keys.word(AccessKey::Scope, &Scope::ALL);
            let kind = kind.and_then(|node| self.reference(node, None, scope));
            let verbs = keys.read_all(AccessKey::Verbs, |node| {
                let nodes = list(node, "a list of verbs");
                if is_empty_list(node) {
                    let help = "name the verbs, for example `[get, list]`, or remove the whole right";
                    let message = "a right needs at least one verb";
                    node.report(Finding::new(&WRONG_TYPE, node.span, message).help(help));
                }
                nodes.into_iter().filter_map(verb).collect()
            });
            let resource = keys.read(AccessKey::Resource, grant);
            let kind = kind.filter(|_| !verbs.is_empty())?;
            Some(Access {
                kind,
                verbs,
                resource,
            })
        })
    }
}

/// Gives each kind the scope that any of its references defines, regardless of the version.
pub(super) fn share_scopes(kinds: &mut [Kind], sink: &Sink<'_>) {
    let mut scopes: BTreeMap<(String, KindName), Spanned<Scope>> = BTreeMap::new();
    let key = |other: &ObjectKind| (other.group.clone(), other.kind.clone());
    for other in kinds.iter().flat_map(Kind::other_kinds) {
        let Some(scope) = other.scope else { continue };
        let first = scopes
            .entry(key(other))
            .or_insert(Spanned::new(scope, other.span));
        if first.value != scope {
            let message = format!("the kind `{}` has two scopes", other.kind);
            sink.report(
                Finding::new(&WRONG_TYPE, other.span, message).related(first.span, "the other scope"),
            );
        }
    }
    for kind in kinds {
        let owned = kind.owns.iter_mut().map(|owned| &mut owned.kind);
        let watched = kind.watches.iter_mut().map(|watch| &mut watch.kind);
        let accessed = kind.access.iter_mut().map(|access| &mut access.kind);
        for other in owned.chain(watched).chain(accessed) {
            other.value.scope = scopes.get(&key(other)).map(|scope| scope.value);
        }
    }
}

/// Reads `group/version.Kind` without resolving the kind.
pub(super) fn reference_of(
    written: &str,
    span: Span,
    example: &str,
    sink: &Sink<'_>,
) -> Option<(KubernetesType, KindName)> {
    let Some(reference) = kubernetes_reference(written) else {
        let message = format!("`{}` is not a reference to a kind", shown(written));
        let help = format!("a kind is `group/version.Kind`, such as {example}");
        return sink.refuse(Finding::new(&INVALID_NAME, span, message).help(help));
    };
    let kind = named(&reference.name, span, "kind", KindName::parse_pascal, sink)?;
    named(&reference.version, span, "version", VersionName::parse, sink)?;
    if !kubernetes::has_group(&reference.group) {
        named(&reference.group, span, "group", GroupName::parse, sink)?;
    }
    Some((reference, kind.value))
}

/// Reports `*` where each permission has to be named.
fn refuse_wildcard(written: &Spanned<String>, help: &str, sink: &Sink<'_>) -> bool {
    let is_wildcard = written.contains('*');
    if is_wildcard {
        let message = "`*` also grants access to future kinds and verbs";
        sink.report(Finding::new(&WILDCARD_ACCESS, written.span, message).help(help));
    }
    is_wildcard
}

/// A path into `.spec`, `.status` or `.metadata.labels` to the name of another object.
fn watched_path(node: Input<'_>, fields: &Fields<'_, '_>) -> Option<Spanned<FieldPath>> {
    let path = fields.path(node, &[Leaf::String, Leaf::Open])?;
    if path.root == PathRoot::Metadata {
        let message = "only paths in `.spec`, `.status` and `.metadata.labels` can name other objects";
        return node.sink.refuse(Finding::new(&WRONG_TYPE, path.span, message));
    }
    Some(path)
}

fn verb(node: Input<'_>) -> Option<Spanned<Verb>> {
    const SPECIAL: [&str; 5] = ["bind", "escalate", "impersonate", "use", "approve"];
    let written = text(node)?;
    if refuse_wildcard(&written, "name each verb", node.sink) {
        return None;
    }
    let verb = named(&written, node.span, "verb", Verb::parse, node.sink)?;
    // Other verbs exist (`sign`, `attest`), but none that is similar to one of these.
    let known = VERBS.into_iter().chain(SPECIAL);
    if !known.clone().any(|known| known == verb.as_str())
        && let Some(suggestion) = node.sink.suggest(verb.as_str(), known)
    {
        let message = format!("`{}` is not a verb", verb.value);
        node.report(Finding::new(&WRONG_TYPE, verb.span, message).did_you_mean(Some(suggestion)));
    }
    Some(verb)
}

fn grant(node: Input<'_>) -> Option<Spanned<Grant>> {
    let written = text(node)?;
    if refuse_wildcard(&written, "name each resource", node.sink) {
        return None;
    }
    let part = |text: &str, what: &str| named(text, node.span, what, ResourceName::parse, node.sink);
    let (plural, subresource) = match written.split_once('/') {
        Some((plural, subresource)) => (plural, Some(subresource)),
        None => (written.as_str(), None),
    };
    let plural = part(plural, "resource")?.value;
    let subresource = match subresource {
        Some(subresource) => Some(part(subresource, "subresource")?.value),
        None => None,
    };
    Some(written.map(|_| Grant { plural, subresource }))
}
