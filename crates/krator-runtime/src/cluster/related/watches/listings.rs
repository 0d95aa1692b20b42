//! The cached data about the objects of another kind, and the events about changes for links. It does not
//! decode objects, and makes no requests.
use super::{LinkEvent, ObservedChange};
use crate::resource::{controller_in, is_handed_over, version_in};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
};
use tokio::sync::mpsc;

/// The data that a link needs about the objects of its kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::cluster) enum Need {
    /// The owner of each object: its controller, or the value of the label. `operator` is the name of this operator.
    Owner {
        label: &'static str,
        operator: &'static str,
    },
    /// The names of the objects.
    Names,
    /// The value of this label.
    Label(&'static str),
    /// The whole objects.
    Whole,
}

/// The objects of a kind in all places where it is watched.
pub(super) struct Listings<K> {
    places: Vec<Listing<K>>,
    /// The owner labels of links, each with the name of the operator.
    owners: BTreeSet<(&'static str, &'static str)>,
    keeps_labels: BTreeSet<&'static str>,
    links: Vec<mpsc::UnboundedSender<LinkEvent>>,
    /// The latest version in each namespace. Versions of objects of one kind are in the order of their writes.
    seen: BTreeMap<Box<str>, u64>,
}

/// The objects of one place.
struct Listing<K> {
    objects: Objects<K>,
    /// The objects of a listing that is not complete yet.
    next: Option<Objects<K>>,
    /// Whether a listing was completed, or failed.
    tried: bool,
    listed: bool,
    whole: bool,
}

/// By namespace and name.
type Objects<K> = BTreeMap<Box<str>, BTreeMap<Box<str>, Cached<K>>>;

/// An object.
pub(super) struct Cached<K> {
    pub version: u64,
    pub controller: Option<Box<OwnerReference>>,
    pub labels: Vec<(&'static str, Box<str>)>,
    /// The object itself, where the watch sees it.
    pub whole: Option<Arc<K>>,
    pub read: Option<Arc<LastRead<K>>>,
}

/// The object as it was last read, while it is in use. It is locked during the read, so that concurrent users
/// share one request.
pub(super) type LastRead<K> = tokio::sync::Mutex<Weak<K>>;

/// A marker among the labels of a child that is [handed over](is_handed_over), which takes no memory for the
/// others. No label has this name.
const HANDED_OVER: &str = "";

impl<K> Cached<K> {
    /// Whether another field manager may have set fields of the child before this operator.
    pub fn is_handed_over(&self) -> bool {
        self.label(HANDED_OVER).is_some()
    }

    /// The value of a label that a link has asked for.
    pub fn label(&self, key: &str) -> Option<&str> {
        let label = self.labels.iter().find(|(known, _)| *known == key);
        label.map(|(_, value)| &**value)
    }
}

impl<K> Default for Listing<K> {
    fn default() -> Self {
        Self {
            objects: Objects::new(),
            next: None,
            tried: false,
            listed: false,
            whole: false,
        }
    }
}

impl<K> Listing<K> {
    fn has(&self, namespace: &str, name: &str) -> bool {
        let objects = self.objects.get(namespace);
        objects.is_some_and(|objects| objects.contains_key(name))
    }
}

impl<K> Default for Listings<K> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            owners: BTreeSet::new(),
            keeps_labels: BTreeSet::new(),
            links: Vec::new(),
            seen: BTreeMap::new(),
        }
    }
}

impl<K> Listings<K> {
    /// Registers a link with its need, and notifies it of changes.
    pub fn serve(&mut self, need: Need, link: mpsc::UnboundedSender<LinkEvent>) {
        match need {
            Need::Owner { label, operator } => {
                self.owners.insert((label, operator));
                self.keeps_labels.insert(label);
            }
            Need::Label(key) => drop(self.keeps_labels.insert(key)),
            Need::Names | Need::Whole => {}
        }
        self.links.push(link);
    }

