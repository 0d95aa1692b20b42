//! The ValidatingAdmissionPolicies of a description, as values. They deny requests that the schema allows.
//!
//! Policies never compare the names of accounts, which kustomize and Helm change: they check with the authorizer for
//! the verb `operate`, which the role of the operator has.

mod moves;

pub(crate) use moves::Moves;
pub use moves::may_follow;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize as _;
use serde_json::{Value as Json, json};

use crate::graph::StateGraph;
use crate::model::{Description, Kind, Scope};

/// The path of the manifest.
pub const MANIFEST: &str = "deploy/policies.yaml";

/// The verb that clients need to write the status.
pub const OPERATE: &str = "operate";

/// The verb that clients need to approve entries into states.
pub const APPROVE: &str = "approve";

/// The maximum number of characters of a name, and of an expression in CEL.
pub(crate) const LONGEST_NAME: usize = 253;
pub(crate) const LONGEST_EXPRESSION: usize = 100_000;

/// The variables with the moves of this description, and of former ones.
const NOW: &str = "now";
const BEFORE: &str = "before";

/// The moves of each kind in former descriptions, by the name of its policy.
pub type FormerMoves = BTreeMap<String, Moves>;

/// The policies of a description, each with its binding.
pub fn policies(description: &Description, former: &FormerMoves) -> Vec<Json> {
    let mut all = Vec::new();
    for kind in &description.kinds {
        if kind.admission.status.is_some() {
            all.extend(status(kind));
        }
        if !kind.admission.protect.is_empty() {
            all.extend(protect(kind));
        }
        if kind.admission.transitions.is_some() {
            all.extend(transitions(kind, former));
        }
        if kind.needs_approvals() {
            all.extend(approvals(kind));
        }
        if let Some(versions) = crate::versions::of(description, kind) {
            all.extend(held(kind, &versions.annotation()));
        }
    }
    all
}

/// The moves of the descriptions that were generated before this one. Policies are deployed before pods, so the
/// operator of the previous release must still be able to write. It is unknown which of the descriptions was released,
/// so the moves of all are kept until the manifest is deleted. `edited` is the description of the last generation, if
/// it differs; `manifest` is the output of that generation.
pub fn former_moves(now: &Description, edited: Option<&Description>, manifest: Option<&str>) -> FormerMoves {
    let guarded = now
        .kinds
        .iter()
        .filter(|kind| kind.admission.transitions.is_some());
    let now = moves_of(guarded);
    if now.is_empty() {
        return FormerMoves::new();
    }
    let mut moves = manifest.map(remembered).unwrap_or_default();
    // A release without the policy made its moves as well.
    for (name, former) in edited.map(|edited| moves_of(&edited.kinds)).unwrap_or_default() {
        if now.get(&name) != Some(&former) {
            let both = moves.remove(&name).unwrap_or_default().or(&former);
            let fits = both.list().chars().count() <= LONGEST_EXPRESSION;
            moves.insert(name, if fits { both } else { former });
        }
    }
    moves.retain(|name, former| !now.get(name).is_some_and(|now| now.include(former)));
    moves
}

fn moves_of<'a>(kinds: impl IntoIterator<Item = &'a Kind>) -> FormerMoves {
    kinds
        .into_iter()
        .map(|kind| (name(kind, "transitions"), moves(kind)))
        .collect()
}

/// The moves of a kind.
pub(crate) fn moves(kind: &Kind) -> Moves {
    Moves::of(kind, &StateGraph::of(kind))
}

/// The data that the policies of a manifest preserve.
fn remembered(manifest: &str) -> FormerMoves {
    let documents = serde_yaml::Deserializer::from_str(manifest);
    let documents = documents.filter_map(|document| Json::deserialize(document).ok());
    documents
        .filter_map(|policy| {
            let mut variables = policy["spec"]["variables"].as_array()?.iter();
            let before = variables.find(|variable| variable["name"] == BEFORE)?;
            let name = policy["metadata"]["name"].as_str()?;
            Some((name.to_owned(), Moves::read(before["expression"].as_str()?)?))
        })
        .collect()
}

