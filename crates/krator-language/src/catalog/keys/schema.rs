//! Types as mappings: the keys of OpenAPI v3 as in a structural schema, and those of the language.

use super::Type::{
    Any, Boolean, Either, Integer, List, Map, Mapping, Name, Number, Phrase, Schema, String, True, Word,
};
use super::{NameOf, Type, optional, required, section};
use crate::names::{FormatName, RustFieldName};

/// A count without an upper bound of its own.
const COUNT: Type = Integer {
    min: 0,
    max: i64::MAX,
};

section! {
    /// A type that is written as a mapping.
    TypeKey in TYPE, "a type":
    Type = optional("type", Phrase("a type as a phrase"),
        "The type as a phrase. It may be left out if `properties`, `items`, `additionalProperties` or `enum` implies it.",
        "spec: {routes: {type: optional list of string, maxItems: 9}}");
    Optional = optional("optional", Boolean,
        "Whether the value may be left out.",
        "spec: {nickname: {type: string, optional: true}}")
        .default("`false`");
    Description = optional("description", String,
        "What the value means, for the CRD and the documentation of the Rust type.",
        "spec: {weight: {type: number, description: Weight in kilograms}}");
    RustName = optional("rustName", Name(RustFieldName::PATTERN),
        "The name of the field in Rust, if the JSON name is not valid there, such as `-Xmx`, or becomes the name of \
         another field, such as `keyUrl` next to `key_url`.",
        "spec: {-Xmx: {type: optional string, rustName: xmx}}");
    Default = optional("default", Any,
        "The value that the API server sets if there is none; it has to fit the type and its limits.",
        "spec: {weight: {type: number, default: 300}}");
    Example = optional("example", Any,
        "A value for the sample objects and the generated tests, which also goes into the CRD. An optional field with an example is part of the samples.",
        "spec: {weight: {type: number, example: 412.5}}");
    Enum = optional("enum", List { of: &Either(&[String, Number(None)]), min: 1, max: None },
        "The allowed values: strings, or numbers with a numeric `type`.",
        "spec: {sex: {enum: [female, male]}}");
    Properties = optional("properties", Map { by: NameOf::Field, of: &Schema },
        "The fields of an object.",
        "spec: {collar: {properties: {serial: string}}}");
    Items = optional("items", Schema,
        "The type of the items of a list.",
        "spec: {routes: {items: string, maxItems: 9}}");
    AdditionalProperties = optional("additionalProperties", Either(&[True, Schema]),
        "The type of the values of a map; `true` means `any`.",
        "spec: {tags: {additionalProperties: string}}");
    Nullable = optional("nullable", Boolean,
        "Whether null is a valid value. It cannot be combined with an `enum`, because the API server would refuse null.",
        "spec: {weight: {type: number, nullable: true}}")
        .default("`false`");
    Format = optional("format", Name(FormatName::PATTERN),
        "A format of OpenAPI. `int32`, `int64`, `double` and `date-time` choose the type of the language.",
        "spec: {site: {type: string, format: uri}}");
    Minimum = optional("minimum", Number(None),
        "The minimum of a number.",
        "spec: {weight: {type: number, minimum: 0}}");
    Maximum = optional("maximum", Number(None),
        "The maximum of a number.",
        "spec: {weight: {type: number, maximum: 900}}");
    ExclusiveMinimum = optional("exclusiveMinimum", Boolean,
        "Whether `minimum` itself is refused.",
        "spec: {weight: {type: number, minimum: 0, exclusiveMinimum: true}}")
        .default("`false`");
    ExclusiveMaximum = optional("exclusiveMaximum", Boolean,
        "Whether `maximum` itself is refused.",
        "spec: {weight: {type: number, maximum: 900, exclusiveMaximum: true}}")
        .default("`false`");
    MultipleOf = optional("multipleOf", Number(None),
        "The value has to be a multiple of this number, which is greater than 0.",
        "spec: {steps: {type: integer, multipleOf: 5}}");
    MinLength = optional("minLength", COUNT,
        "The minimum number of characters of a string.",
        "spec: {nickname: {type: string, minLength: 1}}");
    MaxLength = optional("maxLength", COUNT,
        "The maximum number of characters of a string.",
        "spec: {nickname: {type: string, maxLength: 20}}");
    Pattern = optional("pattern", String,
        "A regular expression that the string has to match.",
        "spec: {serial: {type: string, pattern: \"^[A-Z]{2}[0-9]+$\"}}");
    MinItems = optional("minItems", COUNT,
        "The minimum number of items of a list.",
        "spec: {routes: {type: list of string, minItems: 1}}");
    MaxItems = optional("maxItems", COUNT,
        "The maximum number of items of a list.",
        "spec: {routes: {type: list of string, maxItems: 9}}");
    MinProperties = optional("minProperties", COUNT,
        "The minimum number of entries of an object or a map.",
        "spec: {tags: {type: map of string, minProperties: 1}}");
    MaxProperties = optional("maxProperties", COUNT,
        "The maximum number of entries of an object or a map.",
        "spec: {tags: {type: map of string, maxProperties: 9}}");
    AllOf = optional("allOf", List { of: &Any, min: 0, max: None },
        "OpenAPI schemas, all of which the value has to match as well. They may contain only limits.",
        "spec: {nickname: {type: string, maxLength: 20, allOf: [{pattern: \"^[A-Z]\"}, {pattern: \"[a-z]$\"}]}}");
    AnyOf = optional("anyOf", List { of: &Any, min: 0, max: None },
        "OpenAPI schemas, at least one of which the value has to match as well.",
        "spec: {collar: {properties: {serial: optional string, colour: optional string}, anyOf: [{required: [serial]}, {required: [colour]}]}}");
    OneOf = optional("oneOf", List { of: &Any, min: 0, max: None },
        "OpenAPI schemas, exactly one of which the value has to match as well.",
        "spec: {collar: {properties: {serial: optional string, colour: optional string}, oneOf: [{required: [serial]}, {required: [colour]}]}}");
    Not = optional("not", Any,
        "An OpenAPI schema that the value must not match.",
        "spec: {nickname: {type: string, not: {pattern: \"^[0-9]\"}}}");
    Immutable = optional("immutable", True,
        "The field of `.spec` never changes after the object is created: it is neither added nor removed.",
        "spec: {zone: {type: string, immutable: true}}");
    OnceSet = optional("onceSet", True,
        "The field of `.spec` may be left out at first; once it is set, it cannot change.",
        "spec: {zone: {type: optional string, onceSet: true}}");
    Transition = optional("transition", Map { by: NameOf::Value, of: &List { of: &String, min: 0, max: None } },
        "For each value of an `enum`, the values to which it may change. A value that is not a key of the map cannot \
         change, and no value can be removed.",
        "spec: {decision: {enum: [Pending, Approved, Denied], transition: {Pending: [Approved, Denied]}}}");
    Validations = optional("validations", List { of: &Mapping(&VALIDATION), min: 0, max: None },
        "Rules in CEL, which the API server applies to the value.",
        "spec: {weight: {type: number, validations: [{rule: self > 0.0}]}}");
    KubernetesValidations = optional("x-kubernetes-validations", List { of: &Mapping(&VALIDATION), min: 0, max: None },
        "The same as `validations`, under its name in a CRD.",
        "spec: {weight: {type: number, x-kubernetes-validations: [{rule: self > 0.0}]}}");
    PreserveUnknownFields = optional("x-kubernetes-preserve-unknown-fields", True,
        "The API server keeps fields that the schema does not name.",
        "spec: {extra: {type: object, x-kubernetes-preserve-unknown-fields: true}}");
    EmbeddedResource = optional("x-kubernetes-embedded-resource", True,
        "The value is a Kubernetes object, with its `apiVersion`, `kind` and `metadata`.",
        "spec: {template: {type: object, x-kubernetes-embedded-resource: true}}");
    IntOrString = optional("x-kubernetes-int-or-string", True,
        "The value is an integer or a string; the same as the type `int-or-string`.",
        "spec: {port: {x-kubernetes-int-or-string: true}}");
    ListType = optional("x-kubernetes-list-type", Word(&["atomic", "set", "map"]),
        "How server-side apply merges the list.",
        "spec: {routes: {type: list of string, maxItems: 9, x-kubernetes-list-type: set}}");
    ListMapKeys = optional("x-kubernetes-list-map-keys", List { of: &String, min: 1, max: None },
        "The fields that identify an item of a list whose `x-kubernetes-list-type` is `map`.",
        "spec: {stops: {items: {properties: {name: string}}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]}}");
    MapType = optional("x-kubernetes-map-type", Word(&["atomic", "granular"]),
        "How server-side apply merges the map.",
        "spec: {tags: {type: map of string, x-kubernetes-map-type: atomic}}");
}

