//! Rules about the versions of a kind.

use super::rules;

rules! {
    Error CONVERSION_INVALID "conversion-invalid": "an invalid change between versions",
"The `changes` of a version lead from it to the next newer one, in their order. krator derives the schema of each older
version from the newest schema, change by change, so a change has to fit the newer version: its target field exists, its
target values are in the `enum`, and objects that are written in one version are valid in the other. So a required field
that only one of the versions has needs a `default`.

Bad:

    spec: {replicas: integer}
    versions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.copies}]}}

Good:

    spec: {replicas: integer}
    versions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}";
    Error LOSSY_CONVERSION "lossy-conversion": "a change whose values must not be kept in an annotation",
"Data that a version cannot represent is kept in an annotation while the object is read or stored in that version, so
that nothing is lost. Every client that may write the object can write the annotation. So fields that are `immutable`,
`onceSet` or have a `transition` must be in all versions, and so must all of the status, which only the operator writes,
and the fields that identify the items of a list.

Bad:

    spec: {region: {type: string, immutable: true, default: eu}}
    versions: {v1beta1: {changes: [{added: .spec.region}]}}

Good:

    spec: {region: {type: string, immutable: true, default: eu}}
    versions: {v1beta1: {changes: [{renamed: .spec.zone, to: .spec.region}]}}";

    Error VERSION_SKIPPED "version-skipped": "a former version is missing from `versions` where other versions need it",
"Clients still use the version that krator generated last, and objects are stored in it. A new `version` replaces it only
if `versions` contains the former one, with the `changes` that lead to the new one: the API server then converts stored
objects, and both versions remain. Each older version is derived from the next newer one, so a version between two
others cannot be removed.

`krator diff` proposes the entry, and `krator check --fix` writes it. Review its changes: a removed field and a new
field of the same type look like a renamed field. `krator gen --allow-breaking` generates the new version without the
former.

In this example, the former description had the version `v1beta1`, with a field `size`.

Bad:

    resource: {group: animals.com, version: v1, kind: Herd}
    spec: {replicas: integer}

Good:

    resource: {group: animals.com, version: v1, kind: Herd}
    versions: {v1beta1: {storage: true, changes: [{renamed: .spec.size, to: .spec.replicas}]}}
    spec: {replicas: integer}";

    Error STORED_VERSION_REMOVED "stored-version-removed": "a version in which objects may be stored was removed",
"An API server cannot read an object that is stored in a version that its CRD does not have, and refuses a CRD without a
version that is in its `status.storedVersions`. A description does not show in which versions objects are stored: every
version of the former description may be one of them.

Keep the version, with `served: false` if no client may use it. `krator migrate`, or an operator with
`deploy: {migrate: true}`, writes every object again after another version has become the storage version, and then
removes the former one from `status.storedVersions`. After that, remove the former version from the description and run
`krator gen --allow-breaking`.

In this example, the former description had the version `v1beta1`.

Bad:

    versions: {}

Good:

    versions: {v1beta1: {served: false}}";

    Warning STORED_AT_ONCE "stored-at-once": "a new version is the storage version in the first release that serves it",
"While a release is rolled out, and after it is rolled back, the former operator and the former CRD are in use, which do
not have the new version and cannot read an object that is stored in it. So the first release of a new version still has
to store objects in an older one, which has `storage: true`; the release after it leaves `storage` out.

In this example, the former description had the version `v1beta1` only.

Bad:

    versions: {v1beta1: {}}

Good:

    versions: {v1beta1: {storage: true}}";
}
