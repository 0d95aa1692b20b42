//! Rules about schemas: what the API server refuses, what it may find too costly, and samples.

use super::rules;

rules! {
    Error INVALID_SCHEMA "invalid-schema": "an API server would not accept the schema",
"The schema becomes the schema of the CRD. It therefore has to be structural: its defaults have to be valid, its bounds
have to fit their types, its patterns have to be regular expressions of Go (RE2), and what `x-kubernetes-*` says of a list
or a map has to fit it. The same holds for the paths of `scale` and `selectableFields`.

Bad:

    spec:
      size: {type: integer, minimum: 3, default: 1}
      name: {type: string, maximum: 9}

Good:

    spec:
      size: {type: integer, minimum: 1, default: 1}
      name: {type: string, maxLength: 9}";
    Error INVALID_RULE "invalid-rule": "a CEL rule that the API server would not compile",
"The API server compiles each rule of `validations` when a CRD is created: every name and field has to exist, the operands
of each operator have to have types that fit, and the result has to be a boolean. A `messageExpression` has to give a
string, and `fieldPath` has to lead to a field. `oldSelf` is the former value, which does not exist for items of a list
unless the list is a map.

Bad:

    spec:
      size: integer
      validations: [{rule: \"self.size > 'x'\"}]

Good:

    spec:
      size: integer
      validations: [{rule: \"self.size > 3\"}]";
    Error MISPLACED_IMMUTABLE "misplaced-immutable": "`immutable`, `onceSet` or `transition` where the API server cannot compare, or must not",
"These keys become rules of the CRD over the former and the new value of a field. In a list whose items have no identity
there is no former value, and fields of any name, as of the types `any` and `object`, are not compared. The status is written by the operator, which
would stop at the first write that is refused.

Bad:

    spec:
      stops: {items: {properties: {place: {type: string, immutable: true}}}}

Good:

    spec:
      stops:
        items: {properties: {name: string, place: {type: string, immutable: true}}}
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]";
    Warning COSTLY_RULE "costly-rule": "a CEL rule that costs more than the API server accepts, by an estimate",
"The API server estimates the worst-case cost of each rule and of all rules together, and rejects a CRD that exceeds its
budget. A list without `maxItems`, a map without `maxProperties` and a string without `maxLength` count as very long, so
a rule that goes through a list for each item of another one is likely to exceed the budget. krator makes the same
estimate.

Bad:

    tags: list of string
    validations: [{rule: \"self.tags.all(a, self.tags.exists_one(b, a == b))\"}]

Good:

    tags: {type: list of string, maxItems: 64}
    validations: [{rule: \"self.tags.all(a, self.tags.exists_one(b, a == b))\"}]";
    Warning REFUSED_SAMPLE "refused-sample": "the sample object would be refused by the API server",
"`deploy/sample.yaml` and the generated tests begin with the simplest object of the schema. Where a rule in CEL or a
pattern asks for more, only the author of the schema knows a value that satisfies it: `example` next to the type of the
field gives that value.

Bad:

    spec:
      tag: string
      validations: [{rule: \"self.tag.startsWith('moose-')\"}]

Good:

    spec:
      tag: {type: string, example: moose-1}
      validations: [{rule: \"self.tag.startsWith('moose-')\"}]";
    Warning UNJUDGED_RULE "unjudged-rule": "a CEL rule that krator cannot read, and that only an API server judges",
"krator evaluates every function that rules can call. A few forms of expressions it does not read: messages of protobuf, names
that begin with a dot, and texts of more than 3,000 words and signs. Whether the sample keeps to such a rule is then not known,
and `krator dev` and tests in memory do not take the CRD.

Bad:

    spec:
      size: integer
      validations: [{rule: \"google.protobuf.Int64Value{value: 3} < self.size\"}]

Good:

    spec:
      size: integer
      validations: [{rule: \"3 < self.size\"}]";
}
