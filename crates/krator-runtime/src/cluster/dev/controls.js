// What only an operator that was built for development may do. Other operators have neither this script nor what it asks.

const HEADERS = { "krator-dev": "page", "content-type": "application/json" };
const UNITS = { s: 1, m: 60, h: 3600, d: 86400 };

/** The seconds in a text such as `90s` or `1h30m`. */
function seconds(text) {
  const parts = [...text.trim().matchAll(/(\d+)\s*([smhd])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text.trim()) {
    throw new Error(`"${text}" is no duration, such as 90s or 1h30m`);
  }
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit], 0);
}

/** The object that is selected, if there is one. */
function selectedObject() {
  if (!drawn || route.name === undefined) return null;
  return { ...ofKind(), namespace: route.namespace ?? "", name: route.name };
}

async function control(name, body) {
  const response = await fetch(`dev/${name}`, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}

/** Does something, and says what became of it: what the operator has done, or why it or the API server refuses. */
async function attempt(act) {
  try {
    const { done } = await act();
    say(done, false);
    load();
    return true;
  } catch (error) {
    say(error.message, true);
    return false;
  }
}

function say(text, isBad) {
  const place = byId("said");
  place.textContent = text;
  place.className = isBad ? "bad" : "quiet";
}

const button = (text, attributes = {}) => element("button", attributes, text);
const labelled = (text, field) => element("label", {}, text, " ", field);

/** A form that the page sends itself. */
function form(name, submit, ...children) {
  const node = element("form", { "aria-label": name }, ...children);
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return node;
}

const create = button("Create");
const namespace = element("input", { placeholder: "namespace", size: 10, "aria-label": "Namespace of the new object", spellcheck: "false" });
const duration = element("input", { value: "1h", size: 6, spellcheck: "false" });
const ahead = element("span", { class: "quiet" });
const whose = element("select", { "aria-label": "Whose handler fails" }, element("option", { value: "any" }, "any object"));
const severity = element("select", { "aria-label": "Class of the failure" },
  element("option", { value: "transient" }, "transient"), element("option", { value: "permanent" }, "permanent"));
const message = element("input", { value: "planned failure", "aria-label": "Message of the failure" });
const planned = element("span", { class: "quiet" });
const edit = button("Edit spec", { type: "button" });
const remove = button("Delete", { type: "button" });
const lead = element("span", { class: "group", role: "group", "aria-label": "Edges that the handler might take" });
const ofObjectAlone = element("div", { class: "group", role: "group" }, element("strong"), edit, remove, lead);
const kill = button("kill -9", { type: "button", class: "danger" });

const controls = element("section", { id: "controls", "aria-label": "Development" },
  element("div", { class: "row" },
    element("strong", {}, "Development"),
    form("Create a sample", () => attempt(() => control("create", { ...ofKind(), namespace: namespace.value.trim() })),
      create, labelled("in", namespace)),
    form("Move the clock forward", () => attempt(() => control("clock", { seconds: seconds(duration.value) })),
      labelled("Move the clock forward by", duration), button("Move"), ahead),
    kill),
  element("div", { class: "row" },
    form("Fail the next handler", () => attempt(() => control("fail", {
      object: whose.value === "any" ? null : selectedObject(),
      permanent: severity.value === "permanent",
      message: message.value,
    })), labelled("Next handler of", whose), "fails", severity, message, button("Plan"), planned),
    ofObjectAlone),
  element("p", { id: "said", role: "status", class: "quiet" }));
byId("trouble").after(controls);

// The keys of the page do not act on what is typed here.
controls.addEventListener("keydown", (event) => event.key === "Escape" && event.stopPropagation());
remove.addEventListener("click", () => attempt(() => control("delete", selectedObject())));
kill.addEventListener("click", async () => {
  // It does not live to answer.
  await control("kill", {}).catch(() => null);
  say("the process was killed", false);
  load();
});

// The editor of a spec.

const text = element("textarea", { rows: 16, cols: 72, spellcheck: "false", "aria-labelledby": "edited" });
const refusal = element("p", { class: "bad", role: "alert" });
const cancel = button("Cancel", { type: "button" });
let opened; // What is edited, as it was read.

const editor = element("dialog", { "aria-labelledby": "edited" },
  element("h2", { id: "edited" }),
  form("Edit a spec", save, text, refusal,
    element("div", { class: "group" }, button("Save"), cancel, element("span", { class: "quiet keys" }, "YAML or JSON; ", element("kbd", {}, "Ctrl"), " ", element("kbd", {}, "Enter"), " saves"))));
document.body.append(editor);

edit.addEventListener("click", async () => {
  const object = selectedObject();
  try {
    opened = { object, ...(await control("spec", object)) };
  } catch (error) {
    return say(error.message, true);
  }
  byId("edited").textContent = `Spec of ${full(object)}`;
  text.value = opened.spec;
  refusal.textContent = "";
  editor.showModal();
  text.focus();
  text.setSelectionRange(0, 0);
});
cancel.addEventListener("click", () => editor.close());
editor.addEventListener("keydown", (event) => {
  if (event.key === "Escape") event.stopPropagation();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
});

/** Stores the spec. If that is refused, the editor stays open with the reason. */
async function save() {
  const { object, uid, generation } = opened;
  try {
    const { done } = await control("edit", { object, uid, generation, spec: text.value });
    say(done, false);
    editor.close();
    load();
  } catch (error) {
    refusal.textContent = error.message;
  }
}

/** Shows what the controls are about, and what is planned. */
async function showControls() {
  const object = selectedObject();
  create.textContent = `Create a ${drawn.kind.kind}`;
  ofObjectAlone.hidden = object === null;
  ofObjectAlone.firstChild.textContent = object ? full(object) : "";
  ofObjectAlone.setAttribute("aria-label", object ? full(object) : "");
  showEdges(object);
  const [, former] = whose.options;
  if (former?.value !== (object ? full(object) : undefined)) {
    former?.remove();
    if (object) {
      whose.append(element("option", { value: full(object) }, full(object)));
      whose.value = full(object);
    }
  }
  const response = await fetch("dev", { headers: HEADERS, cache: "no-store" });
  const { aheadSeconds, failures } = await response.json();
  ahead.textContent = aheadSeconds === 0 ? "" : `${ago(aheadSeconds)} ahead of the server`;
  planned.textContent = failures.length === 0 ? "" : `${failures.length} planned`;
  planned.title = failures.map((f) => `${f.object ? full(f.object) : "any object"}: ${f.message}`).join("\n");
}

/** Where nobody has written the handler of an object, people may take its edges. */
function showEdges(object) {
  const state = object && drawn.kind.states.find((state) => state.name === answer.object?.state);
  const isUnwritten = state?.notWritten !== undefined;
  const next = isUnwritten ? drawn.kind.edges.filter((edge) => edge.from === state.name && edge.by === "next") : [];
  const key = JSON.stringify([object, next]);
  if (lead.dataset.key === key) return;
  lead.dataset.key = key;
  lead.replaceChildren(...next.map((edge) => {
    const take = button(`→ ${edge.to}`, { type: "button", title: `The handler is not written: ${state.notWritten}` });
    take.addEventListener("click", () => attempt(() => control("take", { object, to: edge.to })));
    return take;
  }));
}

const ago = (total) => {
  const parts = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]].map(([unit, size], at, units) =>
    [Math.floor((at === 0 ? total : total % units[at - 1][1]) / size), unit]);
  return parts.filter(([count]) => count > 0).map((part) => part.join(" ")).join(" ");
};

// The page shows each answer of the operator by this function, and the controls follow it.
const showAnswer = show;
show = () => {
  showAnswer();
  if (drawn) showControls().catch(() => null); // The page says itself that the operator does not answer.
};
