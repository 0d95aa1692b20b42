//! Recording rules and alerts for the objectives of a description (`slo`): how fast their error budgets are consumed,
//! in several windows at once, after chapter 5 of Google's Site Reliability Workbook.

use serde_json::{Value as Json, json};

use super::alert::{Alert, labels, state_section};
use crate::model::{Description, Kind, Objective, format_duration};

/// The windows for which rates are recorded.
const WINDOWS: [&str; 7] = ["5m", "30m", "1h", "2h", "6h", "1d", "3d"];

/// A long window and a short one, which ends the alert soon after its cause; the burn rate in both, as a multiple of
/// the allowed rate; and the severity.
const BURNS: [(&str, &str, f64, &str); 4] = [
    ("1h", "5m", 14.4, "critical"),
    ("6h", "30m", 6.0, "critical"),
    ("1d", "2h", 3.0, "warning"),
    ("3d", "6h", 1.0, "warning"),
];

/// The name of the recorded rate of a window.
fn recorded(window: &str) -> String {
    format!("krator_objective:missed:ratio_rate{window}")
}

/// The rules that record the fraction of the objects that has missed its objective.
pub(super) fn recording_rules(description: &Description) -> Vec<Json> {
    let objectives = description.kinds.iter().flat_map(|kind| {
        let objectives = kind.objectives.iter();
        objectives.map(move |objective| (kind, objective))
    });
    let rules = objectives.flat_map(|(kind, objective)| {
        WINDOWS.map(|window| {
            let rate = |result: &str| {
                let labels = labels(kind);
                let name = &objective.name;
                format!(
                    "sum by (group, kind, objective) (rate(krator_objective_total{{{labels},objective=\"{name}\",result{result}}}[{window}]))"
                )
            };
            json!({
                "record": recorded(window),
                "expr": format!("{} / {}", rate("=\"missed\""), rate("=~\"met|missed\"")),
            })
        })
    });
    rules.collect()
}

/// The alerts of the objectives of a kind: one for each severity.
pub(super) fn alerts(kind: &Kind) -> Vec<Alert> {
    let alerts = kind
        .objectives
        .iter()
        .flat_map(|objective| ["critical", "warning"].map(|severity| burns(kind, objective, severity)));
    alerts.collect()
}

fn burns(kind: &Kind, objective: &Objective, severity: &'static str) -> Alert {
    let Objective {
        name,
        from,
        to,
        within,
        objective,
        ..
    } = objective;
    let (from, to) = (kind.state(from.value), kind.state(to.value));
    // Rounded, because the float has inexact last digits.
    let allowed = ((100.0 - objective.value) * 1e6).round() / 1e6;
    let labels = format!("{},objective=\"{name}\"", labels(kind));
    let fast = BURNS.iter().filter(|(.., of)| *of == severity);
    let fast = fast.map(|(long, short, factor, _)| {
        let is_over = |window| format!("{}{{{labels}}} > {factor} * {allowed} / 100", recorded(window));
        format!("({} and {})", is_over(long), is_over(short))
    });
    let (how, when) = match severity {
        "critical" => ("IsMissed", "within days"),
        _ => ("IsMissedSlowly", "before the month ends"),
    };
    let resource = kind.resource.kind.as_str();
    Alert {
        name: format!("{resource}{}To{}{how}", from.name.as_str(), to.name.as_str()),
        section: state_section(kind, from),
        summary: format!(
            "too many objects of the kind {resource} take longer than {} from {} to {}: at this rate, the {allowed}% \
             allowed in a month are used up {when}",
            format_duration(within.value),
            from.name.as_str(),
            to.name.as_str(),
        ),
        advice: format!(
            "See in which state between {} and {} objects stay: the dashboard shows the age of the oldest object in \
             each. The section of that state says what it waits for.",
            from.name.as_str(),
            to.name.as_str()
        ),
        about: (Some(resource.to_owned()), None),
        severity,
        expression: fast.collect::<Vec<_>>().join(" or "),
        hold: "2m",
    }
}
