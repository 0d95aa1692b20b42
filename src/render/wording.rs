//! The wording of merged files before they said how to write a handler.
//!
//! The first krator recorded only the hashes of what it wrote. To merge a file that its owner has edited since, the text
//! that it wrote must be known, and this module restores it.

/// What the first krator wrote instead of this text of `src/lib.rs` or `src/main.rs`. The caller compares its hash.
pub(crate) fn first_wording(text: &str) -> String {
    let mut former = String::new();
    for line in text.lines() {
        if line == "//!" || line.ends_with("Declare your own modules in this file.") {
            continue;
        }
        let line = line
            .replace(
                "/// What the program prints for `--help`, `--version` and `crd`.",
                "/// What the program says of itself.",
            )
            .replace("//! Runs the operator. `", "//! The program: `")
            .replace("--help` lists its options.", "--help` tells what it can do.");
        former.push_str(&line);
        former.push('\n');
    }
    former
}
