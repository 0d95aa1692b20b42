//! The descriptions that `krator new --example` begins with, embedded in the command.

/// An example.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// Its name on the command line.
    pub name: &'static str,
    /// A summary, in one line.
    pub shows: &'static str,
    /// The text of the description.
    pub text: &'static str,
}

macro_rules! examples {
    ($($name:literal $shows:literal;)*) => {
        &[$(Example {
            name: $name,
            shows: $shows,
            text: include_str!(concat!("../testdata/ok/", $name, "/spec.yaml")),
        }),*]
    };
}

/// All examples, the simplest first.
pub const ALL: &[Example] = examples! {
    "memcached" "the shortest useful operator: one state that keeps a Deployment as it should be";
    "moose" "a first state machine: waits, a timeout, retries with a limit, and a last state before deletion";
    "externalsecret" "a resource that is refreshed by an interval of its spec, and two kinds that share a type";
    "rollout" "a long operation in steps, with pauses, an abort, and the subresource `scale`";
    "order" "calls of a service outside the cluster that must not be repeated: `effects: once` and `resume`";
    "karpenter" "two kinds in one operator, with named types, conditions, watches and rules in CEL";
    "database" "three kinds that own and watch each other: a schedule, approvals, and children that outlive a deletion";
};

/// The example of a name.
pub fn named(name: &str) -> Option<&'static Example> {
    ALL.iter().find(|example| example.name == name)
}
