//! Counts the places of limits, and decides which waiting object is next. One process counts all objects of a
//! kind: those in the states of a limit, and those that it has admitted to them.
//!
//! The object that has waited longest in its state is first, then the one whose name sorts first. An object may
//! need places of several limits; one that waits for a place of its zone does not delay objects of other zones.
use crate::engine::{Claim, Place, Wish};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The places of the limits of one kind. `K` identifies an object.
#[derive(Debug)]
pub struct Ledger<K> {
    /// The maximum of each limit.
    most: Vec<u32>,
    /// Whether all objects are known. Until then nothing is granted.
    is_complete: bool,
    objects: BTreeMap<K, LedgerEntry>,
    taken: BTreeMap<Place, u32>,
    /// The waiting objects by the places that they need, in the order in which they are served.
    waiting: BTreeMap<Vec<Place>, BTreeSet<Rank<K>>>,
}

/// When an object entered its state, with its name and key to break ties. The smallest rank is first.
type Rank<K> = (Timestamp, String, K);

/// An object that holds places, or waits for some.
#[derive(Debug, Default)]
struct LedgerEntry {
    name: String,
    holds: Vec<Place>,
    wish: Option<Wish>,
    /// The places that are reserved for its next run.
    turn: Option<Vec<Place>>,
    /// The places that a write to this version may have given it; the answer to that write is missing.
    unsure: Option<(u64, Vec<Place>)>,
}

impl LedgerEntry {
    fn takes(&self) -> BTreeSet<Place> {
        let turn = self.turn.iter().flatten();
        let unsure = self.unsure.iter().flat_map(|(_, places)| places);
        self.holds.iter().chain(turn).chain(unsure).cloned().collect()
    }

    /// The places that the object waits for, and its rank.
    fn waits<K: Clone>(&self, key: &K) -> Option<(&[Place], Rank<K>)> {
        let wish = self.wish.as_ref().filter(|_| self.turn.is_none())?;
        Some((&wish.places, (wish.since, self.name.clone(), key.clone())))
    }
}

/// The knowledge of a process about one object.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The object's name and namespace, which decide between objects that have waited equally long.
    pub name: &'a str,
    /// The latest known resource version.
    pub version: u64,
    /// The places that the object holds, and those that it waits for.
    pub claim: Claim,
    /// Whether a write of its entry was made to this version, and its answer is missing.
    pub is_unsure: bool,
}

impl<K: Clone + Ord> Ledger<K> {
    /// A ledger of limits with these maximums.
    pub fn new(most: Vec<u32>) -> Self {
        Self {
            most,
            is_complete: false,
            objects: BTreeMap::new(),
            taken: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// Records that all objects have been reported once. Returns the objects whose turn it is.
    pub fn complete(&mut self) -> Vec<K> {
        self.is_complete = true;
        self.serve()
    }

    /// Records the state of an object. Returns the objects whose turn it is now, possibly including this one.
    pub fn report(&mut self, key: &K, report: Report<'_>) -> Vec<K> {
        let mut known = self.take(key).unwrap_or_default();
        let Report {
            name,
            version,
            claim: Claim { holds, wish },
            is_unsure,
        } = report;
        known.unsure = known.unsure.filter(|(of, _)| *of >= version);
        if is_unsure {
            let places = known.unsure.take().map(|(_, places)| places);
            let mut places = places.unwrap_or_default();
            places.extend(holds.iter().cloned());
            known.unsure = Some((version, places));
        }
        // A turn is valid only for the places that the object waits for.
        known.turn = known
            .turn
            .filter(|turn| wish.as_ref().is_some_and(|wish| wish.places == *turn));
        if known.name != name {
            name.clone_into(&mut known.name);
        }
        (known.holds, known.wish) = (holds, wish);
        self.put(key, known);
        self.serve()
    }

    /// Removes an object that is gone, or whose machine has ended. Returns the objects whose turn it is now.
    pub fn forget(&mut self, key: &K) -> Vec<K> {
        match self.take(key) {
            Some(_) => self.serve(),
            None => Vec::new(),
        }
    }

    /// Whether places are reserved for an object.
    pub fn has_turn(&self, key: &K) -> bool {
        self.objects.get(key).is_some_and(|known| known.turn.is_some())
    }

    /// The objects with reserved places.
    pub fn turns(&self) -> impl Iterator<Item = &K> {
        let with_turn = self.objects.iter().filter(|(_, known)| known.turn.is_some());
        with_turn.map(|(key, _)| key)
    }

    /// How many objects have a place of each limit, and how many wait for one.
    pub fn counts(&self) -> Vec<(u32, u32)> {
        let mut counts = vec![(0, 0); self.most.len()];
        for (place, taken) in &self.taken {
            if let Some((held, _)) = counts.get_mut(usize::from(place.limit)) {
                *held += taken;
            }
        }
        for (places, waiting) in &self.waiting {
            let many = u32::try_from(waiting.len()).unwrap_or(u32::MAX);
            for place in places {
                if let Some((_, waits)) = counts.get_mut(usize::from(place.limit)) {
                    *waits += many;
                }
            }
        }
        counts
    }

    fn take(&mut self, key: &K) -> Option<LedgerEntry> {
        let known = self.objects.remove(key)?;
        for place in known.takes() {
            if let Some(taken) = self.taken.get_mut(&place) {
                *taken -= 1;
                if *taken == 0 {
                    self.taken.remove(&place);
                }
            }
        }
        if let Some((places, rank)) = known.waits(key)
            && let Some(waiting) = self.waiting.get_mut(places)
        {
            waiting.remove(&rank);
            if waiting.is_empty() {
                self.waiting.remove(places);
            }
        }
        Some(known)
    }

    fn put(&mut self, key: &K, known: LedgerEntry) {
        let takes = known.takes();
        if takes.is_empty() && known.wish.is_none() {
            return;
        }
        for place in takes {
            *self.taken.entry(place).or_default() += 1;
        }
        if let Some((places, rank)) = known.waits(key) {
            self.waiting.entry(places.to_vec()).or_default().insert(rank);
        }
        self.objects.insert(key.clone(), known);
    }

    /// Reserves places for waiting objects, as long as there are any.
    fn serve(&mut self) -> Vec<K> {
        let mut served = Vec::new();
        while self.is_complete {
            let free = self
                .waiting
                .iter()
                .filter(|(places, _)| places.iter().all(|place| self.is_free(place)));
            let Some((_, _, key)) = free.filter_map(|(_, line)| line.first()).min().cloned() else {
                break;
            };
            let Some(mut known) = self.take(&key) else { break };
            known.turn = known.wish.as_ref().map(|wish| wish.places.clone());
            self.put(&key, known);
            served.push(key);
        }
        served
    }

    fn is_free(&self, place: &Place) -> bool {
        let most = self
            .most
            .get(usize::from(place.limit))
            .copied()
            .unwrap_or_default();
        let unknown = Place {
            limit: place.limit,
            of: None,
        };
        let taken = [place, &unknown].map(|place| self.taken.get(place).copied().unwrap_or_default());
        taken.iter().sum::<u32>() < most
    }
}

#[cfg(test)]
mod tests;
