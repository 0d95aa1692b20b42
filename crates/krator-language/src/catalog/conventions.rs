//! Hints about the API conventions of Kubernetes, of which kube-api-linter checks some as well.

use super::rules;

rules! {
    Info FLOAT_IN_SPEC "float-in-spec": "a field of `.spec` is a floating-point number",
"Floating-point numbers do not survive a round trip: languages and encodings differ in their precision, so a value can come
back changed, and a controller that compares it with what it wrote never comes to rest. The API conventions therefore forbid
them in `.spec`.

Bad:

    spec: {weight: {type: number, description: Weight in kilograms}}

Good:

    spec: {weightGrams: {type: integer, description: Weight in grams}}";
    Info BOOLEAN_IN_SPEC "boolean-in-spec": "a field of `.spec` is a boolean",
"Many ideas that begin as a boolean grow a third case, and a boolean cannot grow: clients would not understand another field
beside it. An `enum` can get more values, and its values say what they mean.

Bad:

    spec: {public: boolean}

Good:

    spec: {visibility: {enum: [Public, Private], default: Private}}";
    Info MAP_OF_OBJECTS "map-of-objects": "a field of `.spec` is a map of objects",
"The API conventions want lists of objects that have their name as a field. The keys of a map cannot be described or limited,
and tools such as kustomize and server-side apply know lists with keys well. Maps of labels and other strings are fine.

Bad:

    spec: {ports: {additionalProperties: {properties: {port: int32}}}}

Good:

    spec:
      ports:
        maxItems: 16
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items: {properties: {name: string, port: int32}}";
    Info DURATION_AS_STRING "duration-as-string": "a string of `.spec` that sounds like a duration may be any text",
"Without a format the API server accepts any text, so that a mistake is only found by a handler, long after the user has
gone. The type `duration` has the format of Go, and is a duration in Rust.

Bad:

    spec: {syncTimeout: string}

Good:

    spec: {syncTimeout: {type: duration, default: 5m}}";
    Info PHASE_IN_STATUS "phase-in-status": "the states of a kind have a `phase`",
"The API conventions deprecate phases: clients take them for a closed list, so that a new phase breaks them. `.status.state`
always says where the machine is, and conditions say what it means for others. A phase is right where an existing API has
one.

Bad:

    states:
      Roam: {phase: Roaming, kind: ready}

Good:

    conditions: {Fed: The moose has eaten today.}
    states:
      Roam: {kind: ready, conditions: {Fed: Unknown}}";
}