/// The name of a policy of a kind: its purpose, and the name of the CRD.
pub(crate) fn name(kind: &Kind, what: &str) -> String {
    format!("{what}.{}", kind.resource.definition())
}

/// A text as a string of CEL, for which JSON strings are valid.
fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

fn list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(quoted).collect();
    format!("[{}]", texts.join(", "))
}

/// Only clients that may `operate` on the resource may write the status.
fn status(kind: &Kind) -> [Json; 2] {
    let resource = &kind.resource;
    let (group, plural) = (resource.group.as_str(), resource.plural.as_str());
    let namespace = match resource.scope.value {
        Scope::Namespaced => ".namespace(request.namespace)",
        Scope::Cluster => "",
    };
    let check = format!(
        "authorizer.group({}).resource({}){namespace}.name(request.name).check({}).allowed()",
        quoted(group),
        quoted(plural),
        quoted(OPERATE)
    );
    let message = format!(
        "only the operator may write the status of a {}; other clients need the verb {OPERATE} on {plural}.{group}",
        resource.kind.value
    );
    let more = json!({"validations": [{"expression": check, "message": message, "reason": "Forbidden"}]});
    policy(kind, "status", ("UPDATE", "/status"), more)
}

/// Objects in some states are protected from accidental deletion.
fn protect(kind: &Kind) -> [Json; 2] {
    let resource = &kind.resource;
    let annotation = format!("{}/allow-deletion", resource.group.value);
    let protected = kind.admission.protect.iter();
    let states: BTreeSet<&str> = protected.flat_map(|id| kind.state(id.value).names()).collect();
    let (has, value) = annotated("oldObject", &annotation);
    let mut reasons = vec![
        "has(oldObject.metadata.deletionTimestamp)".to_owned(),
        format!("{has} && {value} == \"true\""),
        format!("!(variables.state in {})", list(states)),
    ];
    let mut namespace = "";
    if resource.scope.value == Scope::Namespaced {
        namespace = " -n \" + oldObject.metadata.namespace + \"";
        // The objects of a namespace that is being deleted are deleted with it.
        let terminates = "namespaceObject != null && has(namespaceObject.metadata.deletionTimestamp)";
        reasons.insert(1, terminates.to_owned());
    }
    let message = format!(
        "\"this {} is protected in the state \" + variables.state + \"; to delete it anyway: kubectl \
         annotate{namespace} {}.{} \" + oldObject.metadata.name + \" {annotation}=true\"",
        resource.kind.value, resource.plural.value, resource.group.value
    );
    let more = json!({
        "variables": [{"name": "state", "expression": state_of("oldObject")}],
        "validations": [{
            "expression": reasons.join(" || "),
            "messageExpression": message,
            "reason": "Forbidden",
        }],
    });
    policy(kind, "protect", ("DELETE", ""), more)
}

/// Only conversions may write the annotation with data that another version cannot hold. An object may be created with
/// the annotation, for example from a backup, and a client that removes the annotation only resets the data.
fn held(kind: &Kind, annotation: &str) -> [Json; 2] {
    let resource = &kind.resource;
    let has = |object: &str| annotated(object, annotation).0;
    let value = |object: &str| annotated(object, annotation).1;
    // A server-side apply by a manager that used another version before converts the object there and back, which drops
    // outdated data. A manager that wrote the annotation itself owns it.
    let manager = "request.options.fieldManager";
    let by_apply = format!(
        "has({manager}) && object.metadata.managedFields.exists(m, m.manager == {manager} && m.operation == 'Apply') && \
         !object.metadata.managedFields.exists(m, m.manager == {manager} && 'f:metadata' in m.fieldsV1 && \
         'f:annotations' in m.fieldsV1['f:metadata'] && {} in m.fieldsV1['f:metadata']['f:annotations'])",
        quoted(&format!("f:{annotation}"))
    );
    let check = format!(
        "!({}) || {} && {} == {} || {by_apply}",
        has("object"),
        has("oldObject"),
        value("object"),
        value("oldObject")
    );
    let message =
        format!("only the conversion between versions writes the annotation {annotation}: leave it as it is");
    let served = kind.versions.iter().filter(|version| version.served);
    let versions = served.map(|version| version.name.as_str());
    let versions: Vec<&str> = std::iter::once(resource.version.as_str())
        .chain(versions)
        .collect();
    let more = json!({
        // A legitimate edit in one version changes the data that is kept for another, so each request is checked in its
        // own version.
        "matchConstraints": {
            "matchPolicy": "Exact",
            "resourceRules": [{
                "apiGroups": [resource.group.as_str()],
                "apiVersions": versions,
                "operations": ["UPDATE"],
                "resources": [resource.plural.as_str()],
            }],
        },
        "validations": [{"expression": check, "message": message, "reason": "Forbidden"}],
    });
    policy(kind, "held", ("UPDATE", ""), more)
}

