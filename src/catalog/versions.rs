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
}
