//! Rules that reading itself applies: of YAML, keys, types and names.

use super::rules;

rules! {
    Error SYNTAX "syntax": "the text is not YAML, or uses YAML that is not of this language",
"A description is YAML 1.2 in UTF-8, at most 16 MiB. Keys are unique in their mapping. Anchors and aliases work
within a document; merge keys (`<<`) and tags (`!x`) do not, nor do control characters, nor nesting without measure.

Bad:

    states:
      Roam: {next: [Eat]}
      Roam: {next: [Sleep]}

Good:

    states:
      Roam: {next: [Eat, Sleep]}";
    Error UNKNOWN_KEY "unknown-key": "a key that the language does not know here",
"Nothing is ignored: a key that is not known would otherwise be a wish that nobody fulfils. An unquoted comma inside
`{}` makes an extra key, too.

Bad:

    Roam: {nxt: [Eat], wait: {poll: 2s}}
    Roam: {next: [{to: Eat, when: hungry, tired}]}

Good:

    Roam: {next: [Eat], wait: {poll: 2s}}
    Roam: {next: [{to: Eat, when: \"hungry, tired\"}]}";
    Error WRONG_TYPE "wrong-type": "a value of another type than its key takes",
"Each key takes a text, a number, a boolean, a list or a mapping. A key without a value has none of them. A word for
which only certain values exist takes no other.

Bad:

    Roam: {next: Eat, checkpoint: nope}

Good:

    Roam: {next: [Eat], checkpoint: false}";
    Error MISSING_KEY "missing-key": "a key that is required is not there",
"`krator`, `resource` with `group`, `version` and `kind`, `spec`, `machine` with `initial`, and `states` must be there;
so must `then` where `retry` has a numeric `limit`, `deletion` where a state's `onDelete` names a state, and the keys
of small mappings such as `timeout`.

Bad:

    machine: {initial: Roam, retry: {limit: 5}}

Good:

    machine: {initial: Roam, retry: {limit: 5, then: Lost}}";
    Error INVALID_NAME "invalid-name": "a name has a form that names of its sort do not have",
"States, kinds, types and conditions are PascalCase of letters and digits; fields are letters, digits, `_` and `-`;
`operator` is a DNS label that starts with a letter, at most 40 long; groups are DNS names. Names become files, Rust
code and objects in the cluster: what is not a name never gets there.

Bad:

    states:
      roam-around: {next: [Eat]}

Good:

    states:
      RoamAround: {next: [Eat]}";
    Error INVALID_SCHEMA "invalid-schema": "the schema is none that an API server accepts",
"The schema becomes the CRD's: structural, with defaults that are valid, bounds that fit their type, patterns and CEL
rules that parse.

Bad:

    spec:
      size: {type: integer, minimum: 3, default: 1}
      name: {type: string, maximum: 9}

Good:

    spec:
      size: {type: integer, minimum: 1, default: 1}
      name: {type: string, maxLength: 9}";
    Error INVALID_DURATION "invalid-duration": "a text is no duration",
"Durations are written as in Go: numbers with the units h, m, s, ms, us and ns. There are no days. Where a field may
tell the time, its path starts with a dot.

Bad:

    wait: {poll: 30}
    timeout: {after: 1d, to: Lost}

Good:

    wait: {poll: 30s}
    timeout: {after: 24h, to: Lost}";
    Error UNKNOWN_KIND "unknown-kind": "a `watch` of a kind that is neither owned nor watched, or a kind that does not exist",
"`wait: {watch: …}` wakes a handler when objects change that the operator already looks at: those of `owns` and
`watches`. In the API groups of Kubernetes itself the kinds are known.

Bad:

    owns: [batch/v1.Job]
    states:
      Run: {next: [Done], wait: {watch: [batch/v1.CronJob]}}

Good:

    owns: [batch/v1.Job]
    states:
      Run: {next: [Done], wait: {watch: [batch/v1.Job]}}";
    Error UNKNOWN_FIELD "unknown-field": "a path leads to a field that the schema does not have",
"Paths of columns, `by`, `namespace`, `poll`, `after`, `times`, `scale` and `selectableFields` are followed through
the schema of `.spec` and `.status`, and end at a value of a type that fits.

Bad:

    spec: {weight: number}
    columns: [{name: Weight, path: .spec.wieght}]

Good:

    spec: {weight: number}
    columns: [{name: Weight, path: .spec.weight}]";
    Error UNKNOWN_STATE "unknown-state": "an edge leads to a state that is not there",
"Every name of a state stands under `states`, in the same spelling.

Bad:

    machine: {initial: Raom}
    states:
      Roam: {kind: ready}

Good:

    machine: {initial: Roam}
    states:
      Roam: {kind: ready}";
    Error NAME_COLLISION "name-collision": "two names become one Rust identifier, module or file, or a name is taken",
"Each state becomes a type, a module and a file; files must differ on a disk that ignores case, too. Some names are
taken: what Rust keeps for itself and cannot write raw (`self`, `Self`, `super`, `crate`, `_`), `mod`, Windows devices
(`Con`), the kind itself, what a handler imports (`State`, `Transition`, `Context`, `Result`, `Ok`, …), and for
`operator` keywords, crates of the standard library, dependencies and cargo's folders. A status field cannot take the
name of one that the machine keeps.

Bad:

    states:
      DeleteVM: {next: [DeleteVm]}
      DeleteVm: {kind: final}

Good:

    states:
      DeleteMachine: {next: [Deleted]}
      Deleted: {kind: final}";
    Error WILDCARD_ACCESS "wildcard-access": "`*` anywhere in `owns`, `watches` or `access`",
"A wildcard grants what does not exist yet and what nobody had in mind. Every kind, verb and resource has a name.

Bad:

    access: [{kind: core/v1.Pod, verbs: ['*']}]

Good:

    access: [{kind: core/v1.Pod, verbs: [get, list]}]";
}
