//! Defaults of the groups `autoscaling`, `flowcontrol.apiserver.k8s.io` and `resource.k8s.io`.

use super::Default;
use crate::builtin::json::{int, list, set};
use serde_json::{Value as Json, json};

pub(super) fn of(type_name: &str) -> Option<Default> {
    Some(match type_name {
        "autoscaling/v2.HorizontalPodAutoscalerSpec" => autoscaler,
        "flowcontrol/v1.FlowSchemaSpec" => |spec| {
            if int(spec, "matchingPrecedence") == Some(0) {
                set(spec, "matchingPrecedence", 1000);
            }
        },
        "resource/v1.ExactDeviceRequest" | "resource/v1.DeviceSubRequest" => |request| {
            if request["allocationMode"] == "ExactCount" && int(request, "count").unwrap_or_default() == 0 {
                set(request, "count", 1);
            }
        },
        _ => return None,
    })
}

fn autoscaler(spec: &mut Json) {
    if list(spec, "metrics").is_empty() {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        let cpu = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
        set(spec, "metrics", json!([cpu]));
    }
}
