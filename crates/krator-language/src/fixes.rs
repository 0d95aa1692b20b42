//! Fixes of findings, applied to the text of a description.

use crate::Checked;
use crate::catalog::{FORMER_NAME, Severity, VERSION_SKIPPED};
use crate::checked::check_with;
use crate::finding::{self, Finding, Fix, Source, Span};
use crate::model::Extra;
use crate::rules;
use crate::spec::Files;
use crate::tolerant_tree::TolerantTree;
use std::collections::BTreeSet;

/// The maximum number of rounds of fixes and checks: a fix may reveal a mistake that another one hid.
const ROUNDS: usize = 10;

/// A text after its fixes.
#[derive(Debug)]
pub struct Fixed {
    /// The text after the fixes, with its remaining findings.
    pub checked: Checked,
    /// The number of fixes that were applied.
    pub count: usize,
}

/// The fixes that are certain, in the order of the text. If two of them overlap, only the first one is returned.
pub fn certain<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<&'a Fix> {
    let fixes = findings.into_iter().filter_map(|finding| finding.fix.as_ref());
    let mut fixes: Vec<&Fix> = fixes.collect();
    fixes.retain(|fix| fix.is_certain);
    fixes.sort_by_key(|fix| fix.span);
    let mut end = 0;
    let mut is_first = true;
    fixes.retain(|fix| {
        let is_apart = is_first || fix.span.start > end;
        if is_apart {
            end = fix.span.end;
            is_first = false;
        }
        is_apart
    });
    fixes
}

/// The edits of the fixes that are certain.
fn edits<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<(Span, String)> {
    let fixes = certain(findings).into_iter();
    fixes.map(|fix| (fix.span, fix.replacement.clone())).collect()
}

/// Applies the fixes that are certain until none is left. A round of fixes must improve the findings; if all fixes of a
/// round together do not, the first fix that does so alone is applied. The rest of the text keeps its comments and
/// layout. `former` is the description from which the crate was last generated, if any.
pub fn fix(name: &str, text: &str, files: &Files, former: Option<&Checked>) -> Fixed {
    let check = |text: &str| {
        let mut checked = check_with(name, text.as_bytes(), files);
        if let Some(former) = former {
            checked.findings.extend(checked.breaking_changes(former));
            finding::sort(&mut checked.findings);
        }
        checked
    };
    let mut fixed = Fixed {
        checked: check(text),
        count: 0,
    };
    for _ in 0..ROUNDS {
        let edits = edits(&fixed.checked.findings);
        if edits.is_empty() {
            break;
        }
        let with = |edits: &[(Span, String)]| {
            let text = replaced(fixed.checked.source.text(), edits);
            let checked = check(&text);
            is_better(&fixed.checked, &checked).then_some((checked, edits.len()))
        };
        let better = with(&edits).or_else(|| edits.chunks(1).find_map(with));
        let Some((checked, count)) = better else {
            break;
        };
        fixed.checked = checked;
        fixed.count += count;
    }
    fixed
}

/// Whether a text has fewer relevant findings, or lacks fewer former versions. The addition of a former version may
/// lead to new findings, because the comparison can only then check its schema.
fn is_better(before: &Checked, after: &Checked) -> bool {
    let skipped = |checked: &Checked| {
        let findings = checked.findings.iter();
        findings
            .filter(|finding| *finding.rule == VERSION_SKIPPED)
            .count()
    };
    if after.is_complete && skipped(after) < skipped(before) {
        return true;
    }
    let count = |checked: &Checked, severity: Severity| {
        let findings = checked.findings.iter();
        // Most rules run only if the whole description could be read, so their findings may appear only after the last
        // reading error is fixed.
        let counts = |rule| before.is_complete || !rules::checked().any(|checked| checked == rule);
        findings
            .filter(|finding| finding.rule.severity == severity && counts(finding.rule))
            .count()
    };
    let errors = |checked| count(checked, Severity::Error);
    let warnings = |checked| count(checked, Severity::Warning);
    errors(after) < errors(before) || errors(after) == errors(before) && warnings(after) < warnings(before)
}

/// The text of a description whose `deploy` requests these files as well. `None` if its `deploy` has a form that krator
/// does not edit, such as an alias.
pub fn asking_for(source: &Source, files: &Files, extras: &BTreeSet<Extra>) -> Option<String> {
    let keys = extras.iter().map(|extra| extra.key());
    let text = keys.fold(source.text().to_owned(), |text, key| with_key(&text, key));
    let checked = check_with(source.name(), text.as_bytes(), files);
    let asks = extras.is_subset(&checked.description.as_ref()?.deploy.extras);
    asks.then_some(text)
}

/// The text of a description in which the present names of the language replace former ones. `None` if it has none.
pub fn with_present_names(checked: &Checked) -> Option<String> {
    let findings = checked.findings.iter();
    let edits = edits(findings.filter(|finding| finding.rule == &FORMER_NAME));
    (!edits.is_empty()).then(|| replaced(checked.source.text(), &edits))
}

/// A text whose `deploy` has this key with the value `true`.
fn with_key(text: &str, key: &str) -> String {
    let tree = TolerantTree::of(text);
    let Some(document) = tree.documents().next() else {
        return text.to_owned();
    };
    let entry = format!("{key}: true");
    let edit = match tree.entry(document, "deploy") {
        Some(deploy) => match tree.entry(deploy, key) {
            Some(there) => {
                let part = &tree.parts[there];
                (part.value.unwrap_or(part.name), "true".to_owned())
            }
            None => tree.first_entry(text, deploy, &entry),
        },
        None => {
            let end = tree.parts[document].end;
            let line = text[end..].find('\n').map_or(text.len(), |at| end + at);
            (Span::new(line, line), format!("\ndeploy: {{{entry}}}"))
        }
    };
    replaced(text, &[edit])
}

/// The text with replacements for several pieces, which must be sorted and must not overlap.
pub fn replaced(text: &str, edits: &[(Span, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (span, now) in edits {
        let before = text.get(at..span.start);
        out.push_str(before.unwrap_or_default());
        out.push_str(now);
        at = span.end.max(at);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
