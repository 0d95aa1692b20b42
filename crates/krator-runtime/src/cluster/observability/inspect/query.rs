//! Queries of `/state`.

/// The most objects or transitions that an answer lists, and how many it lists if nothing else is asked.
const MOST: usize = 500;
const DEFAULT: usize = 100;

/// A query. Names of Kubernetes and of states have no character that a URL escapes, so nothing is decoded: a value with an
/// escape is the name of nothing.
pub(super) struct Query<'a> {
    pub group: Option<&'a str>,
    pub kind: Option<&'a str>,
    pub selected: Selected<'a>,
    /// Part of the names of the objects to list.
    pub search: &'a str,
    pub limit: usize,
}

/// The objects that are queried.
pub(super) enum Selected<'a> {
    /// Its last transitions.
    Nothing,
    /// Its objects in this state.
    State(&'a str),
    /// Its objects whose stored state is unknown.
    Parked,
    /// One object, with its last transitions.
    Object { namespace: &'a str, name: &'a str },
}

impl<'a> Query<'a> {
    /// Reads a query.
    ///
    /// # Errors
    ///
    /// A message about the mistake in the query.
    pub fn parse(query: &'a str) -> Result<Self, String> {
        let (mut group, mut kind, mut state, mut namespace, mut name) = (None, None, None, None, None);
        let (mut search, mut limit, mut parked) = ("", DEFAULT, false);
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match key {
                "group" => group = Some(value),
                "kind" => kind = Some(value),
                "state" => state = Some(value),
                "parked" => parked = value == "true",
                "namespace" => namespace = Some(value),
                "name" => name = Some(value),
                "search" => search = value,
                "limit" => match value.parse() {
                    Ok(number) if (1..=MOST).contains(&number) => limit = number,
                    _ => return Err(format!("`limit` is a number from 1 to {MOST}")),
                },
                _ => {
                    return Err(
                        "the parameters are group, kind, state, parked, namespace, name, search and limit"
                            .to_owned(),
                    );
                }
            }
        }
        let selected = match (state, parked, name) {
            (None, false, None) => Selected::Nothing,
            (Some(state), false, None) => Selected::State(state),
            (None, true, None) => Selected::Parked,
            (None, false, Some(name)) => Selected::Object {
                namespace: namespace.unwrap_or_default(),
                name,
            },
            _ => return Err("only one of `state`, `parked` and `name` can be asked for".to_owned()),
        };
        if kind.is_none() && !matches!(selected, Selected::Nothing) {
            return Err("`kind` is missing".to_owned());
        }
        Ok(Self {
            group,
            kind,
            selected,
            search,
            limit,
        })
    }
}
