//! The output of kubectl without the parts that differ from run to run.

use regex::Regex;
use std::sync::LazyLock;

/// Patterns of the different parts, and their masks.
static DIFFERENT: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let patterns = [
        (
            "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "UID",
        ),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
        // The formats of times in `describe` and in the headers of diffs.
        (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}", "TIME"),
        // Ages, which have a column of their own in tables, and follow a space in `describe`.
        (r"(?m)(^|[ (])(\d+[dhms])+( ago|\)|\s|$)", "${1}AGE${3}"),
        (r#"(resourceVersion"?: ?"?)\d+"#, "${1}VERSION"),
        (r"Resource Version: +\d+", "Resource Version: VERSION"),
        (r"(to be 1, was )\d+", "${1}VERSION"),
        (r#"(\\"resourceVersion\\":\\")\d+"#, "${1}VERSION"),
        (r"10\.0\.\d+\.\d+", "ADDRESS"),
        (r"\b3[0-2]\d{3}\b", "PORT"),
        (r"(name: [a-z]+-|calf-)[a-z0-9]{5}\b", "${1}SUFFIX"),
        (r"/\S*/(LIVE|MERGED)-\d+", "${1}"),
        // The servers describe a value of a wrong type in different words.
        (
            r"(cannot be handled as a \w+: )(json: cannot unmarshal |\S+ must be of type ).*",
            "${1}WRONG TYPE",
        ),
    ];
    let compiled = patterns.map(|(pattern, mask)| (Regex::new(pattern).expect("a pattern"), mask));
    compiled.into()
});
/// The padding of table columns, whose widths depend on the contents.
static PADDING: LazyLock<Regex> = LazyLock::new(|| Regex::new("(\\S) {2,}").expect("a pattern"));

/// The beginnings of refusals for custom kinds, which are compared word for word.
const CUSTOM: [&str; 4] = ["The Moose ", "The Elk ", "The Herd ", ".krator.dev "];
/// Refusals for builtin kinds are compared only up to the type of the error in a field.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    let kinds = "Required value|Invalid value|Unsupported value|Forbidden|Duplicate value|Too long|Too many|Not found";
    let kinds = format!(r"^((?:.* is invalid: |\* )\S+: (?:{kinds})).*");
    Regex::new(&kinds).expect("a pattern")
});

/// The output without the details of refusals for builtin kinds.
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
        // Several errors of one field count as one.
        if is_custom || !line.starts_with("* ") || lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// Masks the output of one server.
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
