//! Faults of requests in a trial, and the objects of other kinds that remain after it.
use super::{
    InMemoryApi, Trial,
    objects::{Key, Objects, refusal},
    request,
};
use crate::{
    local::{Access, FaultKind, Point, with_fault},
    lock::Lock as _,
};
use http::{Method, Request};
use kube::{client::Body, core::Status};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

impl InMemoryApi {
    /// The API server of a trial. The first version depends on the seed of the run.
    pub fn tried(trial: &Arc<Trial>) -> Self {
        Self {
            objects: Mutex::new(Objects::remembering(trial.seed % 1_000)),
            began: (trial.began, Instant::now()),
            trial: Some(Arc::clone(trial)),
            ..Self::default()
        }
    }

    /// Answers a request, or injects a fault.
    pub(super) async fn answer(&self, request: Request<Body>) -> Result<(u16, Value), Box<Status>> {
        let Some(trial) = &self.trial else {
            return request::answer(self, request).await;
        };
        let kind = trial.reaches(Point {
            what: format!("the request {} {}", request.method(), request.uri().path()),
            access: match *request.method() {
                Method::GET => Access::Read,
                Method::POST => Access::Create,
                _ => Access::Write,
            },
        });
        if kind == Some(FaultKind::AnotherClientIsFaster) {
            return Err(refusal(
                409,
                "Conflict",
                "the test simulates another client that was faster",
            ));
        }
        let failed = || refusal(500, "InternalError", "the test lets this request fail");
        with_fault(kind, &trial.dies, request::answer(self, request), failed).await
    }

    /// All objects of all kinds.
    pub fn left(&self) -> Vec<(Key, Value)> {
        self.objects.locked().left()
    }

    /// Each stored version of each object, in the order of the writes.
    pub fn history(&self) -> Vec<(Key, Value)> {
        self.objects.locked().history()
    }
}
