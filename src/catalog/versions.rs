//! Rules about the versions of a kind.

use super::rules;

rules! {
    Error CONVERSION_INVALID "conversion-invalid": "a change between versions that cannot be made",
"The `changes` of a version lead from it to the next newer one, in their order. krator makes of the newest schema how each older
version looked, change by change, so a change has to fit the newer version: the field that it ends at is there, the values that
it ends at are in the `enum`, and objects that are written in one version are valid in the other. So a required field that the
older version lacks needs a `default`, and so does one that the newer version lacks.

Bad:

    spec: {replicas: integer}
    versions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.copies}]}}

Good:

    spec: {replicas: integer}
    versions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}";
    Error LOSSY_CONVERSION "lossy-conversion": "a change whose values must not ride in an annotation",
"What one version cannot hold of an object rides in an annotation while the object is read or stored in that version, so that
nothing is lost. Anybody who may write the object can write the annotation. So what is `immutable`, `onceSet` or has a
`transition` must be in all versions, and so must all of the status, which only the operator writes. The same goes for what
tells the items of a list apart.

Bad:

    spec: {region: {type: string, immutable: true, default: eu}}
    versions: {v1beta1: {changes: [{added: .spec.region}]}}

Good:

    spec: {region: {type: string, immutable: true, default: eu}}
    versions: {v1beta1: {changes: [{renamed: .spec.zone, to: .spec.region}]}}";
    Warning VERSION_LACKS_RULE "version-lacks-rule": "a rule that objects of an older version are not held to",
"A rule in CEL, and others that are about several fields, cannot be followed back through a change of one of these fields. The
schema of the older version has no such rule, so a client that uses that version can store an object that breaks it. The API
server then refuses the next change of that object in the newer version. If that is meant, say so with `allow`; a rule of the
field itself, such as `maximum`, follows the field.

Bad:

    spec:
      replicas: integer
      most: integer
      validations: [{rule: self.replicas <= self.most}]
    versions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}

Good:

    spec:
      replicas: {type: integer, maximum: 100}
      most: integer
    versions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}";
}
