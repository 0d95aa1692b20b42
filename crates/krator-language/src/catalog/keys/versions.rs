//! Older versions of the API.

use super::Type::{Any, Boolean, Either, List, Map, Mapping, Path, Schema, String, True, Word};
use super::columns::COLUMN;
use super::{NameOf, optional, section};

section! {
    /// An older version.
    VersionKey in VERSION, "a version":
    Deprecated = optional("deprecated", String,
        "The warning for clients that use the version, which is then deprecated.",
        "versions: {v1beta1: {deprecated: use v1}}");
    Served = optional("served", Boolean,
        "Whether clients may use the version.",
        "versions: {v1beta1: {served: false}}")
        .default("`true`");
    Storage = optional("storage", True,
        "Whether this is the storage version instead of the newest: for the first release that has a new version.",
        "versions: {v1beta1: {storage: true}}");
    Columns = optional("columns", List { of: &Mapping(&COLUMN), min: 0, max: None },
        "Printer columns of the version.",
        "versions: {v1beta1: {columns: [{name: Height, path: .spec.height}]}}")
        .default("those of the next newer version, as far as it has their fields");
    Changes = optional("changes", List { of: &Mapping(&CHANGE), min: 0, max: None },
        "What makes an object of the next newer version of one of this version, in this order.",
        "spec: {replicas: integer}\nversions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}");
}

section! {
    /// A change from a version to the next newer one. It has one of `renamed`, `moved`, `values`, `added`, `removed`, `retyped` and
    /// `custom`, with the path of the field that it is about: in the older version, or in both.
    ChangeKey in CHANGE, "a change":
    Renamed = optional("renamed", Path,
        "A field that has another name now: `to`.",
        "spec: {replicas: integer}\nversions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}");
    Moved = optional("moved", Path,
        "A field that is elsewhere now: `to`. `[0]` is the first item of a list.",
        "spec: {hosts: list of string}\nversions: {v1beta1: {changes: [{moved: .spec.host, to: \".spec.hosts[0]\"}]}}");
    To = optional("to", Path,
        "Where the field is now.",
        "spec: {replicas: integer}\nversions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}");
    Values = optional("values", Path,
        "A field whose values have other names now: `map`.",
        "spec: {mode: {enum: [Turbo, Eco]}}\nversions: {v1beta1: {changes: [{values: .spec.mode, map: {fast: Turbo, slow: Eco}}]}}");
    Map = optional("map", Map { by: NameOf::Value, of: &Either(&[String, List { of: &String, min: 1, max: None }]) },
        "For each older value what it is now. Of several newer values, the first is meant, and all of them are the older value. \
        `true` and `false` make the older field a boolean.",
        "spec: {mode: {enum: [Turbo, Eco]}}\nversions: {v1beta1: {changes: [{values: .spec.mode, map: {fast: Turbo, slow: Eco}}]}}");
    Added = optional("added", Path,
        "A field that the older version lacks.",
        "spec: {tls: boolean}\nversions: {v1beta1: {changes: [{added: .spec.tls, default: false}]}}");
    Default = optional("default", Any,
        "The value of an added field in objects of the older version.",
        "spec: {tls: boolean}\nversions: {v1beta1: {changes: [{added: .spec.tls, default: false}]}}")
        .default("the default of the field");
    Removed = optional("removed", Path,
        "A field that only the older version has, of this `type`.",
        "versions: {v1beta1: {changes: [{removed: .spec.legacy, type: optional string}]}}");
    Type = optional("type", Schema,
        "The type of a removed field. It is optional, or has a default.",
        "versions: {v1beta1: {changes: [{removed: .spec.legacy, type: optional string}]}}");
    Retyped = optional("retyped", Path,
        "A duration that was a number of a `unit`.",
        "spec: {timeout: duration}\nversions: {v1beta1: {changes: [{retyped: .spec.timeout, from: integer, unit: seconds}]}}");
    From = optional("from", Schema,
        "The type in the older version.",
        "spec: {timeout: duration}\nversions: {v1beta1: {changes: [{retyped: .spec.timeout, from: integer, unit: seconds}]}}");
    Unit = optional("unit", Word(&["milliseconds", "seconds", "minutes", "hours"]),
        "What the number counts.",
        "spec: {timeout: duration}\nversions: {v1beta1: {changes: [{retyped: .spec.timeout, from: integer, unit: seconds}]}}");
    Custom = optional("custom", Path,
        "A field that a function of yours converts, both ways, in `conversions.rs`.",
        "spec: {selector: object}\nversions: {v1beta1: {changes: [{custom: .spec.selector, from: string}]}}");
}
