//! Defaults of the groups that extend or configure the server, storage and scheduling.

use super::Default;
use crate::builtin::json::{get, int, list, set, set_default};
use serde_json::{Value as Json, json};

pub(super) fn of(type_name: &str) -> Option<Default> {
    Some(match type_name {
        "admissionregistration/v1.MatchResources" => match_resources,
        "admissionregistration/v1.MutatingAdmissionPolicySpec"
        | "admissionregistration/v1.ValidatingAdmissionPolicySpec" => {
            |spec| set_default(spec, "failurePolicy", "Fail")
        }
        "admissionregistration/v1.MutatingWebhook" => |webhook| {
            self::webhook(webhook);
            set_default(webhook, "reinvocationPolicy", "Never");
        },
        "admissionregistration/v1.ValidatingWebhook" => webhook,
        "admissionregistration/v1.RuleWithOperations"
        | "admissionregistration/v1.NamedRuleWithOperations" => |rule| set_default(rule, "scope", "*"),
        "admissionregistration/v1.ServiceReference" | "apiregistration/v1.ServiceReference" => {
            |service| set_default(service, "port", 443)
        }
        "autoscaling/v2.HorizontalPodAutoscalerSpec" => autoscaler,
        "discovery/v1.EndpointPort" => |port| {
            set_default(port, "name", "");
            set_default(port, "protocol", "TCP");
        },
        "flowcontrol/v1.FlowSchemaSpec" => |spec| {
            if int(spec, "matchingPrecedence") == Some(0) {
                set(spec, "matchingPrecedence", 1000);
            }
        },
        "flowcontrol/v1.LimitedPriorityLevelConfiguration" => |limits| {
            set_default(limits, "nominalConcurrencyShares", 30);
            set_default(limits, "lendablePercent", 0);
        },
        "resource/v1.ExactDeviceRequest" | "resource/v1.DeviceSubRequest" => |request| {
            set_default(request, "allocationMode", "ExactCount");
            if request["allocationMode"] == "ExactCount" && int(request, "count").unwrap_or_default() == 0 {
                set(request, "count", 1);
            }
        },
        "scheduling/v1.PriorityClass" => {
            |class| set_default(class, "preemptionPolicy", "PreemptLowerPriority")
        }
        "storage/v1.CSIDriverSpec" => csi_driver,
        "storage/v1.StorageClass" => |class| {
            set_default(class, "reclaimPolicy", "Delete");
            set_default(class, "volumeBindingMode", "Immediate");
        },
        _ => return None,
    })
}

fn match_resources(resources: &mut Json) {
    set_default(resources, "matchPolicy", "Equivalent");
    set_default(resources, "namespaceSelector", json!({}));
    set_default(resources, "objectSelector", json!({}));
}

fn webhook(webhook: &mut Json) {
    match_resources(webhook);
    set_default(webhook, "failurePolicy", "Fail");
    set_default(webhook, "timeoutSeconds", 10);
}

fn autoscaler(spec: &mut Json) {
    set_default(spec, "minReplicas", 1);
    if list(spec, "metrics").is_empty() {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        set(
            spec,
            "metrics",
            json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]),
        );
    }
}

fn csi_driver(spec: &mut Json) {
    set_default(spec, "attachRequired", true);
    set_default(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    for field in [
        "podInfoOnMount",
        "requiresRepublish",
        "seLinuxMount",
        "storageCapacity",
    ] {
        set_default(spec, field, false);
    }
    if get(spec, "volumeLifecycleModes").is_none() {
        set(spec, "volumeLifecycleModes", json!(["Persistent"]));
    }
}
