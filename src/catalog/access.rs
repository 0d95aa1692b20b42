//! Rules of rights, of owned and watched kinds, and of what a schema costs the API server.

use super::rules;

rules! {
    Error INVALID_OWNER "invalid-owner": "scopes forbid the ownership, or leave no namespace to look in",
"A namespaced object cannot own a cluster-scoped one: the garbage collector would delete it. An object that lives in no
namespace has none in which a namespaced object of a given name could be looked up.

Bad:

    resource: {group: animals.com, version: v1, kind: Moose}
    owns: [core/v1.Namespace]

Good:

    resource: {group: animals.com, version: v1, kind: Moose, scope: Cluster}
    owns: [core/v1.Namespace]
    watches: [{kind: core/v1.Secret, by: .spec.secretName, namespace: .spec.secretNamespace}]";
    Error UNELECTED_REPLICAS "unelected-replicas": "`replicas` over 1 with neither `leaderElection` nor `shards`",
"Two replicas that both think themselves in charge run every handler twice, at the same time. One of them leads, or each
has its share of the objects.

Bad:

    deploy: {replicas: 2}

Good:

    deploy: {replicas: 2, leaderElection: true}";
    Warning BROAD_ACCESS "broad-access": "secrets in the whole cluster, or verbs that give more rights than one has",
"An operator that may read every secret of the cluster is worth attacking; so is one that may `escalate`, `bind` or
`impersonate`. Where it works in some namespaces only, `deploy: {namespaces: [..]}` says so and Roles take the place of
ClusterRoles. Where it must be, `allow` it and say why.

Bad:

    access: [{kind: core/v1.Secret, verbs: [get, list]}]

Good:

    access: [{kind: core/v1.Secret, verbs: [get, list]}]
    deploy: {namespaces: [moose]}";
    Warning COSTLY_RULE "costly-rule": "a CEL rule walks a list or map without a bound",
"The API server estimates what a rule may cost at worst, and refuses a CRD whose rules may cost too much. A rule that
walks a list without `maxItems`, or a map without `maxProperties`, may have to walk millions of items.

Bad:

    tags: list of string
    validations: [{rule: \"self.tags.all(tag, tag != '')\"}]

Good:

    tags: {type: list of string, maxItems: 64}
    validations: [{rule: \"self.tags.all(tag, tag != '')\"}]";
}