section! {
    /// The only key of `spec` that is not the name of a field.
    SpecKey in SPEC, "`spec`":
    Validations = optional("validations", List { of: &Mapping(&VALIDATION), min: 0, max: None },
        "Rules in CEL for `.spec` as a whole. A field of `.spec` cannot have this name.",
        "spec: {low: integer, high: integer, validations: [{rule: self.low <= self.high}]}");
}

section! {
    /// A rule in CEL.
    ValidationKey in VALIDATION, "a validation":
    Rule = required("rule", String,
        "The expression that has to be true, with the value as `self`.",
        "spec: {weight: {type: number, validations: [{rule: self > 0.0}]}}");
    Message = optional("message", String,
        "The message of the API server if the rule is violated, in one line.",
        "spec: {weight: {type: number, validations: [{rule: self > 0.0, message: a moose has a weight}]}}");
    MessageExpression = optional("messageExpression", String,
        "An expression in CEL that gives the message.",
        "spec: {weight: {type: number, validations: [{rule: self > 0.0, messageExpression: \"'not ' + string(self)\"}]}}");
    Reason = optional("reason",
        Word(&["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"]),
        "The reason in the API server's answer.",
        "spec: {weight: {type: number, validations: [{rule: self > 0.0, reason: FieldValueForbidden}]}}")
        .default("`FieldValueInvalid`");
    FieldPath = optional("fieldPath", String,
        "The field that the answer names, as a path from the value.",
        "spec: {low: integer, high: integer, validations: [{rule: self.low <= self.high, fieldPath: .low}]}");
    OptionalOldSelf = optional("optionalOldSelf", True,
        "A rule about `oldSelf` also applies to a new value; `oldSelf` is then an optional value of CEL.",
        "spec: {weight: {type: number, validations: [{rule: oldSelf.orValue(0.0) < 900.0 && self > 0.0, optionalOldSelf: true}]}}");
}
