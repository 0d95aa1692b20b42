//! Rules about YAML, keys, types and names, most of which are applied while a description is read.

use super::rules;

rules! {
    Error SYNTAX "syntax": "the file is not YAML, or uses a feature of YAML that krator does not accept",
"A description is YAML 1.2 in UTF-8 and at most 16 MiB large. The keys of a mapping are unique. Anchors and aliases work
within a document. Merge keys (`<<`), tags (`!x`), control characters and extremely deep nesting are not accepted.

Bad:

    states:
      Roam: {next: [Eat]}
      Roam: {next: [Sleep]}

Good:

    states:
      Roam: {next: [Eat, Sleep]}";
    Error UNKNOWN_KEY "unknown-key": "a key that does not exist at this place",
"krator never ignores a key, because a misspelled key would then silently have no effect. Note that an unquoted comma
inside `{}` starts a new key.

Bad:

    Roam: {nxt: [Eat], wait: {poll: 2s}}
    Roam: {next: [{to: Eat, when: hungry, tired}]}

Good:

    Roam: {next: [Eat], wait: {poll: 2s}}
    Roam: {next: [{to: Eat, when: \"hungry, tired\"}]}";
    Warning FORMER_NAME "former-name": "a former name of a key or a rule",
"The name of the key or the rule has changed. A description with the former name is still read as if it had the present one.
`krator gen` and `krator check --fix` replace the former names.

Bad:

    versions: {v1beta1: {stored: true}}

Good:

    versions: {v1beta1: {storage: true}}";
    Error WRONG_TYPE "wrong-type": "a value whose type does not fit its key",
"Each key takes a string, an integer, a number, a boolean, a list or a mapping, and some keys only take certain words. A
key without a value does not fit any of these types.

Bad:

    Roam: {next: Eat, checkpoint: nope}

Good:

    Roam: {next: [Eat], checkpoint: false}";
    Error MISSING_KEY "missing-key": "a required key is missing",
"These keys are always required: `krator`; `resource` with `group`, `version` and `kind`; `spec`; `machine` with
`initial`; and `states`. `then` is required if `retry` has a numeric `limit`, and `deletion` if the `onDelete` of a state
names a state. Small mappings such as `timeout` have their own required keys.

Bad:

    machine: {initial: Roam, retry: {limit: 5}}

Good:

    machine: {initial: Roam, retry: {limit: 5, then: Lost}}";
    Error KEY_WITHOUT_EFFECT "key-without-effect": "a key that the runtime never acts on in this state",
"The machine ends with a `final` state, whose handler is run until it has returned, also by a restarted operator. A final
state therefore has no `wait`, `limit`, `resume` and `effects: once`. A change of the spec has no effect in a final
state or on the deletion path, so `onSpecChange` can only be `ignore` there.

Bad:

    Release: {next: [Released], onSpecChange: wake}
    Released: {kind: final, wait: {poll: 1m}}

Good:

    Release: {next: [Released], wait: {poll: 1m}}
    Released: {kind: final}";
    Error INVALID_NAME "invalid-name": "a name contains characters or has a length that is not allowed for it",
"The names of states, types and conditions are PascalCase and consist of letters and digits. If the name of a kind or a
field is not a valid name in Rust, such as `postgresql` or `-Xmx`, `rustName` next to it gives the name in Rust.
`operator` is a DNS label of at most 40 characters that starts with a letter, and groups are DNS names. Names become
file names, Rust code and Kubernetes objects, so they are checked first.

Bad:

    states:
      roam-around: {next: [Eat]}

Good:

    states:
      RoamAround: {next: [Eat]}";
    Error INVALID_DURATION "invalid-duration": "a string is not a duration, or a timeout is 0",
"Durations are written as in Go: numbers with the units h, m, s, ms, us and ns. There is no unit for days. Keys that can
also take the duration from a field of the object expect the path of that field, which starts with a dot. A timeout of
`0s` would be over before the handler can run. In a field, 0 means that there is no timeout.

Bad:

    wait: {poll: 30}
    timeout: {after: 1d, to: Lost}

Good:

    wait: {poll: 30s}
    timeout: {after: 24h, to: Lost}";
    Error SCHEMA_FILE "schema-file": "a file in `schemas` that cannot be read, or does not define the kind",
"`schemas` names a file for a kind of another API: its CustomResourceDefinition, as `kubectl get crd NAME -o yaml` prints
it. The file is in the folder of the description, in a folder that krator does not write to, and at most 4 MiB large.
Symbolic links are not followed, and a description that is read from stdin has no folder. The definition has to contain
the version in the key.

Bad:

    owns: [certs.example.com/v1.Certificate]
    schemas: {certs.example.com/v1.Certificate: ../certificate.yaml}

Good:

    owns: [certs.example.com/v1.Certificate]
    schemas: {certs.example.com/v1.Certificate: crds/certificate.yaml}";
    Error UNKNOWN_KIND "unknown-kind": "a `watch` for a kind that is neither owned nor watched, or a kind that does not exist",
"`wait: {watch: …}` runs the handler again when an object of the given kinds changes. The operator only receives changes
of the kinds in `owns` and `watches`. krator has a list of the kinds in the API groups of Kubernetes, so it also reports
kinds of these groups that do not exist.

Bad:

    owns: [batch/v1.Job]
    states:
      Run: {next: [Done], wait: {watch: [batch/v1.CronJob]}}

Good:

    owns: [batch/v1.Job]
    states:
      Run: {next: [Done], wait: {watch: [batch/v1.Job]}}";
    Error UNKNOWN_FIELD "unknown-field": "a path names a field that the schema does not have",
"Paths are used by columns, `by`, `namespace`, `poll`, `after`, `times`, `scale` and `selectableFields`. Each of them has
to lead to a field in the schema of `.spec` or `.status` whose type fits.

Bad:

    spec: {weight: number}
    columns: [{name: Weight, path: .spec.wieght}]

Good:

    spec: {weight: number}
    columns: [{name: Weight, path: .spec.weight}]";
    Error UNKNOWN_STATE "unknown-state": "a reference to a state that does not exist",
"Every state that is named anywhere has to be defined under `states`, in exactly the same spelling.

Bad:

    machine: {initial: Raom}
    states:
      Roam: {kind: ready}

Good:

    machine: {initial: Roam}
    states:
      Roam: {kind: ready}";
    Error NAME_COLLISION "name-collision": "two names become the same Rust identifier, module or file, or a name is reserved",
"Each state becomes a Rust type, a module and a file, and the file names have to differ even on file systems that ignore
case. The following names are reserved:

- keywords that Rust does not accept as raw identifiers (`self`, `Self`, `super`, `crate`, `_`), and `mod`;
- device names of Windows, such as `Con`;
- the name of the kind itself;
- the imports of a handler: `State`, `Transition`, `Context`, `Result`, `Ok` and others;
- for `operator`: keywords, crates of the standard library, dependencies of the generated crate, and folders of cargo;
- for fields of the status: the field in which the runtime keeps its own state.

Bad:

    states:
      DeleteVM: {next: [DeleteVm]}
      DeleteVm: {kind: final}

Good:

    states:
      DeleteMachine: {next: [Deleted]}
      Deleted: {kind: final}";
    Error WILDCARD_ACCESS "wildcard-access": "`*` in `owns`, `watches` or `access`",
"A wildcard also grants access to kinds and verbs that do not exist yet. Name every kind, verb and resource that the
operator needs.

Bad:

    access: [{kind: core/v1.Pod, verbs: ['*']}]

Good:

    access: [{kind: core/v1.Pod, verbs: [get, list]}]";
    Warning INEXACT_BOUND "inexact-bound": "a bound that the API server cannot represent exactly",
"The API server reads `minimum`, `maximum` and `multipleOf` as numbers in double precision, which have 15 to 17 digits. A
bound with more of them is rounded, and values next to it are accepted or refused contrary to the description. A
fraction such as 0.01 has no exact double. As a `multipleOf`, it causes a rounding error that some API servers tolerate
and others do not, so 0.29 is a multiple of 0.01 for some of them only.

Bad:

    spec:
      serial: {type: integer, maximum: 9007199254740993}
      price: {type: number, multipleOf: 0.01}

Good:

    spec:
      serial: {type: integer, maximum: 9007199254740992}
      cents: {type: integer, minimum: 0}";
    Error INVALID_SCHEDULE "invalid-schedule": "an invalid schedule or time zone",
"A schedule has the five fields of cron: minute, hour, day of the month, month and day of the week. The time zone is an
IANA time zone. The value of a field of the object cannot be checked here: if it is invalid, the gate of the object
stays closed, and the condition `Stalled` gives the reason.

Bad:

    Upgrade: {next: [Roam], gate: {during: {schedule: 0 25 * * *, duration: 6h}}}

Good:

    Upgrade: {next: [Roam], gate: {during: {schedule: 0 22 * * *, duration: 6h, timeZone: Europe/Berlin}}}";
    Error INVALID_SCHEMA "invalid-schema": "an API server would not accept the schema",
"The schema becomes the schema of the CRD. It therefore has to be structural: its defaults have to be valid, its bounds
have to fit their types, its patterns have to be regular expressions of Go (RE2), and the keys `x-kubernetes-*` of a
list or a map have to fit it. The paths of `scale` and `selectableFields` have to be valid, too.

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
    Error UNREACHED_CHANGE "unreached-change": "an entry of `onSpecChange` names a field that an earlier entry covers, or that never changes",
"The first entry of the list with a changed field decides, and the path of an object covers the fields in it. So a path
has no effect after the same path or a path that covers it, and an entry has no effect after an entry without `of`. A
field that is `immutable` never changes, so its path has no effect, either.

Bad:

    Ready: {kind: ready, onSpecChange: [{of: .spec.storage, to: Moving}, {of: .spec.storage.size, to: Growing}]}

Good:

    Ready: {kind: ready, onSpecChange: [{of: .spec.storage.size, to: Growing}, {of: .spec.storage, to: Moving}]}";
    Error RESUME_HAZARD "resume-hazard": "a restart could run a `once` handler twice, or lose the state of an object",
"`effects: once` promises that the handler runs at most once each time the state is entered. Such a state therefore:

- cannot `wait` or `retry`, because both run the handler again;
- needs a `resume`: another state, not `once` itself, whose handler finds out after a crash what was done;
- cannot be on the deletion path, which has to continue after a crash.

`checkpoint: false` skips the write of `.status` when the state is entered. Only a `working` state that the object
leaves immediately can do without that write: a state without `wait`, `timeout`, `limit` and `effects: once` that is not
entered from a `once` state.

Bad:

    Charge: {effects: once, next: [Charged]}

Good:

    Charge: {effects: once, resume: LookUp, next: [Charged]}
    LookUp: {next: [Charged, Charge], wait: {poll: 10s}}";
}
