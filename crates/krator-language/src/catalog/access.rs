//! Rules about permissions, and about owned and watched kinds.

use super::rules;

rules! {
    Error INVALID_OWNER "invalid-owner": "an owner or a watched object whose scope does not fit the scope of the resource",
"A namespaced object cannot own a cluster-scoped one: the garbage collector would delete the owned object. A
cluster-scoped object has no namespace, so `by` alone does not say in which namespace a namespaced object is to be
found; `namespace` has to say it.

Bad:

    resource: {group: animals.com, version: v1, kind: Moose}
    owns: [core/v1.Namespace]

Good:

    resource: {group: animals.com, version: v1, kind: Moose, scope: Cluster}
    owns: [core/v1.Namespace]
    watches: [{kind: core/v1.Secret, by: .spec.secretName, namespace: .spec.secretNamespace}]";
    Warning ASSUMED_SCOPE "assumed-scope": "nothing says whether objects of another kind live in namespaces",
"The rights of the operator, the paths of its requests and the Rust type of the objects depend on whether a kind has namespaces.
Kubernetes' own kinds and those with a file in `schemas` are known; any other kind is assumed to be like the resource that names
it, and where that is wrong, its objects are not found. `scope` says it, at one of the places that name the kind.

Bad:

    resource: {group: animals.com, version: v1, kind: Moose}
    watches: [{kind: plants.com/v1.Forest, by: .spec.forest}]

Good:

    resource: {group: animals.com, version: v1, kind: Moose}
    watches: [{kind: plants.com/v1.Forest, scope: Cluster, by: .spec.forest}]";
    Warning CLUSTER_WIDE_ACCESS "cluster-wide-access": "`deploy.namespaces` beside a kind whose objects have no namespace",
"`deploy.namespaces` limits an operator to the objects in some namespaces, and its rights to Roles there. Objects without a
namespace are not limited by it: the operator gets a ClusterRole for all objects of such a kind, and two operators that were
installed for different namespaces share them. If that is meant, `allow` the rule and give the reason.

Bad:

    watches: [{kind: core/v1.Node, all: true}]
    deploy: {namespaces: [moose]}

Good:

    watches: [{kind: core/v1.Node, all: true}]
    deploy: {namespaces: [moose]}
    allow: {cluster-wide-access: a moose wants to know how much room the nodes have}";
    Error OUTLIVES_NOTHING "outlives-nothing": "`deletion: last` or `keep` without a deletion path",
"Children with `deletion: last` are deleted when the deletion path of their owner has ended, and those with `keep` are
released then. Without `machine.deletion` there is no such path, and no finalizer: the owner is gone before the operator
knows that it was deleted. Add a deletion path (a single `final` state is enough), or leave `deletion` out.

Bad:

    machine: {initial: Roam}
    owns: [{kind: apps/v1.StatefulSet, deletion: last}]

Good:

    machine: {initial: Roam, deletion: Released}
    owns: [{kind: apps/v1.StatefulSet, deletion: last}]
    states: {Released: {kind: final}}";
    Error MISPLACED_PROTECTION "misplaced-protection": "`protect` names a state of the deletion path, or a `final` state",
"`admission.protect` refuses deletions. An object on the deletion path is being deleted already, and one in a `final` state is
deleted by the operator, which would be refused.

Bad:

    machine: {initial: Roam, deletion: Released}
    admission: {protect: {states: [Released]}}
    states: {Roam: {kind: ready}, Released: {kind: final}}

Good:

    machine: {initial: Roam, deletion: Released}
    admission: {protect: {states: [Roam]}}
    states: {Roam: {kind: ready}, Released: {kind: final}}";
    Error OVERSIZED_POLICY "oversized-policy": "a policy of `admission` is larger than the API server takes",
"The name of a policy begins with what it is for and ends with the name of the CRD: at most 253 characters in all. The
expressions of a policy have at most 100000 characters; `transitions` lists every state and what may follow it, which is
enough for thousands of states with a few edges each.

Bad:

    resource: {group: a-group-of-240-characters.example.com, version: v1, kind: Moose}
    admission: {transitions: true}

Good:

    resource: {group: animals.com, version: v1, kind: Moose}
    admission: {transitions: true}";
    Error UNELECTED_REPLICAS "unelected-replicas": "`replicas` is over 1 with `leaderElection: false`",
"Without leader election, every replica works on every object, so each handler runs several times at the same time.
Let the replicas elect a leader, which is the default.

Bad:

    deploy: {replicas: 2, leaderElection: false}

Good:

    deploy: {replicas: 2}";
    Warning BROAD_ACCESS "broad-access": "access to all Secrets of the cluster, or a verb that lets the operator raise its own permissions",
"An operator that may read every Secret of the cluster is an attractive target, and so is one that may `escalate`, `bind`
or `impersonate`. If the operator only works in some namespaces, list them in `deploy: {namespaces: [..]}`: krator then
generates Roles instead of ClusterRoles. If it does need the access, `allow` the rule and give the reason.

Bad:

    access: [{kind: core/v1.Secret, verbs: [get, list]}]

Good:

    access: [{kind: core/v1.Secret, verbs: [get, list]}]
    deploy: {namespaces: [moose]}";
}
