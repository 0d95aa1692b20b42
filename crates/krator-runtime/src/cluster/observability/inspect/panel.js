// The panel beside the graph: a kind with its last transitions, the objects of a state, or one object.

function showPanel() {
  const panel = byId("panel");
  if (route.name !== undefined) showObject(panel);
  else if (route.state || route.parked) showList(panel);
  else showKind(panel);
}

const heading = (...content) => element("h2", { id: "title", tabindex: "-1" }, ...content);
const backLink = (text) => element("a", { class: "back", href: link(parent()) }, `← ${text}`);

function showKind(panel) {
  if (!answer.transitions) return;
  const { kind } = drawn;
  const total = kind.states.reduce((sum, state) => sum + state.objects, kind.parked);
  const rest = [element("h3", {}, "Last transitions"), ...transitions(answer.transitions, true)];
  if (!answer.leads) rest.unshift(element("p", { class: "quiet" }, "Another replica leads, so this one looks after no object."));
  const parked = parkedLink();
  replace(panel, "kind", [
    element("div", { class: "head" }, heading(kind.kind), element("span", { class: "count quiet" }, plural(total, "object"))),
    element("p", { class: "quiet" }, "Select a state to see its objects."),
    ...(parked ? [parked] : []),
    ...kind.limits.map(({ name, taken, waiting }) =>
      element("p", { class: "quiet" }, `Limit ${name}: ${plural(taken, "object")}, ${waiting.toLocaleString("en")} waiting`)),
    ...rest,
  ]);
}

function parkedLink() {
  const { parked } = drawn.kind;
  if (parked === 0) return null;
  return element("p", { class: "bad" }, "! ",
    element("a", { class: "inline", href: link(ofState(null)) }, `${plural(parked, "object")} in a state that this operator does not know`));
}

function showList(panel) {
  if (!answer.objects) return;
  const { kind } = drawn;
  const state = kind.states.find((state) => state.name === route.state);
  const { total, items } = answer.objects;
  const key = `list ${link(ofState(route.state ?? null))}`;
  if (panel.dataset.key !== key) {
    const field = element("input", { type: "search", placeholder: "Filter by name", "aria-label": "Filter by name" });
    field.value = search;
    field.addEventListener("input", () => {
      search = field.value.trim().toLowerCase();
      clearTimeout(timer);
      timer = setTimeout(load, 200);
    });
    const list = element("ul", { class: "list", id: "list" });
    list.addEventListener("keydown", onListKey);
    panel.replaceChildren(
      backLink(kind.kind),
      element("div", { class: "head" }, heading(state?.name ?? "Unknown state"), element("span", { class: "count quiet", id: "total" })),
      element("p", { class: "quiet", id: "about" }),
      field,
      list,
      element("p", { class: "quiet", id: "more" }),
    );
    panel.dataset.key = key;
  }
  byId("total").textContent = plural(total, "object");
  byId("about").textContent = state ? leadsTo(state) : "They are left alone until an operator knows their state, or they are deleted.";
  byId("more").textContent =
    items.length < total ? `The first ${items.length} of ${total}, by name.` : total === 0 ? "No objects." : "";
  const list = byId("list");
  const known = new Map([...list.children].map((row) => [row.dataset.object, row]));
  const rows = items.map((object) => {
    const row = known.get(`${object.namespace} ${object.name}`) ?? element("li", { "data-object": `${object.namespace} ${object.name}` }, element("a"));
    showRow(row.firstChild, object);
    return row;
  });
  // Rows that stay are not moved, so that the one with the focus keeps it. If it goes, the next one gets the focus.
  const focused = [...list.children].findIndex((row) => row.contains(document.activeElement));
  const stays = new Set(rows);
  [...list.children].filter((row) => !stays.has(row)).forEach((row) => row.remove());
  rows.forEach((row, at) => {
    if (list.children[at] !== row) list.insertBefore(row, list.children[at] ?? null);
  });
  if (focused >= 0 && !list.contains(document.activeElement)) {
    (rows[Math.min(focused, rows.length - 1)]?.firstChild ?? byId("title")).focus();
  }
}

