//! The top level of a description, the custom resource, and other kinds.

use super::Type::{
    Either, Integer, Kind, List, Map, Mapping, Name, Path, Phrase, Schema, State, String, True, Word,
};
use super::columns::COLUMN;
use super::deploy::DEPLOY;
use super::machine::{MACHINE, OBJECTIVE, PLACES, PROPERTY, STATE};
use super::schema::SPEC;
use super::versions::VERSION;
use super::webhooks::WEBHOOKS;
use super::{NameOf, optional, required, section};
use crate::names::{
    Category, GroupName, KindName, LabelKey, NamePattern, NamespaceName, OperatorName, ResourceName,
    RustKindName, Verb, VersionName,
};

section! {
    /// The top level.
    DocumentKey in DOCUMENT, "a description":
    Krator = required("krator", Integer { min: 1, max: 1 },
        "The version of the language. It is the first key of each document.",
        "krator: 1");
    Operator = optional("operator", Name(OperatorName::PATTERN),
        "The name of the crate, the Deployment and the ServiceAccount. Only the first document has it.",
        "operator: moose-tracker")
        .default("the kind in kebab case, with `-operator`");
    Doc = optional("doc", String,
        "One paragraph about the operator, for the README, the crate's documentation and the CRD.",
        "doc: Follows every moose that a ranger has tagged.");
    Resource = required("resource", Mapping(&RESOURCE),
        "The custom resource.",
        "resource: {group: animals.com, version: v1, kind: Moose}");
    Types = optional("types", Map { by: NameOf::Type, of: &Schema },
        "Types that phrases refer to by name; each becomes one Rust type. They are common to all documents of the file and not recursive.",
        "types: {Collar: {properties: {serial: string, weight: optional number}}}");
    Spec = required("spec", Either(&[Phrase("the name of a type"), Map { by: NameOf::Field, of: &Schema }, Mapping(&SPEC)]),
        "The fields of `.spec`, or the name of a type. Fields are required unless they are optional or have a default.",
        "spec: {height: {type: number, minimum: 0}, antlers: optional boolean}");
    Status = optional("status", Map { by: NameOf::Field, of: &Schema },
        "Fields of `.status` in addition to those of the machine. They are never required.",
        "status: {herd: string}");
    Columns = optional("columns", List { of: &Mapping(&COLUMN), min: 0, max: None },
        "Printer columns, which come before State, Ready, Message and Age.",
        "columns: [{name: Height, path: .spec.height}]");
    Conditions = optional("conditions", Map { by: NameOf::Condition, of: &String },
        "Conditions that handlers set, in any state, with the meaning of each. In Rust each is a variant of \
         `<Kind>Condition`. The operator does not change conditions that the description does not name.",
        "conditions: {Healthy: The last check found no parasites.}");
    Machine = required("machine", Mapping(&MACHINE),
        "The initial state, the state of deleted objects, and defaults for every state.",
        "machine: {initial: Tagged}");
    Slo = optional("slo", Either(&[Mapping(&OBJECTIVE), List { of: &Mapping(&OBJECTIVE), min: 1, max: Some(8) }]),
        "Service level objectives: the time in which objects should get from one state to another, and the percentage \
         of objects that should meet it. The operator counts the results.",
        "slo: {from: Tagged, to: Roam, within: 5m, objective: 99.9}");
    Limits = optional("limits", List { of: &Mapping(&PLACES), min: 1, max: Some(16) },
        "The maximum number of objects that may be in certain states at once. If a handler or a timeout chooses such a \
         state, the object waits for a place in its present state.",
        "limits: [{name: hungry, states: [Roam], atMost: 3}]");
    States = required("states", Map { by: NameOf::State, of: &Mapping(&STATE) },
        "The state graph: each state with its outgoing edges.",
        "states: {Roam: {wait: {poll: 1m}, next: [Lost]}, Lost: {kind: failed}}");
    Owns = optional("owns", List { of: &Either(&[Kind, Mapping(&OWNED)]), min: 0, max: None },
        "Kinds that the operator creates: it has full access to them, watches them and sets owner references. A change of such an object triggers its owner.",
        "owns: [core/v1.ConfigMap, apps/v1.Deployment]");
    Watches = optional("watches", List { of: &Mapping(&WATCH), min: 0, max: None },
        "Kinds that the operator only reads. A change of such an object triggers every object that refers to it.",
        "watches: [{kind: core/v1.Secret, by: .spec.secretName}]");
    Access = optional("access", List { of: &Mapping(&ACCESS), min: 0, max: None },
        "Further rights of the operator.",
        "access: [{kind: core/v1.Node, verbs: [get, list]}]");
    Schemas = optional("schemas", Map { by: NameOf::Kind, of: &String },
        "Files with the CustomResourceDefinitions of other kinds, which then get Rust types: a path in the folder of \
         the description for each `group/version.Kind`. They are common to all documents.",
        "{owns: [core/v1.ConfigMap, certs.example.com/v1.Certificate], schemas: {certs.example.com/v1.Certificate: crds/certificate.yaml}}");
    Webhooks = optional("webhooks", Mapping(&WEBHOOKS),
        "The webhooks that the API server calls before it stores an object of the kind.",
        "webhooks: {validate: {failurePolicy: Fail}}");
    Versions = optional("versions", Map { by: NameOf::Version, of: &Mapping(&VERSION) },
        "Older versions of the API, the newest of them first. Each is derived from the next newer one by its changes.",
        "spec: {replicas: integer}\nversions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}");
    Admission = optional("admission", Mapping(&ADMISSION),
        "Requests that the API server refuses by the policies in `deploy/policies.yaml`.",
        "admission: {status: operator}");
    Deploy = optional("deploy", Mapping(&DEPLOY),
        "How the operator runs in the cluster. Only the first document has it.",
        "deploy: {namespaces: [forest]}");
    // Each property costs a search through the whole graph.
    Properties = optional("properties", List { of: &Mapping(&PROPERTY), min: 0, max: Some(1_000) },
        "Properties of the graph, each of which `krator check` proves or reports as violated. All edges of handlers \
         and of the runtime count, including `resume`.",
        "properties: [{from: \"*\", canReach: Lost}]");
    Allow = optional("allow", Map { by: NameOf::Rule, of: &String },
        "Silences warnings and infos that do not belong to a state. The value is the reason.",
        "allow: {no-timeout: Moose take their time.}");
}