    /// Sets the number of namespaces in which the kind is watched.
    pub fn has_places(&mut self, places: usize) {
        self.places.resize_with(places, Listing::default);
    }

    /// Whether all objects are listed as a whole.
    pub fn is_whole(&self) -> bool {
        self.places.iter().all(|place| place.listed && place.whole)
    }

    /// All objects, with their namespaces and names.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str, &Cached<K>)> {
        self.places.iter().flat_map(|place| entries(&place.objects))
    }

    /// The object; one without a namespace is found no matter which namespace it is looked for in.
    pub fn find(&mut self, namespace: &str, name: &str) -> Option<&mut Cached<K>> {
        let places = self.places.iter().enumerate();
        let (at, namespace) = places
            .flat_map(|(at, place)| [(at, place, namespace), (at, place, "")])
            .find_map(|(at, place, namespace)| place.has(namespace, name).then_some((at, namespace)))?;
        self.places[at].objects.get_mut(namespace)?.get_mut(name)
    }

    /// The latest version that was seen in a namespace.
    pub fn seen(&self, namespace: &str) -> u64 {
        self.seen.get(namespace).copied().unwrap_or_default()
    }

    /// A listing begins. The known objects stay until it is complete.
    pub fn begin(&mut self, place: usize) {
        self.places[place].next = Some(Objects::new());
    }

    pub fn put(&mut self, place: usize, is_listing: bool, meta: &ObjectMeta, whole: Option<Arc<K>>) {
        let (namespace, name) = names(meta);
        let mut entry = self.entry(meta, whole);
        // A listing has no order, so its versions count only when it is complete.
        if !is_listing {
            saw(&mut self.seen, namespace, entry.version);
        }
        let place = &mut self.places[place];
        let known = place.objects.get(namespace).and_then(|objects| objects.get(name));
        entry.read = known.and_then(|known| known.read.clone());
        // The first listing reports no changes, because every handler runs after the start anyway. Later
        // listings report objects with another version, because events may have been missed.
        let is_new = known.is_none_or(|known| known.version != entry.version);
        let change =
            (is_new && (place.listed || !is_listing)).then(|| change(namespace, name, &entry, known));
        let objects = match &mut place.next {
            Some(next) if is_listing => next,
            _ => &mut place.objects,
        };
        objects
            .entry(namespace.into())
            .or_default()
            .insert(name.into(), entry);
        if let Some(change) = change {
            self.tell(change);
        }
    }

    /// An object is gone. `meta` need have no more than its name and its version.
    pub fn remove(&mut self, place: usize, meta: &ObjectMeta) {
        let (namespace, name) = names(meta);
        let last = self.entry(meta, None);
        saw(&mut self.seen, namespace, last.version);
        let objects = &mut self.places[place].objects;
        let known = objects
            .get_mut(namespace)
            .and_then(|objects| objects.remove(name));
        if objects.get(namespace).is_some_and(BTreeMap::is_empty) {
            objects.remove(namespace);
        }
        // A deletion event may lack labels and the controller, so the known ones are used.
        let last = match known {
            Some(known) => Cached {
                version: last.version,
                ..known
            },
            None => last,
        };
        self.tell(change(namespace, name, &last, None));
    }

    /// A listing is complete.
    pub fn done(&mut self, place: usize, whole: bool) {
        let listing = &mut self.places[place];
        // The links have gone on without it, because it could not be listed.
        let is_late = listing.tried && !listing.listed;
        let next = listing.next.take().unwrap_or_default();
        let former = std::mem::replace(&mut listing.objects, next);
        (listing.listed, listing.whole) = (true, whole);
        for (namespace, _, entry) in entries(&listing.objects) {
            saw(&mut self.seen, namespace, entry.version);
        }
        for (namespace, name, entry) in entries(&former) {
            if !self.places[place].has(namespace, name) {
                self.tell(change(namespace, name, entry, None));
            }
        }
        if is_late && self.places.iter().all(|place| place.tried) {
            self.send(&LinkEvent::Listed);
        }
        self.tried(place);
    }

    /// The place was listed, or cannot be at the moment. When all were tried, the links need not wait any more.
    pub fn tried(&mut self, place: usize) {
        let first = !std::mem::replace(&mut self.places[place].tried, true);
        if first && self.places.iter().all(|place| place.tried) {
            self.send(&LinkEvent::Listed);
        }
    }

    fn tell(&self, change: ObservedChange) {
        self.send(&LinkEvent::Changed(Arc::new(change)));
    }

    fn send(&self, event: &LinkEvent) {
        for link in &self.links {
            // This fails when the loop of the link has ended.
            drop(link.send(event.clone()));
        }
    }

    fn entry(&self, meta: &ObjectMeta, whole: Option<Arc<K>>) -> Cached<K> {
        let label = |key: &&'static str| Some((*key, meta.labels.as_ref()?.get(*key)?.as_str().into()));
        let controller = controller_in(meta).filter(|_| !self.owners.is_empty());
        let mut owners = self.owners.iter();
        let handed_over = owners.any(|(label, operator)| is_handed_over(meta, label, operator));
        let labels = self.keeps_labels.iter().filter_map(label);
        Cached {
            version: version_in(meta),
            controller: controller.cloned().map(Box::new),
            labels: labels
                .chain(handed_over.then(|| (HANDED_OVER, Box::default())))
                .collect(),
            whole,
            read: None,
        }
    }
}

