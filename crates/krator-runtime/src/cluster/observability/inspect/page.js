// Shows what /state answers. What is selected is in the part of the address behind `#`, so it has a history and can be
// linked. Texts become nodes of text and never anything else.

const PERIOD = 2000; // Milliseconds between two answers.
const ROWS = 100; // The most objects that are listed.
const SVG = "http://www.w3.org/2000/svg";

const byId = (id) => document.getElementById(id);
let route = readRoute();
let search = "";
let answer; // The last one.
let drawn; // The kind whose graph is shown, with what changes in it.
let focus = null; // What has to have the focus after the next answer: "panel", a state or an object.
let timer;
let request;

/** An element with attributes and children; strings become text. */
function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}
function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}
function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  const given = children.filter((child) => child !== null && child !== undefined);
  node.append(...given.map((child) => (typeof child === "string" ? printable(child) : child)));
  return node;
}
/** Escapes what nobody sees, or what would show the text around it in another order: objects hold what anybody writes. */
function printable(text) {
  const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  return text.replace(unseen, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

const measure = document.createElement("canvas").getContext("2d");
function width(text, isBold) {
  measure.font = `${isBold ? "600 13px" : "11.5px"} system-ui, "Segoe UI", sans-serif`;
  return measure.measureText(text).width;
}

/** What is selected: a kind; one of its states, or the parked objects; or an object, with the state where it was found. */
function readRoute() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}
function link(to) {
  return `#${new URLSearchParams(Object.entries(to).filter(([, value]) => value !== undefined))}`;
}
const ofKind = () => ({ group: drawn.kind.group, kind: drawn.kind.kind });
const ofState = (state) => ({ ...ofKind(), ...(state === null ? { parked: "true" } : { state }) });
const ofObject = (object) => ({ ...route, ...ofKind(), namespace: object.namespace, name: object.name });
const full = (object) => (object.namespace ? `${object.namespace}/${object.name}` : object.name);

/** One level up: from an object to its list, from a list to the graph. */
function parent() {
  const { namespace, name, ...list } = route;
  if (name !== undefined) return list.state || list.parked ? list : ofKind();
  return ofKind();
}
function back() {
  if (!drawn || (route.name === undefined && !route.state && !route.parked)) return;
  location.hash = link(parent());
}

addEventListener("hashchange", () => {
  const former = route;
  route = readRoute();
  if (route.state !== former.state || route.kind !== former.kind) search = "";
  const depth = (of) => (of.name !== undefined ? 2 : of.state || of.parked ? 1 : 0);
  if (depth(route) >= depth(former) && depth(route) > 0) focus = { in: "panel" };
  else if (depth(route) === 1) focus = { in: "panel", object: `${former.namespace} ${former.name}` };
  else focus = { in: "graph", state: former.state ?? "" };
  load();
});

/** Asks for what is selected, now and then again. */
async function load() {
  clearTimeout(timer);
  request?.abort();
  request = new AbortController();
  const { signal } = request;
  const asked = route;
  const query = new URLSearchParams();
  // The first kind is shown if none is selected, and its name is known from the first answer on.
  const { group, kind } = asked.kind ? asked : (answer?.kinds[0] ?? {});
  if (kind) {
    if (group !== undefined) query.set("group", group);
    query.set("kind", kind);
    if (asked.name !== undefined) {
      query.set("namespace", asked.namespace ?? "");
      query.set("name", asked.name);
    } else if (asked.state || asked.parked) {
      if (asked.state) query.set("state", asked.state);
      else query.set("parked", "true");
      query.set("limit", ROWS);
      if (search) query.set("search", search);
    } else {
      query.set("limit", 12);
    }
  }
  let isFirst = !kind;
  try {
    const response = await fetch(`state?${query}`, { signal, cache: "no-store" });
    if (!response.ok) throw new Error(`${response.status}: ${(await response.text()).trim()}`);
    const json = await response.json();
    if (signal.aborted) return;
    answer = json;
    show();
  } catch (error) {
    if (signal.aborted) return;
    isFirst = false;
    trouble(`The operator does not answer: ${error.message}`);
  }
  timer = setTimeout(load, isFirst ? 0 : PERIOD);
}
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : load()));

function trouble(text) {
  const place = byId("trouble");
  if (place.textContent !== text) place.textContent = text;
  place.hidden = text === "";
}

function show() {
  const chip = (text, look) => element("span", { class: `chip ${look}` }, text);
  document.title = answer.operator;
  byId("operator").textContent = answer.operator;
  byId("version").textContent = `${answer.version ? `${answer.version}, ` : ""}krator-runtime ${answer.runtime}`;
  byId("chips").replaceChildren(
    answer.leads ? chip("✓ acts", "good") : chip("waits for the Lease", ""),
    answer.ready ? chip("✓ ready", "good") : chip("✕ not ready", "bad"),
  );
  byId("updated").textContent = `${clock(answer.time)} UTC`;
  trouble(answer.problems.map((problem) => `Waiting: ${problem}`).join("\n"));
  const kind = answer.kinds.find((k) => k.kind === route.kind && k.group === (route.group ?? k.group)) ?? answer.kinds[0];
  if (!kind) return;
  const key = JSON.stringify([kind.group, kind.kind, kind.edges, kind.states.map((state) => state.name)]);
  if (drawn?.key !== key) drawn = drawGraph(kind, key);
  drawn.kind = kind;
  showKinds();
  showCounts();
  showPanel();
  if (focus) moveFocus();
}

function showKinds() {
  const place = byId("kinds");
  if (answer.kinds.length < 2) return;
  const names = answer.kinds.map((kind) => `${kind.group} ${kind.kind}`).join();
  if (place.dataset.names !== names) {
    place.dataset.names = names;
    place.replaceChildren(
      ...answer.kinds.map((kind) => element("a", { href: link({ group: kind.group, kind: kind.kind }) }, kind.kind)),
    );
  }
  [...place.children].forEach((a, at) => {
    if (answer.kinds[at] === drawn.kind) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  });
}

const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const times = (count) => (count === 1 ? "once" : `${count} times`);
const clock = (time) => new Date(time).toISOString().slice(11, 19);

/** How long ago that was by the operator's clock. */
function since(time) {
  if (!time) return element("span", { class: "quiet" }, "not stored yet");
  const seconds = Math.max(0, Math.round((new Date(answer.time) - new Date(time)) / 1000));
  const units = [["d", 86400], ["h", 3600], ["min", 60]];
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? ["s", 1];
  return element("time", { class: "quiet", datetime: time, title: time }, `${Math.floor(seconds / size)} ${unit} ago`);
}

// The focus.

/** Moves the focus to what was opened, or back to where that was opened from. */
function moveFocus() {
  const wanted = focus;
  const panel = byId("panel");
  if (wanted.in === "graph") {
    const state = drawn.states.get(wanted.state);
    (state?.group ?? byId("title"))?.focus();
  } else {
    const rows = [...panel.querySelectorAll(".list li")];
    const row = rows.find((row) => row.dataset.object === wanted.object) ?? (route.name === undefined ? rows[0] : undefined);
    (row?.firstChild ?? byId("title"))?.focus();
  }
  focus = null;
}

addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  const field = event.target;
  if (field instanceof HTMLInputElement && field.value !== "") {
    field.value = search = "";
    load();
  } else back();
  event.preventDefault();
});

load();