section! {
    /// The mapping under `resource`.
    ResourceKey in RESOURCE, "`resource`":
    Group = required("group", Name(GroupName::PATTERN),
        "The API group. A group under `k8s.io` or `kubernetes.io` needs `apiApproved`.",
        "resource: {group: animals.com}");
    ApiApproved = optional("apiApproved", Name(APPROVAL),
        "The approval of the API, for the annotation `api-approved.kubernetes.io` of the CRD. Required for groups that \
         belong to Kubernetes.",
        "resource: {group: animals.k8s.io, apiApproved: \"https://example.com/pull/1\"}");
    Version = required("version", Name(VersionName::PATTERN),
        "The API version, the newest one if there are others in `versions`.",
        "resource: {version: v1alpha1}");
    Kind = required("kind", Name(KindName::PATTERN),
        "The kind.",
        "resource: {kind: Reindeer}");
    RustName = optional("rustName", Name(RustKindName::PATTERN),
        "The name of the kind in Rust, if the kind is not a valid type name there, such as `postgresql`, or is \
         reserved, such as `State`.",
        "resource: {group: animals.com, version: v1, kind: moose, rustName: Moose}")
        .default("`kind`");
    Plural = optional("plural", Name(ResourceName::PATTERN),
        "The plural, as in the URLs of the API.",
        "resource: {plural: moose}")
        .default("the kind's English plural");
    Singular = optional("singular", Name(ResourceName::PATTERN),
        "The singular, which `kubectl` accepts too.",
        "resource: {singular: moose}")
        .default("the kind in lower case");
    ShortNames = optional("shortNames", List { of: &Name(ResourceName::PATTERN), min: 0, max: None },
        "Abbreviations that `kubectl` accepts.",
        "resource: {shortNames: [mo]}");
    Categories = optional("categories", List { of: &Name(Category::PATTERN), min: 0, max: None },
        "Groups of resources that `kubectl get` lists together.",
        "resource: {categories: [animals]}");
    Scope = optional("scope", Word(&["Namespaced", "Cluster"]),
        "Whether objects have a namespace.",
        "resource: {scope: Cluster}")
        .default("`Namespaced`");
    Scale = optional("scale", Mapping(&SCALE),
        "The scale subresource, which `kubectl scale` and autoscalers use.",
        "resource: {scale: {spec: .spec.replicas, status: .status.replicas}}");
    Name = optional("name", Mapping(&NAME),
        "The names that objects may have.",
        "resource: {name: {pattern: ^m, message: The name of a moose begins with m.}}");
    SelectableFields = optional("selectableFields", List { of: &Path, min: 0, max: Some(8) },
        "Fields that field selectors may use.",
        "resource: {selectableFields: [.spec.secretName]}");
}

