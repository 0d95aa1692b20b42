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
}
