//! Faults at the writes and requests of a machine in memory.
use tokio::sync::Notify;

/// Faults of writes and requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    DiesBefore,
    DiesAfter,
    Fails,
    AnswerIsLost,
    AnotherClientIsFaster,
}

/// A fault, and the number of the write or request at which it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub kind: FaultKind,
    pub write: usize,
}

impl Fault {
    /// All faults that are possible at this write.
    pub fn at(write: usize) -> [Self; 5] {
        [
            FaultKind::DiesBefore,
            FaultKind::DiesAfter,
            FaultKind::Fails,
            FaultKind::AnswerIsLost,
            FaultKind::AnotherClientIsFaster,
        ]
        .map(|kind| Self { kind, write })
    }

    /// Whether the request is repeated only after a delay.
    pub fn delays(self) -> bool {
        matches!(self.kind, FaultKind::Fails | FaultKind::AnswerIsLost)
    }
}

/// Runs `act` with a fault. `failed` is the error of the client. The caller simulates the write of another client,
/// because only the caller can make the conflict.
pub(crate) async fn with_fault<T, E>(
    kind: Option<FaultKind>,
    dies: &Notify,
    act: impl Future<Output = Result<T, E>>,
    failed: impl FnOnce() -> E,
) -> Result<T, E> {
    match kind {
        Some(FaultKind::DiesBefore) => return die(dies).await,
        Some(FaultKind::Fails) => return Err(failed()),
        Some(FaultKind::DiesAfter | FaultKind::AnswerIsLost | FaultKind::AnotherClientIsFaster) | None => {}
    }
    let done = act.await;
    match kind {
        Some(FaultKind::DiesAfter) => die(dies).await,
        Some(FaultKind::AnswerIsLost) => Err(failed()),
        _ => done,
    }
}

/// The process ends here: the receiver of the notification drops this future.
async fn die<T>(dies: &Notify) -> T {
    dies.notify_one();
    std::future::pending().await
}
