//! `krator lsp`: the language server. Requests are answered by `krator::assist`, with offsets in bytes; this module has
//! the protocol, the texts that are open in editors, and positions in UTF-16.

mod answers;
mod documents;
mod positions;
mod renames;

use std::process::ExitCode;

use anyhow::Context as _;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use documents::Documents;
use lsp_types::{DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams};

/// Runs the language server on stdin and stdout
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ignored: some editors pass it to every server
    #[arg(long, hide = true)]
    stdio: bool,
}

pub fn run(_: &Args) -> anyhow::Result<ExitCode> {
    let (connection, threads) = Connection::stdio();
    let (id, params) = connection
        .initialize_start()
        .context("the editor did not start a session")?;
    let answer = json!({
        "capabilities": capabilities(),
        "serverInfo": {"name": "krator", "version": env!("CARGO_PKG_VERSION")},
    });
    connection
        .initialize_finish(id, answer)
        .context("the editor did not start a session")?;
    let server = Server {
        connection: &connection,
        documents: Documents::default(),
        can_rename_files: can_rename_files(&params),
    };
    let ended = server.serve();
    // The threads end when nothing more can be sent.
    drop(connection);
    threads.join().context("cannot talk to the editor")?;
    ended
}

fn capabilities() -> Value {
    json!({
        // Each change contains the whole text.
        "textDocumentSync": {"openClose": true, "change": 1, "save": {}},
        "completionProvider": {"triggerCharacters": [".", " ", "/"]},
        "hoverProvider": true,
        "definitionProvider": true,
        "documentSymbolProvider": true,
        "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll"]},
        "renameProvider": {"prepareProvider": true},
    })
}

/// Whether the editor applies edits that move files.
fn can_rename_files(params: &Value) -> bool {
    let edit = &params["capabilities"]["workspace"]["workspaceEdit"];
    let operations = edit["resourceOperations"].as_array().into_iter().flatten();
    edit["documentChanges"] == true && operations.into_iter().any(|operation| operation == "rename")
}

struct Server<'c> {
    connection: &'c Connection,
    documents: Documents,
    can_rename_files: bool,
}

impl Server<'_> {
    fn serve(mut self) -> anyhow::Result<ExitCode> {
        while let Ok(message) = self.connection.receiver.recv() {
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(ExitCode::SUCCESS);
                    }
                    let response = self.answer(request);
                    self.connection.sender.send(response.into())?;
                }
                Message::Notification(notification) => self.note(notification),
                Message::Response(_) => {}
            }
            // If the user types faster than texts are checked, only the last text is checked.
            if self.connection.receiver.is_empty() {
                for params in self.documents.findings() {
                    let method = "textDocument/publishDiagnostics".to_owned();
                    self.connection
                        .sender
                        .send(Notification::new(method, params).into())?;
                }
            }
        }
        anyhow::bail!("the editor ended without `shutdown`")
    }

    /// Handles a notification. A malformed one changes nothing.
    fn note(&mut self, Notification { method, params }: Notification) {
        let documents = &mut self.documents;
        // An error is a malformed message.
        let _ = match method.as_str() {
            "textDocument/didOpen" => read(params, |params: DidOpenTextDocumentParams| {
                documents.open(params.text_document);
            }),
            "textDocument/didChange" => read(params, |params| documents.change(params)),
            "textDocument/didSave" => read(params, |params: DidSaveTextDocumentParams| {
                documents.saved(&params.text_document.uri);
            }),
            "textDocument/didClose" => read(params, |params: DidCloseTextDocumentParams| {
                documents.close(params.text_document.uri);
            }),
            _ => Ok(()),
        };
    }

    fn answer(&self, Request { id, method, params }: Request) -> Response {
        let documents = &self.documents;
        let answer = match method.as_str() {
            "textDocument/completion" => read(params, |params| answers::completion(documents, &params)),
            "textDocument/hover" => read(params, |params| answers::hover(documents, &params)),
            "textDocument/definition" => read(params, |params| answers::definition(documents, &params)),
            "textDocument/documentSymbol" => read(params, |params| answers::symbols(documents, &params)),
            "textDocument/codeAction" => read(params, |params| answers::actions(documents, &params)),
            "textDocument/prepareRename" => read(params, |params| renames::prepare(documents, &params)),
            "textDocument/rename" => {
                let renamed = read(params, |params| {
                    renames::rename(documents, &params, self.can_rename_files)
                });
                match renamed {
                    Ok(Err(message)) => {
                        return Response::new_err(id, ErrorCode::RequestFailed as i32, message);
                    }
                    Ok(Ok(edit)) => Ok(edit),
                    Err(error) => Err(error),
                }
            }
            _ => {
                let message = format!("krator does not support `{method}`");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
            }
        };
        match answer {
            Ok(answer) => Response::new_ok(id, answer),
            Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        }
    }
}

/// Reads the parameters of a message and does something with them.
fn read<P: DeserializeOwned, T>(params: Value, with: impl FnOnce(P) -> T) -> serde_json::Result<T> {
    serde_json::from_value(params).map(with)
}

/// A result of the protocol as a value; `null` if there is none.
fn result(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