pub(super) fn names(meta: &ObjectMeta) -> (&str, &str) {
    let namespace = meta.namespace.as_deref().unwrap_or_default();
    (namespace, meta.name.as_deref().unwrap_or_default())
}

fn entries<K>(objects: &Objects<K>) -> impl Iterator<Item = (&str, &str, &Cached<K>)> {
    objects.iter().flat_map(|(namespace, objects)| {
        objects
            .iter()
            .map(move |(name, entry)| (&**namespace, &**name, entry))
    })
}

/// A change from what was known of an object.
fn change<K>(namespace: &str, name: &str, now: &Cached<K>, known: Option<&Cached<K>>) -> ObservedChange {
    // The change also concerns objects that only the former labels name.
    let labels = now
        .labels
        .iter()
        .chain(known.iter().flat_map(|known| &known.labels));
    ObservedChange {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        version: now.version,
        controller: now.controller.as_ref().map(|controller| controller.uid.clone()),
        labels: labels.map(|(key, value)| (*key, value.to_string())).collect(),
    }
}

/// Something with this version was seen in a namespace.
fn saw(seen: &mut BTreeMap<Box<str>, u64>, namespace: &str, version: u64) {
    match seen.get_mut(namespace) {
        Some(latest) => *latest = version.max(*latest),
        None => drop(seen.insert(namespace.into(), version)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(namespace: &str, name: &str, version: u64, label: Option<&str>) -> ObjectMeta {
        ObjectMeta {
            namespace: Some(namespace.to_owned()),
            name: Some(name.to_owned()),
            resource_version: Some(version.to_string()),
            labels: label.map(|label| [("of".to_owned(), label.to_owned())].into()),
            ..ObjectMeta::default()
        }
    }

    struct Linked {
        listings: Listings<u8>,
        events: mpsc::UnboundedReceiver<LinkEvent>,
    }

    impl Linked {
        fn new(places: usize) -> Self {
            let (sender, events) = mpsc::unbounded_channel();
            let mut listings = Listings::default();
            listings.serve(Need::Label("of"), sender);
            listings.has_places(places);
            Self { listings, events }
        }
        /// The events of the link since the last time.
        fn told(&mut self) -> Vec<String> {
            let events = std::iter::from_fn(|| self.events.try_recv().ok());
            let told = events.map(|event| match event {
                LinkEvent::Listed => "listed".to_owned(),
                LinkEvent::Changed(change) => {
                    let labels: Vec<_> = change.labels.iter().map(|(_, value)| value.as_str()).collect();
                    format!(
                        "{}/{}@{} {}",
                        change.namespace,
                        change.name,
                        change.version,
                        labels.join(",")
                    )
                }
            });
            told.collect()
        }
        fn names(&self) -> Vec<&str> {
            self.listings.all().map(|(_, name, _)| name).collect()
        }
        fn list(&mut self, objects: &[ObjectMeta]) {
            self.listings.begin(0);
            for object in objects {
                self.listings.put(0, true, object, None);
            }
            self.listings.done(0, false);
        }
    }

    #[test]
    fn a_link_is_told_of_what_changed_while_nobody_watched_and_of_nothing_else() {
        let mut linked = Linked::new(1);
        let (a, b, c) = (
            meta("n", "a", 1, None),
            meta("n", "b", 2, None),
            meta("n", "c", 3, None),
        );
        linked.list(&[a.clone(), b, c]);
        assert_eq!(linked.told(), ["listed"], "handlers run after the start anyway");
        linked.listings.begin(0);
        assert_eq!(
            linked.names(),
            ["a", "b", "c"],
            "what is known stays until the listing is complete"
        );
        linked.list(&[a, meta("n", "b", 4, None), meta("n", "d", 5, None)]);
        assert_eq!(linked.told(), ["n/b@4 ", "n/d@5 ", "n/c@3 "]);
        assert_eq!(linked.names(), ["a", "b", "d"]);
    }

    #[test]
    fn the_end_of_an_object_concerns_whom_it_has_concerned() {
        let (sender, mut events) = mpsc::unbounded_channel();
        let mut listings = Listings::<u8>::default();
        listings.serve(Need::Label("of"), sender.clone());
        let (label, operator) = ("example.com/owners", "operator");
        listings.serve(Need::Owner { label, operator }, sender);
        listings.has_places(1);
        let owner = OwnerReference {
            uid: "1-2".to_owned(),
            controller: Some(true),
            ..OwnerReference::default()
        };
        let object = ObjectMeta {
            owner_references: Some(vec![owner]),
            ..meta("n", "a", 1, Some("x"))
        };
        listings.put(0, false, &object, None);
        // The watch of whole objects tells no more than this.
        listings.remove(0, &meta("n", "a", 2, None));
        let told = std::iter::from_fn(|| events.try_recv().ok()).map(|event| match event {
            LinkEvent::Listed => panic!("nothing was listed"),
            LinkEvent::Changed(change) => (change.version, change.controller.clone(), change.labels.clone()),
        });
        let concerns = |version| (version, Some("1-2".to_owned()), vec![("of", "x".to_owned())]);
        assert!(
            told.eq([concerns(1), concerns(1), concerns(2), concerns(2)]),
            "each link is told"
        );
        assert_eq!(listings.all().count(), 0);
    }

    #[test]
    fn a_changed_label_concerns_both_of_its_values() {
        let mut linked = Linked::new(1);
        linked.list(&[meta("n", "a", 1, Some("x"))]);
        linked.listings.put(0, false, &meta("n", "a", 2, Some("y")), None);
        linked.listings.put(0, false, &meta("n", "a", 3, None), None);
        linked.listings.put(0, false, &meta("n", "a", 3, None), None);
        assert_eq!(
            linked.told(),
            ["listed", "n/a@2 y,x", "n/a@3 y"],
            "an echo is no change"
        );
    }

    #[test]
    fn a_link_waits_for_all_places_and_for_none_that_cannot_be_listed() {
        let mut linked = Linked::new(2);
        linked.list(&[]);
        assert!(linked.told().is_empty());
        linked.listings.tried(1);
        linked.listings.tried(1);
        assert_eq!(linked.told(), ["listed"]);
        assert!(!linked.listings.is_whole());
        for place in [0, 1] {
            linked.listings.begin(place);
            linked.listings.done(place, true);
        }
        assert!(linked.listings.is_whole());
        assert_eq!(linked.told(), ["listed"], "one of them was listed late");
    }
}
