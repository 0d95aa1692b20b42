//! Names and texts to choose from. Many have a meaning in Rust, in generated code or in Kubernetes, and are allowed.

use std::collections::BTreeSet;

use crate::dice::Dice;

/// Names of types, states, conditions and kinds.
const PASCAL: &[&str] = &[
    "Position",
    "Collar",
    "Schedule",
    "Backup",
    "Volume",
    "Route",
    "Graze",
    "Roam",
    "Sleep",
    "Tagged",
    "Lost",
    "Pending",
    "Creating",
    "Probing",
    "Draining",
    "Error",
    "Ordering",
    "Iterator",
    "From",
    "Into",
    "Clone",
    "Debug",
    "PartialEq",
    "Time",
    "Duration",
    "Quantity",
    "IntOrString",
    "Value",
    "Map",
    "ObjectMeta",
    "Api",
    "Client",
    "BTreeMap",
    "HashMap",
    "Resource",
    "CustomResource",
    "Kind",
    "Item",
    "Send",
    "Sync",
    "Copy",
    "Hash",
    "Eq",
    "Ord",
    "Fn",
    "Drop",
    "ToString",
    "AsRef",
    "Iter",
    "Self1",
    "States",
    "Machine",
    "Machines",
    "Graph",
    "Graphs",
    "Policy",
    "Retry",
    "Node",
    "Never",
    "Dispatch",
    "StateId",
    "Fallible",
    "Status",
    "Spec",
    "Type",
    "Match",
    "Async",
    "Dyn",
    "Try",
    "Gen",
    "Union",
    "Static",
    "Ref",
    "Changes",
    "Kube",
    "Serde",
    "Manifest",
    "Test",
    "Tests",
    "Testing",
    "Prelude",
    "Types",
    "Kinds",
    "Generated",
    "Handler",
    "World",
    "Local",
    "Actor",
    "Event",
    "Events",
    "Recorder",
    "Controller",
    "Config",
    "Secret",
    "Pod",
    "Job",
    "Deployment",
    "Timestamp",
    "Json",
    "Number",
    "Bool",
    "Str",
    "I64",
    "U8",
    "Vector",
    "Cow",
    "Rc",
    "Pin",
    "Future",
    "Stream",
    "Waker",
    "Instant",
    "Assert",
    "Panic",
    "Main",
    "Crate1",
    "Super1",
    "V1",
    "X",
    "A",
    "DeleteVM",
    "URL",
    "HTTPServer",
    "Io",
    "Fmt",
    "Any",
    "Object1",
    "Deserializer",
    "Serializer",
    "DeserializeOwned",
    "Arguments",
    "Formatter",
    "Metadata",
    "Condition",
    "Conditions",
    "Entry",
    "Phase",
    "Message",
    "Attempts",
    "Next",
    "Wait",
    "Timeout",
    "Limit",
    "Resume",
    "Done",
    "Stay",
    "Goto",
    "Init",
    "Start",
    "Stop",
    "End",
    "Run",
    "Poll",
    "Watch",
];

/// Names of fields.
const FIELDS: &[&str] = &[
    "weight",
    "size",
    "image",
    "secretName",
    "replicas",
    "schedule",
    "route",
    "collar",
    "speed",
    "horns",
    "zone",
    "type",
    "match",
    "async",
    "await",
    "dyn",
    "try",
    "gen",
    "fn",
    "impl",
    "mod",
    "ref",
    "move",
    "box",
    "in",
    "as",
    "where",
    "loop",
    "struct",
    "enum",
    "yield",
    "macro_rules",
    "union",
    "static",
    "const",
    "raw",
    "r",
    "_hidden",
    "with-dash",
    "camelCase",
    "snake_case",
    "URL",
    "HTTPServer",
    "x1",
    "A",
    "status",
    "spec",
    "metadata",
    "kind",
    "apiVersion",
    "String",
    "Option",
    "Vec",
    "Some",
    "None",
    "Ok",
    "default",
    "clone",
    "eq",
    "hash",
    "fmt",
    "new",
    "from",
    "into",
    "serialize",
    "deserialize",
    "serde",
    "kube",
    "std",
    "core",
    "tokio",
    "k8s_openapi",
    "name",
    "namespace",
    "labels",
    "value",
    "values",
    "key",
    "keys",
    "items",
    "properties",
    "required",
    "description",
    "x-kubernetes-list-type",
    "u8",
    "i64",
    "bool",
    "str",
    "usize",
    "a-b-c",
    "v1beta1",
    "true1",
    "null1",
    "on",
    "yes",
    "no",
    "y",
    "n",
    "is2xx",
    "ipV4",
    "L7Policy",
    "__typename",
    "field_",
    "trailing-",
];