function showRow(a, object) {
  const href = link(ofObject(object));
  if (a.getAttribute("href") !== href) a.setAttribute("href", href);
  const { lastError } = object;
  a.replaceChildren(
    element("span", { class: "name" }, full(object),
      object.deleting ? element("span", { class: "badge" }, "deleting") : null,
      object.state === null ? element("span", { class: "badge bad" }, `! ${object.storedState ?? "no state"}`) : null,
      lastError ? element("span", { class: "badge bad" }, `! failed ${times(lastError.attempts)}`) : null),
    object.since || object.state !== null ? since(object.since) : "",
    object.message ? element("span", { class: "message" }, object.message) : "",
  );
}

function onListKey(event) {
  const links = [...byId("list").querySelectorAll("a")];
  const here = links.indexOf(document.activeElement);
  const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: links.length - 1 }[event.key];
  if (to === undefined) return;
  links[Math.min(Math.max(to, 0), links.length - 1)]?.focus();
  event.preventDefault();
}

function showObject(panel) {
  if (!answer.transitions) return;
  const { object } = answer;
  const title = element("div", { class: "head" }, heading(full(route)));
  const up = backLink(route.state ?? (route.parked ? "Unknown state" : drawn.kind.kind));
  const history = [
    element("h3", {}, "Last transitions"),
    ...transitions(answer.transitions, false),
  ];
  if (!object) {
    replace(panel, "object", [up, title, element("p", { class: "quiet" }, "There is no such object, or this operator does not look after it."), ...history]);
    return;
  }
  if (object.deleting) title.append(element("span", { class: "badge" }, "deleting"));
  const facts = [
    ["State", object.state ? element("a", { class: "inline", href: link(ofState(object.state)) }, object.state) : "unknown"],
    object.storedState !== undefined && ["Stored state", object.storedState],
    object.since && ["Since", since(object.since)],
    object.message && ["Message", object.message],
    object.lastError && ["Last error", element("span", { class: "bad" }, `! ${object.lastError.message}`)],
    object.lastError && ["Failed", times(object.lastError.attempts)],
  ].filter(Boolean);
  if (object.lastError) facts.splice(facts.findIndex(([name]) => name === "Message"), 1);
  replace(panel, "object", [
    up,
    title,
    element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
    element("h3", {}, "Conditions"),
    ...(object.conditions.length > 0 ? object.conditions.map(condition) : [element("p", { class: "quiet" }, "None yet.")]),
    ...history,
  ]);
}

/** Replaces the panel. A heading or link that had the focus gives it to the new one in its place. */
function replace(panel, key, children) {
  const focused = [...panel.querySelectorAll("a, h2")].indexOf(document.activeElement);
  panel.replaceChildren(...children);
  panel.dataset.key = key;
  if (focused >= 0) panel.querySelectorAll("a, h2")[focused]?.focus({ preventScroll: true });
}

function condition({ type, status, reason, message, lastTransitionTime }) {
  const isBad = type === "Stalled" && status === "True";
  const isGood = type === "Ready" && status === "True";
  return element("div", { class: "card" },
    element("div", { class: "row" },
      element("strong", {}, type),
      element("span", { class: isBad ? "bad" : isGood ? "good" : "" }, `${isBad ? "! " : isGood ? "✓ " : ""}${status}`),
      element("span", { class: "quiet" }, reason),
      since(lastTransitionTime)),
    message ? element("p", {}, message) : "");
}

function transitions(list, ofAll) {
  if (list.length === 0) return [element("p", { class: "quiet" }, "None that the operator remembers. It keeps the last ones since it was started.")];
  return list.map((entered) =>
    element("div", { class: "card" },
      element("div", { class: "row" },
        ofAll ? element("a", { class: "inline", href: link({ ...ofKind(), namespace: entered.namespace, name: entered.name }) }, full(entered)) : null,
        element("span", {}, `${entered.from ?? "new"} → ${entered.to}`),
        element("span", { class: "quiet" }, entered.cause),
        since(entered.time)),
      entered.message ? element("p", {}, entered.message) : ""));
}

/** Where a state leads to, as a sentence. */
function leadsTo(state) {
  const edges = drawn.kind.edges.filter((edge) => edge.from === state.name);
  if (edges.length === 0) return "Leads nowhere.";
  return `Leads to ${edges.map((edge) => (CAUSES[edge.by] ? `${edge.to} (${CAUSES[edge.by]})` : edge.to)).join(", ")}.`;
}
