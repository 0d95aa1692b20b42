//! New names of states, in the description and in the code of its crate.

use std::collections::BTreeMap;
use std::path::Path;

use crate::assist;
use crate::finding::{Source, Span};
use crate::fixes::replaced;
use crate::workspace::Workspace;
use lsp_types::{
    DocumentChange, OptionalVersionedTextDocumentIdentifier, PrepareRenameParams, RenameFile, RenameParams,
    TextDocumentEdit, TextEdit, Uri, WorkspaceEdit,
};
use serde_json::{Value, json};

use super::documents::{Documents, text_edits, uri_of};
use super::positions::range;
use super::result;

/// The name of the state at a position, if there is one.
pub(super) fn prepare(documents: &Documents, params: &PrepareRenameParams) -> Value {
    let place = documents.place(&params.text_document_position_params);
    let state = place.and_then(|(document, offset)| {
        let state = assist::state_at(document.source.text(), offset)?;
        state.defined?;
        Some(json!({"range": range(&document.source, state.span), "placeholder": state.name}))
    });
    result(state)
}

/// Renames a state. If the crate was generated from the present description, its code is renamed as well, as by `krator
/// gen`; otherwise the next `krator gen` renames it.
pub(super) fn rename(
    documents: &Documents,
    params: &RenameParams,
    can_rename_files: bool,
) -> Result<Value, String> {
    let place = documents.place(&params.text_document_position_params);
    let (document, offset) = place.ok_or("the description is not open")?;
    let workspace = document
        .crate_folder()
        .and_then(|folder| Workspace::open(folder).ok());
    let is_stored = |state: &str| match &workspace {
        Some(workspace) => workspace.has_generated_state(state),
        // A description without a crate may have objects in any cluster.
        None => true,
    };
    let text = document.source.text();
    let renamed =
        assist::rename(text, offset, &params.new_name, is_stored).map_err(|error| error.to_string())?;
    let moved = workspace.filter(|_| can_rename_files).and_then(|workspace| {
        let after = replaced(text, &renamed.edits);
        let moved = workspace.code_under(text, &after);
        moved.filter(|moved| !moved.is_empty())
    });
    let (Some(moved), Some(folder)) = (moved, document.crate_folder()) else {
        return Ok(result(document.edit(&renamed.edits)));
    };
    let mut changes = vec![edited(
        document.uri.clone(),
        text_edits(&document.source, &renamed.edits),
    )];
    changes.extend(code_changes(folder, moved));
    Ok(result(WorkspaceEdit {
        document_changes: Some(changes),
        ..Default::default()
    }))
}

/// Edits of files and their moves, each edit before the move of its file.
fn code_changes(folder: &Path, moved: BTreeMap<String, crate::workspace::MovedFile>) -> Vec<DocumentChange> {
    let mut changes = Vec::new();
    for (path, file) in moved {
        let uri = uri_of(&folder.join(&path));
        if let Some((span, text)) = difference(&file.before, &file.after) {
            let source = Source::new("", file.before);
            changes.push(edited(uri.clone(), text_edits(&source, &[(span, text)])));
        }
        if file.path != path {
            let to = uri_of(&folder.join(&file.path));
            changes.push(RenameFile::new(uri, to, None, None).into());
        }
    }
    changes
}

fn edited(uri: Uri, edits: Vec<TextEdit>) -> DocumentChange {
    let identifier = OptionalVersionedTextDocumentIdentifier {
        text_document_identifier: lsp_types::TextDocumentIdentifier::new(uri),
        version: None,
    };
    TextDocumentEdit::new(identifier, edits.into_iter().map(Into::into).collect()).into()
}

/// The difference between two texts: a span of the first, and its replacement in the second.
fn difference(before: &str, after: &str) -> Option<(Span, String)> {
    if before == after {
        return None;
    }
    let same = |(a, b): &(char, char)| a == b;
    let start: usize = before
        .chars()
        .zip(after.chars())
        .take_while(same)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let (rest_before, rest_after) = (&before[start..], &after[start..]);
    let ending: usize = rest_before
        .chars()
        .rev()
        .zip(rest_after.chars().rev())
        .take_while(same)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let span = Span {
        start,
        end: before.len() - ending,
    };
    Some((span, after[start..after.len() - ending].to_owned()))
}
