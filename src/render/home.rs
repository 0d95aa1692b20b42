//! `.krator/`: what the next run of krator has to know of this one.

use crate::plan::Plan;
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// Version of the layout of `.krator/`: a krator that knows only an older one refuses the crate.
const LAYOUT: u32 = 1;

/// `.krator/manifest.json`: who owns which file, and what was written into it. Hashes are of the text with its
/// line ends as `\n`, so that a checkout on Windows changes nothing.
pub fn manifest(plan: &Plan) -> String {
    let files: serde_json::Map<String, serde_json::Value> = plan
        .files()
        .map(|(path, file)| {
            let entry = json!({"ownership": file.ownership.as_str(), "sha256": hash(&file.contents)});
            (path.to_owned(), entry)
        })
        .collect();
    let manifest = json!({"layout": LAYOUT, "krator": env!("CARGO_PKG_VERSION"), "files": files});
    format!("{manifest:#}\n")
}

/// SHA-256 of a text, in hexadecimal.
pub fn hash(text: &str) -> String {
    let normalized = text.replace("\r\n", "\n");
    Sha256::digest(normalized.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn line_ends_do_not_count() {
        assert_eq!(super::hash("a\r\nb\n"), super::hash("a\nb\n"));
        assert_eq!(
            super::hash(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
