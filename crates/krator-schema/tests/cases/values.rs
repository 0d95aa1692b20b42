//! Validation of values by a schema.

use krator_schema::{Schema, default, prune, validate};
use serde_json::Value as Json;

use super::{read, written};

#[test]
fn values_have_the_problems_that_the_api_server_finds() {
    for case in include_str!("../../testdata/values.txt").split("\n\n").skip(1) {
        let mut parts = case.trim_end().split("\nvalue: ");
        let schema: Schema = read(parts.next().unwrap_or_default(), "schema: ");
        for part in parts {
            let mut lines = part.lines();
            let value: Json = read(lines.next().unwrap_or_default(), "");
            let mut found: Vec<String> = validate(&schema, &value).iter().map(written).collect();
            found.sort();
            found.dedup();
            let (mut pruned, mut filled) = (value.clone(), value.clone());
            prune(&schema, &mut pruned);
            default(&schema, &mut filled);
            let (changes, problems): (Vec<&str>, Vec<&str>) =
                lines.map(str::trim).partition(|line| line.contains(": "));
            assert_eq!(found, problems, "{value} by {part}");
            for (key, changed) in [("pruned: ", pruned), ("defaulted: ", filled)] {
                let line = changes.iter().find(|line| line.starts_with(key));
                let expected = line.map_or_else(|| value.clone(), |line| read(line, key));
                assert_eq!(changed, expected, "{key}{value}");
            }
        }
    }
}
