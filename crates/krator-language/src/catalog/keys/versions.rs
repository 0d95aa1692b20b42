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
        "Whether this is the storage version instead of the newest version: for the first release that has a new version.",
        "versions: {v1beta1: {storage: true}}");
    Columns = optional("columns", List { of: &Mapping(&COLUMN), min: 0, max: None },
        "Printer columns of the version.",
        "versions: {v1beta1: {columns: [{name: Height, path: .spec.height}]}}")
        .default("those of the next newer version whose fields this version has");
    Changes = optional("changes", List { of: &Mapping(&CHANGE), min: 0, max: None },
        "The changes that convert an object of this version to the next newer one, in this order.",
        "spec: {replicas: integer}\nversions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}");
}

section! {
    /// A change from a version to the next newer one. It has one of `renamed`, `moved`, `values`, `added`, `removed`, `retyped` and
    /// `custom`, with the path of the field that it is about: in the older version, or in both.
    ChangeKey in CHANGE, "a change":
    Renamed = optional("renamed", Path,
        "A field that was renamed: its new path is `to`.",
        "spec: {replicas: integer}\nversions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}");
    Moved = optional("moved", Path,
        "A field that was moved: its new path is `to`. `[0]` is the first item of a list.",
        "spec: {hosts: list of string}\nversions: {v1beta1: {changes: [{moved: .spec.host, to: \".spec.hosts[0]\"}]}}");
    To = optional("to", Path,
        "The path of the field in the newer version.",
        "spec: {replicas: integer}\nversions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}");
    Values = optional("values", Path,
        "A field whose values were renamed, as given by `map`.",
        "spec: {mode: {enum: [Turbo, Eco]}}\nversions: {v1beta1: {changes: [{values: .spec.mode, map: {fast: Turbo, slow: Eco}}]}}");
    Map = optional("map", Map { by: NameOf::Value, of: &Either(&[String, List { of: &String, min: 1, max: None }]) },
        "The newer value of each older one. If an older value has several newer ones, it becomes the first, and each \
         of them becomes the older value. With the keys `true` and `false`, the older field is a boolean.",
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
        "A duration that was a number in the given `unit`.",
        "spec: {timeout: duration}\nversions: {v1beta1: {changes: [{retyped: .spec.timeout, from: integer, unit: seconds}]}}");
    From = optional("from", Schema,
        "The type in the older version.",
        "spec: {timeout: duration}\nversions: {v1beta1: {changes: [{retyped: .spec.timeout, from: integer, unit: seconds}]}}");
    Unit = optional("unit", Word(&["milliseconds", "seconds", "minutes", "hours"]),
        "The unit of the number.",
        "spec: {timeout: duration}\nversions: {v1beta1: {changes: [{retyped: .spec.timeout, from: integer, unit: seconds}]}}");
    Custom = optional("custom", Path,
        "A field that your function in `conversions.rs` converts, in both directions.",
        "spec: {selector: object}\nversions: {v1beta1: {changes: [{custom: .spec.selector, from: string}]}}");
}
