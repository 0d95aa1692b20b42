// Draws the graph, shows how many objects are in each state, and moves between states by the arrow keys.

function drawGraph(kind, key) {
  const plan = layout(kind, width);
  const margin = 12;
  const [wide, high] = [Math.ceil(plan.width + 2 * margin), Math.ceil(plan.height + 2 * margin)];
  const svg = shape("svg", {
    width: wide,
    height: high,
    viewBox: `${-margin} ${-margin} ${wide} ${high}`,
    role: "group",
    "aria-label": `States of ${kind.kind}`,
  });
  // A graph that is too wide is drawn smaller, while it can be read; then it is scrolled.
  svg.style.minWidth = `${0.72 * wide}px`;
  const edges = plan.edges.map((edge) => {
    const { x, y, turn } = edge.tip;
    const group = shape("g", { class: `edge ${edge.by}`, "aria-hidden": "true" });
    group.append(
      shape("path", { d: edge.path }),
      shape("path", { d: "M0 0L-4.5 -8.5H4.5Z", class: "tip", transform: `translate(${x} ${y}) rotate(${turn})` }),
    );
    if (edge.text) group.append(shape("text", edge.text, edge.label));
    svg.append(group);
    return { edge, group };
  });
  const states = new Map();
  for (const node of plan.nodes.values()) {
    if (node.note) {
      const lines = node.note.lines.map((line, at) => shape("text", { class: "note", x: node.x, y: node.top + 14 + at * 15 }, line));
      svg.append(shape("g", { "aria-hidden": "true" }, ...lines));
    } else {
      states.set(node.state.name, drawState(svg, node, edges));
    }
  }
  byId("graph").replaceChildren(svg);
  showLegend(kind);
  return { key, kind, states };
}

function drawState(svg, node, edges) {
  const { state, x, top, width: wide } = node;
  const left = x - wide / 2;
  const box = (by, look, round) =>
    shape("rect", { class: look, x: left + by, y: top + by, width: wide - 2 * by, height: BOX - 2 * by, rx: round });
  // A failed state has no round corners, but cut ones.
  const cut = `M${left + 9} ${top}h${wide - 18}l9 9v${BOX - 18}l-9 9h${18 - wide}l-9 -9v${18 - BOX}z`;
  const sign = { ready: "✓", failed: "!", final: "■" }[state.kind];
  const count = shape("text", { class: "count", x, y: top + 42 });
  const group = shape(
    "g",
    { class: `state ${state.kind}${state.onDeletionPath ? " deletion" : ""}`, role: "button", tabindex: "-1" },
    box(-4, "ring", 12),
    state.kind === "failed" ? shape("path", { class: "shape", d: cut }) : box(0, "shape", 9),
    state.kind === "final" ? box(3.5, "inner", 6) : null,
    shape("text", { class: "name", x, y: top + 21 }, state.name),
    count,
    sign ? shape("text", { class: "sign", x: left + 9, y: top + 20 }, sign) : null,
  );
  if (state.initial) {
    svg.append(
      shape("circle", { class: "start", cx: left - 24, cy: top + BOX / 2, r: 4.5 }),
      shape("g", { class: "edge" }, shape("path", { d: `M${left - 20} ${top + BOX / 2}H${left - 6}` }),
        shape("path", { d: "M0 0L-4.5 -8.5H4.5Z", class: "tip", transform: `translate(${left} ${top + BOX / 2}) rotate(-90)` })),
    );
  }
  const near = (isNear) =>
    edges.forEach(({ edge, group }) => {
      if (edge.from === state.name || edge.to === state.name) group.classList.toggle("near", isNear);
    });
  group.addEventListener("click", () => open(state.name));
  group.addEventListener("keydown", (event) => onStateKey(event, state.name));
  for (const begins of ["focus", "mouseenter"]) group.addEventListener(begins, () => near(true));
  for (const ends of ["blur", "mouseleave"]) group.addEventListener(ends, () => near(false));
  group.addEventListener("focus", () => makeTabStop(state.name));
  svg.append(group);
  return { group, count, state, x, y: top + BOX / 2 };
}

/** Only one state is reached by the tabulator; the arrows lead to the others. */
function makeTabStop(name) {
  drawn.states.forEach(({ group }, other) => group.setAttribute("tabindex", other === name ? "0" : "-1"));
}

function open(state) {
  location.hash = link(ofState(state));
}

function onStateKey(event, name) {
  const arrows = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  if (event.key === "Enter" || event.key === " ") open(name);
  else if (arrows[event.key]) {
    const here = drawn.states.get(name);
    const [right, down] = arrows[event.key];
    let best = null;
    drawn.states.forEach((there) => {
      const [dx, dy] = [there.x - here.x, there.y - here.y];
      const [along, aside] = [dx * right + dy * down, Math.abs(dx * down) + Math.abs(dy * right)];
      const far = along + 2.5 * aside;
      if (along > 4 && (!best || far < best.far)) best = { far, there };
    });
    best?.there.group.focus();
    best?.there.group.scrollIntoView({ block: "nearest", inline: "nearest" });
  } else return;
  event.preventDefault();
}

function showCounts() {
  let hasTabStop = false;
  for (const state of drawn.kind.states) {
    const { group, count } = drawn.states.get(state.name);
    const text = state.objects.toLocaleString("en");
    if (count.textContent !== text) {
      group.classList.remove("changed");
      // Measuring makes the browser forget the former animation.
      if (count.textContent !== "" && count.getBBox()) group.classList.add("changed");
      count.textContent = text;
    }
    group.classList.toggle("some", state.objects > 0);
    const parts = [state.name, plural(state.objects, "object"), `${state.kind} state`];
    if (state.initial) parts.push("initial");
    if (state.onDeletionPath) parts.push("on the deletion path");
    group.setAttribute("aria-label", parts.join(", "));
    group.setAttribute("aria-pressed", String(state.name === route.state));
    hasTabStop ||= group.getAttribute("tabindex") === "0";
  }
  if (!hasTabStop) makeTabStop(route.state ?? drawn.kind.states.find((state) => state.initial).name);
}

function showLegend(kind) {
  const has = (test) => kind.states.some(test);
  const entries = [
    has((s) => s.kind === "ready") && "✓ ready",
    has((s) => s.kind === "failed") && "! failed, cut corners",
    has((s) => s.kind === "final") && "■ final, two frames",
    has((s) => s.onDeletionPath) && "dashed frame: on the deletion path",
  ];
  byId("legend").replaceChildren(...entries.filter(Boolean).map((text) => element("span", {}, text)));
}