section! {
    /// The mapping under `resource.name`.
    NameKey in NAME, "`name`":
    Pattern = required("pattern", String,
        "A regular expression that the name of a new object has to match.",
        "resource: {name: {pattern: ^m}}");
    Message = optional("message", String,
        "The message of the API server if the name does not match, in one line.",
        "resource: {name: {pattern: ^m, message: The name of a moose begins with m.}}")
        .default("a message with the pattern");
}

section! {
    /// The mapping under `resource.scale`.
    ScaleKey in SCALE, "`scale`":
    Spec = required("spec", Path,
        "The integer field that holds the desired number of replicas.",
        "resource: {scale: {spec: .spec.replicas, status: .status.replicas}}");
    Status = required("status", Path,
        "The integer field that holds the observed number of replicas.",
        "resource: {scale: {spec: .spec.replicas, status: .status.replicas}}");
    Selector = optional("selector", Path,
        "The string field that holds the label selector of the replicas.",
        "resource: {scale: {spec: .spec.replicas, status: .status.replicas, selector: .status.selector}}");
}

/// The meaning of `scope` of a kind in `owns`, `watches` and `access`.
const SCOPE_OF_OTHERS: &str = "The scope of the kind, if neither Kubernetes nor `schemas` defines it. It is enough to \
                               set it at one of the places that name the kind.";

section! {
    /// A kind of `owns` that needs more than its name.
    OwnedKey in OWNED, "an owned kind":
    Kind = required("kind", Kind,
        "The kind.",
        "owns: [{kind: animals.com/v1.Calf}]");
    Plural = optional("plural", Name(ResourceName::PATTERN),
        "The plural of a kind that Kubernetes itself does not have.",
        "owns: [{kind: animals.com/v1.Calf, plural: calves}]")
        .default("the kind's English plural");
    Scope = optional("scope", Word(&["Namespaced", "Cluster"]), SCOPE_OF_OTHERS,
        "owns: [{kind: animals.com/v1.Calf, scope: Namespaced}]")
        .default("the scope of the resource, with a warning");
    Deletion = optional("deletion", Word(&["owner", "last", "keep"]),
        "What happens to the objects when their owner is deleted. With `owner`, the garbage collector deletes them. \
         With `last`, the operator deletes them when the deletion path has ended. With `keep`, it releases them then \
         instead. `last` and `keep` need `machine.deletion`.",
        "machine: {deletion: Released}\nowns: [{kind: apps/v1.StatefulSet, deletion: last}]\nstates: {Released: {kind: final}}")
        .default("`owner`");
}

