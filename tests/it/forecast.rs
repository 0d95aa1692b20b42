//! krator's forecast of the effects of an edit on stored objects.
//!
//! `testdata/forecast/<case>.txt` has a description before and after an edit, in the sections `old.yaml` and
//! `new.yaml`, a list of objects in `objects.yaml`, and in `now` the time by the API server's clock. `expected` is the
//! output of `krator diff --against cluster` for them; `KRATOR_UPDATE=1 cargo test forecast` rewrites it.

use crate::case_file::case_files;
use krator::compare::{Census, Listed, census_to_text, compare, resources};
use serde_json::Value;

#[test]
fn forecasts_are_as_reviewed() {
    let mut differ = Vec::new();
    for case in case_files(
        "forecast",
        &["old.yaml", "new.yaml", "now", "objects.yaml", "expected"],
    ) {
        let [old, new] =
            ["old.yaml", "new.yaml"].map(|name| krator::check(name, case.section(name).as_bytes()));
        let [old, new] = [&old, &new].map(|checked| {
            checked
                .sound()
                .unwrap_or_else(|| panic!("{:?}", checked.findings))
        });
        let comparison = compare(old, new);
        let objects: Vec<Value> =
            serde_yaml::from_str(case.section("objects.yaml")).expect("a list of objects");
        // In pages, as from an API server.
        let counted: Vec<Census> = resources(old, new)
            .iter()
            .map(|resource| {
                let mut census = Census::new(resource);
                for page in objects.chunks(3) {
                    let page = Listed {
                        objects: page.to_vec(),
                        versions: None,
                        time: case.section("now").trim().parse().ok(),
                    };
                    census.add(&comparison, [old, new], resource, &page);
                }
                census
            })
            .collect();
        let text = census_to_text(&comparison, &counted, false);
        case.expect("expected", &text, &mut differ);
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
