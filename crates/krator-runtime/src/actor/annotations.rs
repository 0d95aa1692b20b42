//! The annotations by which users control a single object: `<group>/paused`, `<group>/requestedAt` and `<group>/approve`.
use super::{Actor, Step};
use crate::{
    conditions,
    engine::LONGEST_REQUEST,
    machine::{Event, Machine, Object as _, StatusOf},
    status::ObjectStatus as _,
    versions,
    world::World,
};

/// The progress of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pause {
    /// The object is not paused.
    No,
    /// The results of the last run are being written.
    Begins,
    /// The object is paused, and all results are stored.
    Holds,
}

/// The annotations of the object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Annotations {
    /// Whether the object is to be paused. The deletion of an object cannot be paused.
    pub paused: bool,
    /// Whether the requested value is too long.
    is_long: bool,
    /// Whether an event has reported that.
    is_reported: bool,
    /// The digest of the failed conversions in the last event; 0 if there was none.
    failed: u64,
}

impl<M: Machine> Actor<'_, M> {
    /// Reads the annotations of the object.
    pub(super) fn read_annotations(&mut self) {
        let group = self.graph().group();
        let request = self.manifest.annotation(&format!("{group}/requestedAt"));
        let is_long = request.is_some_and(|request| request.len() > LONGEST_REQUEST);
        self.engine.saw_request(request);
        let approval = self.manifest.annotation(&format!("{group}/approve"));
        self.engine.saw_approval(approval);
        let annotated = self.manifest.annotation(&format!("{group}/paused")) == Some("true");
        let paused = annotated && !self.manifest.deleting();
        let is_reported = is_long && self.annotations.is_reported;
        self.must_step |= paused != self.annotations.paused || is_long != is_reported;
        self.must_step |= self.failed_conversions().is_some();
        self.annotations = Annotations {
            paused,
            is_long,
            is_reported,
            failed: self.annotations.failed,
        };
    }

    /// The text and the digest of failed conversions, if they are new since the last event.
    fn failed_conversions(&self) -> Option<(String, u64)> {
        let annotation = versions::annotation(self.graph().group());
        let failed = versions::failed(self.manifest.annotation(&annotation)?);
        let values = failed
            .values()
            .flatten()
            .map(|(path, why)| format!("{path}: {why}"));
        let note = values.collect::<Vec<_>>().join("; ");
        let digest = crate::spec_digest::of_text("", &note);
        (!note.is_empty() && digest != self.annotations.failed).then_some((note, digest))
    }

    /// Reports values that the author's functions could not convert, once for each text.
    pub(super) fn report_failed_conversions<W: World<M>>(&mut self, world: &W) {
        if let Some((note, digest)) = self.failed_conversions() {
            self.annotations.failed = digest;
            let note = format!("values could not be converted and were replaced by fallbacks: {note}");
            let note = note.chars().take(1000).collect::<String>();
            world.publish(&self.manifest, Event::warning("ConversionFailed", note));
        }
    }

    /// Reports that a request is ignored because it is too long.
    pub(super) fn report_long_request<W: World<M>>(&mut self, world: &W) {
        if self.annotations.is_long && !self.annotations.is_reported {
            self.annotations.is_reported = true;
            let group = self.graph().group();
            let note = format!(
                "ignored the annotation {group}/requestedAt, which is longer than {LONGEST_REQUEST} bytes"
            );
            world.publish(&self.manifest, Event::warning("RequestIgnored", note));
        }
    }

    /// Whether the object is paused, and its status says so.
    pub(super) fn rests_paused(&self) -> bool {
        self.annotations.paused
            && self.pause == Pause::Holds
            && (self.engine.at().is_none() || self.says_paused() && !self.asks())
    }

    /// Whether the stored status has an ask; a paused object must not have one.
    fn asks(&self) -> bool {
        let status = self.known_status().map(|status| status.machine());
        status.is_some_and(|status| status.ask.is_some())
    }

    fn says_paused(&self) -> bool {
        let status = self.known_status().map(|status| status.machine());
        status.is_some_and(|status| status.conditions.iter().any(conditions::says_paused))
    }

    /// Writes the results of the last run, and then the condition `Paused`.
    pub(super) async fn hold<W: World<M>>(&mut self, world: &W) -> Step {
        if self.pause != Pause::Holds {
            self.pause = Pause::Begins;
            self.engine.set_pausing(true);
            if let Some(step) = self.save(world).await {
                return step;
            }
            self.pause = Pause::Holds;
        }
        if self.rests_paused() {
            return Step::Wait(None);
        }
        // The object was already paused when it was found, so only the condition is written.
        let generation = self.manifest.generation();
        let mut status: StatusOf<M> = self.manifest.status().cloned().unwrap_or_default();
        let machine = status.machine_mut();
        let condition = conditions::paused(self.graph(), machine, generation, world.now().time);
        machine.conditions.retain(|known| known.kind != condition.kind);
        machine.conditions.push(condition);
        conditions::give_up(self.graph(), machine, world.now().time);
        match world.write_status(&self.manifest, &status).await {
            Ok(stored) => self.wrote(status, stored, world),
            failed => self.written(failed, world).await,
        }
    }
}