section! {
    /// An item of `watches`. It has one of `by`, `label` and `all`.
    WatchKey in WATCH, "a watched kind":
    Kind = required("kind", Kind,
        "The kind. If krator does not have its schema, its objects are read as opaque objects.",
        "watches: [{kind: core/v1.Secret, by: .spec.secretName}]");
    Plural = optional("plural", Name(ResourceName::PATTERN),
        "The plural of a kind that Kubernetes itself does not have.",
        "watches: [{kind: animals.com/v1.Wolf, plural: wolves, all: true}]")
        .default("the kind's English plural");
    Scope = optional("scope", Word(&["Namespaced", "Cluster"]), SCOPE_OF_OTHERS,
        "watches: [{kind: animals.com/v1.Forest, scope: Cluster, all: true}]")
        .default("`Namespaced` with a `namespace`, otherwise the scope of the resource, with a warning");
    By = optional("by", Path,
        "The field in `.spec`, `.status` or `.metadata.labels` that names the objects. `[*]` selects all items of a list.",
        "watches: [{kind: core/v1.Secret, by: .spec.secretName}]");
    Label = optional("label", Name(LabelKey::PATTERN),
        "Objects whose label with this key has the name of the resource's object as its value.",
        "watches: [{kind: core/v1.Pod, label: animals.com/moose}]");
    All = optional("all", True,
        "All objects of the kind.",
        "watches: [{kind: core/v1.Node, all: true}]");
    Namespace = optional("namespace", Either(&[Name(NamespaceName::PATTERN), Path]),
        "The namespace of the watched objects. It is ignored for a cluster-scoped kind.",
        "watches: [{kind: core/v1.Secret, by: .spec.secretName, namespace: vault}]")
        .default("the object's own namespace");
}

section! {
    /// The mapping under `admission`.
    AdmissionKey in ADMISSION, "`admission`":
    Status = optional("status", Word(&["operator"]),
        "Only clients with the verb `operate` on the resource may write the status.",
        "admission: {status: operator}");
    Protect = optional("protect", Mapping(&PROTECT),
        "Objects that can be deleted only if they have the annotation `<group>/allow-deletion: \"true\"`.",
        "admission: {protect: {states: [Roam]}}");
    Transitions = optional("transitions", True,
        "The stored state may change only along edges of this description and of former ones.",
        "admission: {transitions: true}");
}

section! {
    /// The mapping under `admission.protect`.
    ProtectKey in PROTECT, "`protect`":
    States = required("states", List { of: &State, min: 1, max: None },
        "The states in which objects are protected.",
        "admission: {protect: {states: [Roam]}}");
}

/// The pattern of an approval, by the rules of the API server.
const APPROVAL: NamePattern = NamePattern {
    expected: "a URL, or a text that begins with `unapproved`",
    pattern: "^(unapproved|[A-Za-z][A-Za-z0-9+.-]*:)",
    is: krator_schema::is_approval,
};

/// A resource, and perhaps a part of it.
const GRANT: NamePattern = NamePattern {
    expected: "`plural` or `plural/subresource`",
    pattern: r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?(/[a-z]([a-z0-9-]{0,61}[a-z0-9])?)?$",
    is: |text| {
        let is_resource = |part: &str| (ResourceName::PATTERN.is)(part);
        match text.split_once('/') {
            Some((plural, subresource)) => is_resource(plural) && is_resource(subresource),
            None => is_resource(text),
        }
    },
};

section! {
    /// An item of `access`.
    AccessKey in ACCESS, "a right":
    Kind = required("kind", Kind,
        "The kind that the rights are for.",
        "access: [{kind: core/v1.Node, verbs: [get]}]");
    Verbs = required("verbs", List { of: &Name(Verb::PATTERN), min: 1, max: None },
        "The verbs that the operator may use.",
        "access: [{kind: core/v1.Node, verbs: [get, list, watch]}]");
    Scope = optional("scope", Word(&["Namespaced", "Cluster"]), SCOPE_OF_OTHERS,
        "access: [{kind: animals.com/v1.Forest, scope: Cluster, verbs: [get]}]")
        .default("the scope of the resource, with a warning");
    Resource = optional("resource", Name(GRANT),
        "A resource in the group of the kind, if the rights are not for the kind itself.",
        "access: [{kind: core/v1.Pod, verbs: [create], resource: pods/exec}]")
        .default("the kind's own resource");
}
