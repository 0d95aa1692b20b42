//! What kubectl prints, without what differs from run to run.

use regex::Regex;
use std::sync::LazyLock;

/// What differs, and what stands in its place.
static DIFFERENT: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let patterns = [
        (
            "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "UID",
        ),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
        // As `describe` prints times, and headers of differences.
        (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}", "TIME"),
        // Ages, which have a column of their own; `describe` puts them behind a space.
        (r"(?m)(^|[ (])(\d+[dhms])+( ago|\)|\s|$)", "${1}AGE${3}"),
        (r#"(resourceVersion"?: ?"?)\d+"#, "${1}VERSION"),
        (r"Resource Version: +\d+", "Resource Version: VERSION"),
        (r"(to be 1, was )\d+", "${1}VERSION"),
        (r#"(\\"resourceVersion\\":\\")\d+"#, "${1}VERSION"),
        (r"10\.0\.\d+\.\d+", "ADDRESS"),
        (r"\b3[0-2]\d{3}\b", "PORT"),
        (r"(name: [a-z]+-|calf-)[a-z0-9]{5}\b", "${1}SUFFIX"),
        (r"/\S*/(LIVE|MERGED)-\d+", "${1}"),
        // Each server says in its own words that a value has a wrong type.
        (
            r"(cannot be handled as a \w+: )(json: cannot unmarshal |\S+ must be of type ).*",
            "${1}WRONG TYPE",
        ),
    ];
    let compiled = patterns.map(|(pattern, mask)| (Regex::new(pattern).expect("a pattern"), mask));
    compiled.into()
});
/// What pads the columns of tables, whose widths follow what is in them.
static PADDING: LazyLock<Regex> = LazyLock::new(|| Regex::new("(\\S) {2,}").expect("a pattern"));

/// Kinds that a definition has made, of whose refusals every word is compared.
const CUSTOM: [&str; 4] = ["The Moose ", "The Elk ", "The Herd ", ".krator.dev "];
/// The kinds of errors in fields, up to which refusals of the kinds of Kubernetes itself are compared.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    let kinds = "Required value|Invalid value|Unsupported value|Forbidden|Duplicate value|Too long|Too many|Not found";
    let kinds = format!(r"^((?:.* is invalid: |\* )\S+: (?:{kinds})).*");
    Regex::new(&kinds).expect("a pattern")
});

/// What is printed without the words of refusals of the kinds of Kubernetes itself.
fn without_words(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut is_custom = true;
    for line in text.split('\n') {
        if line.contains(" is invalid: ") {
            is_custom = CUSTOM.iter().any(|kind| line.contains(kind));
        }
        let line = match is_custom {
            true => line.to_owned(),
            false => ERROR.replace(line, "${1}").replace("Not found", "Invalid value"),
        };
        // Several errors of one field.
        if is_custom || !line.starts_with("* ") || lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// Masks what one server prints.
pub struct Mask {
    server: String,
}

impl Mask {
    pub fn new(server: &str) -> Self {
        Self {
            server: server.to_owned(),
        }
    }

    /// A text without times, ages, uids, versions, addresses and generated names.
    pub fn text(&self, text: &str) -> String {
        let text = text.replace(&self.server, "SERVER");
        let text = DIFFERENT.iter().fold(text, |text, (pattern, mask)| {
            pattern.replace_all(&text, *mask).into_owned()
        });
        without_words(&PADDING.replace_all(&text, "$1  "))
    }
}