/// Only clients that may `approve` the resource may approve an ask: the stored one, in their own name, and not together
/// with an edit of the spec. An object may be created with an approval, for example from a backup, because it does not
/// apply to any later ask; and a client that removes an approval only withdraws it.
fn approvals(kind: &Kind) -> [Json; 2] {
    let resource = &kind.resource;
    let annotation = approval_annotation(kind);
    let value = |object: &str| {
        let (has, value) = annotated(object, &annotation);
        format!("{has} ? {value} : \"\"")
    };
    let ask = "has(oldObject.status) && has(oldObject.status.ask) && has(oldObject.status.ask.id) ? \
               oldObject.status.ask.id + \" by \" + request.userInfo.username : \"\"";
    let given = "variables.given == variables.before || variables.given == \"\"";
    let what = format!("a {}", resource.kind.value);
    let refused = |check: &str, message: String| json!({"expression": format!("{given} || {check}"), "message": message, "reason": "Forbidden"});
    let more = json!({
        "variables": [
            {"name": "before", "expression": value("oldObject")},
            {"name": "given", "expression": value("object")},
            {"name": "approves", "expression": ask},
        ],
        "validations": [
            refused(
                &format!("authorizer.requestResource.check({}).allowed()", quoted(APPROVE)),
                format!(
                    "approving the ask of {what} needs the verb {APPROVE} on {}.{}",
                    resource.plural.value, resource.group.value
                ),
            ),
            refused(
                "object.metadata.generation == oldObject.metadata.generation",
                format!("{what} cannot be approved together with an edit of its spec"),
            ),
            refused(
                "variables.approves != \"\" && (variables.given == variables.approves || \
                 variables.given.startsWith(variables.approves + \": \"))",
                format!(
                    "the annotation {annotation} is `ID by USER` or `ID by USER: REASON`, with the .status.ask.id of the \
                     object and your own name; krator approve writes it"
                ),
            ),
        ],
    });
    policy(kind, "approvals", ("UPDATE", ""), more)
}

/// The annotation that approves an ask.
pub fn approval_annotation(kind: &Kind) -> String {
    format!("{}/approve", kind.resource.group.value)
}

/// The stored state may change only along edges.
fn transitions(kind: &Kind, former: &FormerMoves) -> [Json; 2] {
    let name = name(kind, "transitions");
    let mut variables = vec![
        json!({"name": "from", "expression": state_of("oldObject")}),
        json!({"name": "to", "expression": state_of("object")}),
        json!({"name": NOW, "expression": moves(kind).list()}),
    ];
    let mut moves = format!("variables.from == variables.to || {}", Moves::allow(NOW));
    if let Some(former) = former.get(&name) {
        variables.push(json!({"name": BEFORE, "expression": former.list()}));
        moves.push_str(&format!(" || {}", Moves::allow(BEFORE)));
    }
    let message = format!(
        "\"no edge of the machine of {} leads from the state '\" + variables.from + \"' to '\" + variables.to + \"'; \
         if the operator has this edge, the policy {name} is older than the operator: apply the policy of its \
         release\"",
        kind.resource.kind.value
    );
    let more = json!({
        "variables": variables,
        "validations": [{"expression": moves, "messageExpression": message, "reason": "Forbidden"}],
    });
    policy(kind, "transitions", ("UPDATE", "/status"), more)
}

