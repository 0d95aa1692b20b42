//! Rules about webhooks.

use super::rules;

rules! {
    Error UNSAFE_WEBHOOK "unsafe-webhook": "a webhook without which nothing could be deleted",
"With `failurePolicy: Fail`, which is the default, the API server refuses a request that no replica of the operator judges. For
deletions that means that no object of the kind goes while the operator is down, and neither does its namespace. A webhook
for deletions therefore has `failurePolicy: Ignore`: it refuses what it can, and never holds up a cluster. What must not be
deleted in some states is better protected by the API server itself, with `admission: {protect: ..}`.

Bad:

    webhooks: {validate: {operations: [create, update, delete]}}

Good:

    webhooks: {validate: {operations: [create, update, delete], failurePolicy: Ignore}}";
    Error INVALID_MATCH_CONDITION "invalid-match-condition": "a condition of a webhook that does not choose requests",
"A condition is in CEL, over `object`, `oldObject`, `request` and `authorizer`. One that does not compile is refused with the whole
configuration. `namespaceObject` compiles and then has the API server refuse each request. The status is never asked about, so
a condition on it chooses nothing, and neither does one that holds for none of the `operations`.

Bad:

    webhooks: {validate: {matchConditions: [{name: new, expression: \"request.operation == 'create'\"}]}}

Good:

    webhooks: {validate: {matchConditions: [{name: new, expression: \"request.operation == 'CREATE'\"}]}}";
}