/// Fields whose names need no escapes in CEL, its paths and Rust.
const PLAIN_FIELDS: &[&str] = &[
    "weight", "count", "ready", "owner", "host", "since", "patience", "label", "rank",
];

/// Texts that are valid in every free text, besides those of the tests of injection.
const TEXTS: &[&str] = &[
    "Weight in kilograms.",
    "Two sentences. The second one ends here.",
    "A list:\n- one\n- two\n\nAnd a paragraph.",
    "    indented",
    "See https://example.com/a_b?c=d#e and <b>bold</b>.",
    "1. first\n2. second",
    "Uses `Vec<T>` and [`link`](x).",
    "# Heading",
    "/// doc */ comment",
    "ends with a backslash \\",
    "\"quotes\" 'and' `ticks",
    "{braces} %s $HOME ${HOME} {{mustache}}",
];

/// Names of fields that are not valid in Rust, or that have a special meaning in a generated file.
const STRANGE_FIELDS: &[&str] = &[
    "-Xmx",
    "-limit",
    "1st",
    "a.b/c",
    "$ref",
    "größe",
    "two words",
    "it's",
    "\"",
    "{{x}}",
    "`",
    "*/",
    "#[x]",
    "${x}",
    "日本",
    "a\\b",
    "self",
    "crate",
    "_",
    "--",
    "a: b",
    "# c",
    "'",
    "</script>",
    "[*]",
];

/// The used names of a scope: no two may have the same letters and digits.
#[derive(Default, Clone)]
pub struct Names {
    taken: BTreeSet<String>,
}

fn key(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase()
}

impl Names {
    /// Reserves a name.
    pub fn take(&mut self, name: &str) -> bool {
        self.taken.insert(key(name))
    }

    /// A new name in PascalCase.
    pub fn pascal(&mut self, dice: &mut Dice) -> String {
        self.draw(PASCAL, "Wordy", 63, dice)
    }

    /// A new name of a field.
    pub fn field(&mut self, dice: &mut Dice) -> String {
        self.draw(FIELDS, "wordy", 63, dice)
    }

    /// A new name of a field that needs no escapes anywhere.
    pub fn plain_field(&mut self, dice: &mut Dice) -> String {
        self.draw(PLAIN_FIELDS, "plain", 40, dice)
    }

    /// A new name that is not valid in Rust, and another one for Rust.
    pub fn strange_field(&mut self, dice: &mut Dice) -> Option<(String, String)> {
        let name = *dice.among(STRANGE_FIELDS);
        let in_rust = format!("strange_{}", dice.below(1000));
        (self.taken.insert(name.to_owned()) && self.take(&in_rust)).then(|| (name.to_owned(), in_rust))
    }

    fn draw(&mut self, pool: &[&str], long: &str, longest: usize, dice: &mut Dice) -> String {
        for _ in 0..4 {
            let name = *dice.among(pool);
            if self.take(name) {
                return name.to_owned();
            }
        }
        // A name of the pool with a number, or a long one.
        let base = if dice.one_in(12) {
            long.repeat(longest / long.len() - 1)
        } else {
            (*dice.among(pool)).to_owned()
        };
        let mut number = 2;
        loop {
            let name = format!("{base}{number}");
            if self.take(&name) {
                return name;
            }
            number += 1;
        }
    }
}

/// A text for a place where any text is allowed.
pub fn text(dice: &mut Dice) -> String {
    if dice.one_in(3) {
        (*dice.among(crate::hostile_texts::VECTORS)).to_owned()
    } else {
        (*dice.among(TEXTS)).to_owned()
    }
}
