//! `krator lsp`: the messages of the language server. What they ask is answered by `krator::assist`, in bytes; here are
//! the protocol, the texts that editors have open, and positions in UTF-16.

mod answers;
mod documents;
mod positions;
mod renames;

use std::process::ExitCode;

use anyhow::Context as _;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::{
    ClientCapabilities, CodeActionRequest, CompletionRequest, DefinitionRequest,
    DidChangeTextDocumentNotification, DidCloseTextDocumentNotification, DidOpenTextDocumentNotification,
    DidSaveTextDocumentNotification, DocumentSymbolRequest, HoverRequest, InitializeParams,
    Notification as _, PrepareRenameRequest, PublishDiagnosticsNotification, RenameRequest,
    ServerCapabilities, ServerInfo,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use documents::Documents;

/// Answers an editor, which starts it: findings, completion and more, over stdin and stdout
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
        .context("the editor did not begin a session")?;
    let params: InitializeParams = serde_json::from_value(params).context("the editor's `initialize`")?;
    let answer = serde_json::json!({
        "capabilities": capabilities(),
        "serverInfo": ServerInfo {
            name: "krator".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        },
    });
    connection
        .initialize_finish(id, answer)
        .context("the editor did not begin a session")?;
    let server = Server {
        connection: &connection,
        documents: Documents::default(),
        can_rename_files: can_rename_files(&params.capabilities),
    };
    let ended = server.serve();
    // The threads end once nothing can be sent any more.
    drop(connection);
    threads.join().context("cannot talk to the editor")?;
    ended
}

fn capabilities() -> ServerCapabilities {
    use lsp_types::{
        CodeActionKind, CodeActionOptions, CompletionOptions, RenameOptions, TextDocumentSyncKind,
    };
    use lsp_types::{SaveOptions, TextDocumentSyncOptions};
    ServerCapabilities {
        text_document_sync: Some(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::Full),
                save: Some(SaveOptions::default().into()),
                ..Default::default()
            }
            .into(),
        ),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", " ", "/"].map(str::to_owned).to_vec()),
            ..Default::default()
        }),
        hover_provider: Some(true.into()),
        definition_provider: Some(true.into()),
        document_symbol_provider: Some(true.into()),
        code_action_provider: Some(
            CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QuickFix, CodeActionKind::SourceFixAll]),
                ..Default::default()
            }
            .into(),
        ),
        rename_provider: Some(
            RenameOptions {
                prepare_provider: Some(true),
                ..Default::default()
            }
            .into(),
        ),
        ..Default::default()
    }
}

/// Whether the editor applies edits that move files.
fn can_rename_files(client: &ClientCapabilities) -> bool {
    let client = serde_json::to_value(client).unwrap_or_default();
    let edit = &client["workspace"]["workspaceEdit"];
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
            // While somebody types faster than findings are found, only the last text matters.
            if self.connection.receiver.is_empty() {
                for params in self.documents.findings() {
                    let method = PublishDiagnosticsNotification::METHOD.to_string();
                    self.connection
                        .sender
                        .send(Notification::new(method, params).into())?;
                }
            }
        }
        anyhow::bail!("the editor ended without `shutdown`")
    }

    /// Takes in what the editor tells. A malformed message changes nothing.
    fn note(&mut self, notification: Notification) {
        fn read<N: lsp_types::Notification>(notification: &Notification) -> Option<N::Params> {
            let is_meant = notification.method == N::METHOD.to_string();
            is_meant
                .then(|| serde_json::from_value(notification.params.clone()).ok())
                .flatten()
        }
        if let Some(params) = read::<DidOpenTextDocumentNotification>(&notification) {
            self.documents.open(params.text_document);
        } else if let Some(params) = read::<DidChangeTextDocumentNotification>(&notification) {
            self.documents.change(params);
        } else if let Some(params) = read::<DidSaveTextDocumentNotification>(&notification) {
            self.documents.saved(&params.text_document.uri);
        } else if let Some(params) = read::<DidCloseTextDocumentNotification>(&notification) {
            self.documents.close(params.text_document.uri);
        }
    }

    fn answer(&self, request: Request) -> Response {
        let asked = Asked { request };
        let documents = &self.documents;
        asked
            .take::<CompletionRequest>(|params| Ok(answers::completion(documents, &params)))
            .or_else(|asked| asked.take::<HoverRequest>(|params| Ok(answers::hover(documents, &params))))
            .or_else(|asked| {
                asked.take::<DefinitionRequest>(|params| Ok(answers::definition(documents, &params)))
            })
            .or_else(|asked| {
                asked.take::<DocumentSymbolRequest>(|params| Ok(answers::symbols(documents, &params)))
            })
            .or_else(|asked| {
                asked.take::<CodeActionRequest>(|params| Ok(answers::actions(documents, &params)))
            })
            .or_else(|asked| {
                asked.take::<PrepareRenameRequest>(|params| Ok(renames::prepare(documents, &params)))
            })
            .or_else(|asked| {
                asked.take::<RenameRequest>(|params| {
                    renames::rename(documents, &params, self.can_rename_files)
                })
            })
            .unwrap_or_else(|asked| {
                let message = format!("krator does not answer `{}`", asked.request.method);
                Response::new_err(asked.request.id, ErrorCode::MethodNotFound as i32, message)
            })
    }
}

/// A request that nobody has answered yet.
struct Asked {
    request: Request,
}

impl Asked {
    /// Answers the request if it is of this kind. What the answer is made of is any value that serializes as it.
    fn take<R: lsp_types::Request>(
        self,
        answer: impl FnOnce(R::Params) -> Result<Value, String>,
    ) -> Result<Response, Asked>
    where
        R::Params: DeserializeOwned,
    {
        if self.request.method != R::METHOD.to_string() {
            return Err(self);
        }
        let Request { id, params, .. } = self.request;
        Ok(match serde_json::from_value(params) {
            Ok(params) => match answer(params) {
                Ok(result) => Response::new_ok(id, result),
                Err(message) => Response::new_err(id, ErrorCode::RequestFailed as i32, message),
            },
            Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        })
    }
}

/// A result of the protocol as a value; `null` stands for none.
fn result(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