/// CEL expressions for whether an object has an annotation, and for its value.
fn annotated(object: &str, annotation: &str) -> (String, String) {
    let (annotations, name) = (format!("{object}.metadata.annotations"), quoted(annotation));
    (
        format!("has({annotations}) && {name} in {annotations}"),
        format!("{annotations}[{name}]"),
    )
}

/// A CEL expression for the name of the stored state, or for an empty string.
fn state_of(object: &str) -> String {
    format!("has({object}.status) && has({object}.status.state) ? {object}.status.state : \"\"")
}

fn policy(kind: &Kind, what: &str, (operation, subresource): (&str, &str), more: Json) -> [Json; 2] {
    const API_VERSION: &str = "admissionregistration.k8s.io/v1";
    let (name, resource) = (name(kind, what), &kind.resource);
    let mut spec = json!({
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [{
            "apiGroups": [resource.group.as_str()],
            "apiVersions": ["*"],
            "operations": [operation],
            "resources": [format!("{}{subresource}", resource.plural.value)],
        }]},
    });
    if let (Json::Object(spec), Json::Object(more)) = (&mut spec, more) {
        spec.extend(more);
        spec.sort_keys();
    }
    [
        json!({
            "apiVersion": API_VERSION,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": spec,
        }),
        json!({
            "apiVersion": API_VERSION,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(states: &str) -> Description {
        let text = format!(
            "krator: 1\nresource: {{group: example.com, version: v1, kind: Thing}}\nspec: {{}}\n\
             machine: {{initial: A}}\nadmission: {{transitions: true}}\nstates: {states}\n"
        );
        crate::check("krator.yaml", text.as_bytes())
            .description
            .expect("a description")
    }

    fn manifest(now: &Description, former: &FormerMoves) -> String {
        let documents = policies(now, former);
        let documents = documents
            .iter()
            .map(|document| serde_yaml::to_string(document).expect("YAML"));
        documents.collect::<Vec<_>>().join("---\n")
    }

    #[test]
    fn the_moves_of_descriptions_before_are_remembered() {
        let one = described("{A: {kind: ready, next: [B]}, B: {kind: ready}}");
        let two = described("{A: {kind: ready, next: [C]}, B: {kind: ready}, C: {kind: ready, next: [B]}}");
        let three = described(
            "{A: {kind: ready, doc: The same graph., next: [C]}, B: {kind: ready}, C: {kind: ready, next: [B]}}",
        );
        let four = described("{A: {kind: ready, next: [D]}, D: {kind: ready, next: [A]}}");
        assert_eq!(former_moves(&one, None, None), FormerMoves::new());
        let first = manifest(&one, &FormerMoves::new());
        let after_edit = former_moves(&two, Some(&one), Some(&first));
        assert_eq!(after_edit, moves_of(&one.kinds));
        let second = manifest(&two, &after_edit);
        assert_eq!(
            former_moves(&two, None, Some(&second)),
            after_edit,
            "a second run changes nothing"
        );
        let third = former_moves(&three, Some(&two), Some(&second));
        assert_eq!(third, after_edit, "an edit that leaves the graph as it is");
        let fourth = former_moves(&four, Some(&three), Some(&manifest(&three, &third)));
        let name = "transitions.things.example.com";
        let both = moves_of(&one.kinds)[name]
            .clone()
            .or(&moves_of(&three.kinds)[name]);
        assert_eq!(
            fourth,
            FormerMoves::from([(name.to_owned(), both)]),
            "none of the two is known to be released"
        );
        let back = former_moves(&three, Some(&four), Some(&manifest(&four, &fourth)));
        assert!(
            back[name].include(&moves_of(&four.kinds)[name]),
            "a rollback is an edit like any other"
        );
        assert_eq!(
            former_moves(&four, None, None),
            FormerMoves::new(),
            "without the manifest, nothing is remembered"
        );
    }
}
