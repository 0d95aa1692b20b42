//! The classes of errors, which decide how failed handlers are retried.
use std::time::Duration;

/// The class of a handler's error, which decides how the runtime reacts.
///
/// | class | errors that have it | what the runtime does |
/// |---|---|---|
/// | [`Transient`](Class::Transient) | every error that has no other class, panics, `Error::transient` | retries, as the state's `retry` says |
/// | [`After`](Class::After) | `Error::after`; answers of the API server with 429 or with a time to wait | the same, but not before that time |
/// | [`Blocked`](Class::Blocked) | `Error::blocked`; a child of a former object that is not collected yet | retries, however often it takes |
/// | [`Permanent`](Class::Permanent) | `Error::permanent`, `Fallible::permanent`; the answers 400, 405, 413, 415 and 422 | does not retry |
/// | [`NamespaceTerminating`](Class::NamespaceTerminating) | the answer 403 to a request that creates something in a namespace that is being deleted | waits for the deletion |
/// | [`Refused`](Class::Refused) | the answer 403 of a ValidatingAdmissionPolicy | retries, as after `Transient`; an event says so where it was a write of the runtime |
///
/// Every error is logged. Those that are retried are in `.status.message` and in the condition `Reconciling`, and
/// `.status.attempts` counts them. In a state with `effects: once` no error is retried: the object enters `resume`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The handler is retried as the state's `retry` says: after growing delays, and after the last retry the object
    /// enters `retry.then`.
    Transient,
    /// Like `Transient`, but the handler is not retried before this time has passed.
    After(Duration),
    /// The handler is blocked by something that ends or goes away by itself. It is retried after growing
    /// delays, and the limit of `retry` does not apply.
    Blocked,
    /// Retrying is useless. The object enters `retry.then` at once; if there is no such state, the handler is retried
    /// at the longest interval of `retry` until the spec changes. The machine of an object in a `final` state ends.
    Permanent,
    /// The namespace is being deleted, so nothing can be created in it. This is no failure, because the object is
    /// deleted with its namespace. On the deletion path it is treated as transient, so that the deletion completes.
    NamespaceTerminating,
    /// A ValidatingAdmissionPolicy has refused a write. It may be older than the operator, or the operator may lack a right that
    /// it asks for, so retrying helps once somebody has applied the manifests of this release.
    Refused,
}
