//! Watches, which stream the changes of the objects of a kind.

use crate::{
    answer::{self, Include},
    kinds::Kind,
    listing::{self, Selection},
    negotiation::MediaType,
    parameters::{ListParameters, version_number},
    refusal::Refusal,
    state::{State, lock},
    store::{Change, WatchUpdate, Written, versions::Versions},
};
use bytes::Bytes;
use futures::Stream;
use serde_json::Value as Json;
use std::{
    borrow::Cow,
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

/// The interval between bookmarks.
const BOOKMARKS: Duration = Duration::from_secs(60);
/// The duration of a watch without a timeout of the client.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1_800);

/// The parameters of a watch.
pub(crate) struct Watch {
    kind: Arc<Kind>,
    selection: Selection,
    form: MediaType,
    include: Include,
    bookmarks: bool,
    /// The version of the last change that was sent.
    version: u64,
    versions: Versions,
    /// Unsent events. They share the stored objects, so a slow client causes no copies.
    waiting: VecDeque<Waiting>,
    ends: Instant,
    next_bookmark: Instant,
    /// Whether an event has contained the columns of the table.
    has_columns: bool,
    is_over: bool,
    _place: OwnedSemaphorePermit,
}

/// An unsent event.
enum Waiting {
    Line(Bytes),
    /// An object that existed when the watch began.
    Initial(Arc<Json>),
    Change(Arc<Change>),
}

/// The largest number of concurrent watches, which bounds the memory of a server.
pub(crate) const WATCHES: usize = 1_000;

/// Reserves a place for a watch.
///
/// # Errors
///
/// If no place is free, with the message of a real server for too many requests.
pub(crate) fn place(places: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Refusal> {
    let place = Arc::clone(places).try_acquire_owned();
    place.map_err(|_| Refusal::too_many_requests("Too many requests, please try again later.", 1))
}

impl Watch {
    /// Starts a watch.
    ///
    /// # Errors
    ///
    /// If the request is malformed, or an object cannot be converted.
    pub fn begin(
        state: &State,
        kind: &Arc<Kind>,
        selection: Selection,
        (form, include): (MediaType, Include),
        parameters: &ListParameters,
        place: OwnedSemaphorePermit,
    ) -> Result<Self, Refusal> {
        let from = version_number(&parameters.version).map_err(Refusal::failed)?;
        let timeout = parameters
            .timeout
            .and_then(|seconds| u64::try_from(seconds).ok())
            .filter(|seconds| *seconds > 0)
            .map(Duration::from_secs);
        let sends_initial = parameters.sends_initial == Some(true);
        let starts_empty = from.is_none_or(|version| version == 0) || sends_initial;
        let now = Instant::now();
        let mut watch = Self {
            kind: Arc::clone(kind),
            selection,
            form,
            include,
            bookmarks: parameters.bookmarks,
            version: state.store.version(),
            versions: state.store.versions(),
            waiting: VecDeque::new(),
            ends: now + timeout.unwrap_or(DEFAULT_TIMEOUT),
            next_bookmark: now + BOOKMARKS,
            has_columns: false,
            is_over: false,
            _place: place,
        };
        if starts_empty {
            if parameters.sends_initial != Some(false) {
                watch.send_all(state)?;
            }
            if sends_initial {
                let object = answer::bookmark(kind, watch.version, true);
                watch.send("BOOKMARK", &object);
            }
        } else if let Some(version) = from {
            watch.version = version.min(watch.version);
            watch.catch_up(&state.store.changes_since(&kind.id, watch.version));
        }
        Ok(watch)
    }

    fn send_all(&mut self, state: &State) -> Result<(), Refusal> {
        let kind = Arc::clone(&self.kind);
        let namespace = self.selection.namespace.clone();
        for (_, object) in state.store.list(&kind.id, &namespace) {
            let object = listing::read(&kind, object)?;
            if self.selection.selects(&kind, &object) {
                self.waiting.push_back(Waiting::Initial(object));
            }
        }
        Ok(())
    }

    /// Adds the changes of an update.
    fn catch_up(&mut self, update: &WatchUpdate) {
        match &update.changes {
            Ok(changes) => {
                let changes = changes.iter().map(|change| Waiting::Change(Arc::clone(change)));
                self.waiting.extend(changes);
                self.version = update.version;
            }
            Err(_) => {
                let message = format!("too old resource version: {} ({})", self.version, update.version);
                self.send("ERROR", &Refusal::expired(message).status());
                self.is_over = true;
            }
        }
    }

    /// The encoded event, or none if it is not sent.
    ///
    /// # Errors
    ///
    /// If the conversion of the object fails.
    fn written(&mut self, waiting: Waiting) -> Result<Option<Bytes>, Refusal> {
        Ok(match waiting {
            Waiting::Line(line) => Some(line),
            Waiting::Initial(object) => Some(self.object("ADDED", &object)),
            Waiting::Change(change) => return self.change(&change),
        })
    }

    /// Encodes a change. An object that enters or leaves the selection is reported as added or deleted.
    fn change(&mut self, change: &Change) -> Result<Option<Bytes>, Refusal> {
        let kind = Arc::clone(&self.kind);
        let selects = |object: &Json| self.selection.selects(&kind, object);
        let last = change
            .before
            .as_deref()
            .map(|object| kind.read(object))
            .transpose()?;
        let object = kind.read(&change.after)?;
        let before = last.as_deref().is_some_and(selects);
        let after = !change.deleted && selects(&object);
        Ok(match (before, after) {
            (false, false) => None,
            (false, true) => Some(self.whole("ADDED", change, &object)),
            (true, true) => Some(self.whole("MODIFIED", change, &object)),
            (true, false) if change.deleted => Some(self.whole("DELETED", change, &object)),
            (true, false) => {
                let mut last = last.map(Cow::into_owned).unwrap_or_default();
                crate::object::set_meta(&mut last, "resourceVersion", change.version.to_string().into());
                Some(self.object("DELETED", &last))
            }
        })
    }

    /// Encodes an event with the whole object, once for all watches of a version.
    fn whole(&mut self, what: &'static str, change: &Change, object: &Json) -> Bytes {
        if self.form != MediaType::Objects {
            return self.object(what, object);
        }
        let kind = &self.kind;
        let written = change.written.get_or_init(|| Written {
            what,
            version: kind.version.clone(),
            line: line(what, &kind.to_served(object)),
        });
        if written.what == what && written.version == kind.version {
            written.line.clone()
        } else {
            self.object(what, object)
        }
    }

    fn object(&mut self, what: &str, object: &Json) -> Bytes {
        let mut shown = answer::one(&self.kind, object, &self.form, self.include);
        if matches!(self.form, MediaType::Table(_)) {
            if self.has_columns {
                crate::object::set(shown.to_mut(), "columnDefinitions", Json::Null);
            }
            self.has_columns = true;
        }
        line(what, &shown)
    }

    fn send(&mut self, what: &str, object: &Json) {
        self.waiting.push_back(Waiting::Line(line(what, object)));
    }

    /// The encoded events of the watch.
    pub fn stream(self, state: Arc<Mutex<State>>) -> impl Stream<Item = Bytes> + Send + 'static {
        futures::stream::unfold((self, state), |(mut watch, state)| async move {
            let line = watch.next(&state).await?;
            Some((line, (watch, state)))
        })
    }

    async fn next(&mut self, state: &Mutex<State>) -> Option<Bytes> {
        loop {
            while let Some(waiting) = self.waiting.pop_front() {
                // A real server closes a watch if an object cannot be converted.
                if let Some(line) = self.written(waiting).ok()? {
                    return Some(line);
                }
            }
            if self.is_over {
                return None;
            }
            // Each change wakes all watches, including those of other kinds.
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(self.ends) => return None,
                () = tokio::time::sleep_until(self.next_bookmark), if self.bookmarks => {
                    self.next_bookmark += BOOKMARKS;
                    let object = answer::bookmark(&self.kind, self.version, false);
                    self.send("BOOKMARK", &object);
                }
                changed = self.versions.changed() => {
                    // Fails if the server was dropped.
                    changed.ok()?;
                    let update = lock(state).store.changes_since(&self.kind.id, self.version);
                    self.catch_up(&update);
                }
            }
        }
    }
}

fn line(what: &str, object: &Json) -> Bytes {
    format!("{{\"type\":\"{what}\",\"object\":{object}}}\n").into()
}
