//! Printer columns.

use super::Type::{Integer, Name, Path, String, Word};
use super::{optional, required, section};
use crate::names::ColumnName;

section! {
    /// A printer column.
    ColumnKey in COLUMN, "a column":
    Name = required("name", Name(ColumnName::PATTERN),
        "The heading of the column.",
        "columns: [{name: Height, path: .spec.height}]");
    Path = required("path", Path,
        "The field that the column shows, or another JSON path of Kubernetes, such as `.spec.hosts[0]` or `..name`.",
        "columns: [{name: Age in years, path: .metadata.creationTimestamp}]");
    Type = optional("type", Word(&["string", "integer", "number", "boolean", "date"]),
        "How the value is shown; `date` shows it as an age.",
        "columns: [{name: Height, path: .spec.height, type: string}]")
        .default("derived from the schema");
    Priority = optional("priority", Integer { min: 0, max: i32::MAX as i64 },
        "A column with a priority above 0 is only shown with `-o wide`.",
        "columns: [{name: Height, path: .spec.height, priority: 1}]")
        .default("0");
    Description = optional("description", String,
        "The meaning of the column.",
        "columns: [{name: Height, path: .spec.height, description: At the shoulder}]");
}
