"use strict";
// Places the states of a graph in rows, from the initial state downwards, as Graphviz does: edges that lead back are turned
// around, every state gets a row, long edges get a place in each row that they cross, and rows are ordered so that few edges
// cross. Between two rows of states is one for the labels of edges.

const BOX = 52; // The height of a state.
const LABEL = 15; // The height of a row of labels.
const GAP = 17; // Between rows.

/** What causes an edge, in words. Handlers take edges without a label. */
const CAUSES = {
  next: "",
  timeout: "timeout",
  retry: "retries failed",
  limit: "too many entries",
  resume: "restarted",
  specChange: "spec changed",
  deletion: "deleted",
  onDelete: "deleted",
};

/**
 * The edges as they are drawn: what many states have in common is one edge from a note, because forty arrows to the same state
 * hide the rest of the graph. Edges between the same states with the same cause are one.
 */
function drawnEdges(kind) {
  const groups = new Map();
  for (const edge of kind.edges) {
    const isShared = !["next", "timeout", "limit", "resume"].includes(edge.by);
    const key = isShared ? `${edge.by} ${edge.to}` : `${edge.by} ${edge.from} ${edge.to}`;
    if (!groups.has(key)) groups.set(key, { by: edge.by, to: edge.to, from: [] });
    groups.get(key).from.push(edge.from);
  }
  const edges = [];
  const notes = [];
  for (const group of groups.values()) {
    if (group.by !== "deletion" && group.from.length === 1) {
      edges.push({ by: group.by, from: group.from[0], to: group.to, label: CAUSES[group.by] });
      continue;
    }
    const note = { id: `note ${group.by} ${group.to}`, lines: [CAUSES[group.by], sources(kind, group)], by: group.by };
    notes.push(note);
    edges.push({ by: group.by, from: note.id, to: group.to, label: "", ofNote: true });
  }
  return { edges, notes };
}

/** The states that have an edge in common, in few words. */
function sources(kind, group) {
  const others = kind.states.filter((state) => !state.onDeletionPath && state.name !== group.to);
  const missing = others.filter((state) => !group.from.includes(state.name)).map((state) => state.name);
  if (missing.length === 0) return "in any state";
  if (group.from.length <= 2) return `in ${group.from.join(", ")}`;
  if (missing.length <= 2) return `in any but ${missing.join(", ")}`;
  return `in ${group.from.length} states`;
}

/** Places all states, notes and edges of a kind. `width` measures a text. */
function layout(kind, width) {
  const { edges, notes } = drawnEdges(kind);
  const nodes = new Map();
  const add = (id, data) => nodes.set(id, { id, up: [], down: [], ...data });
  for (const state of kind.states) {
    const hasLoop = edges.some((edge) => edge.from === state.name && edge.to === state.name);
    // The sign of its kind stands beside the name.
    const sides = state.kind === "working" ? 32 : 60;
    const wide = Math.max(92, Math.ceil(width(state.name, true)) + sides);
    add(state.name, { state, width: wide, loop: hasLoop ? 34 : 0, lead: state.initial ? 30 : 0 });
  }
  for (const note of notes) {
    add(note.id, { note, width: Math.max(...note.lines.map((line) => width(line, false))) + 8, loop: 0, lead: 0 });
  }
  const joined = edges.filter((edge) => edge.from !== edge.to);
  turnAround(nodes, joined, kind.states);
  rank(nodes, joined);
  const rows = fill(nodes, joined, width);
  let total = 0;
  for (const part of parts(rows, kind.states)) {
    order(part);
    total = place(part, total);
  }
  return { nodes, edges, ...draw(nodes, rows, edges), width: total };
}

/** The rows of each part of the graph that no edge connects to another one, such as the deletion path. */
function parts(rows, states) {
  const parts = [];
  const seen = new Set();
  const all = rows.flat();
  const find = (state) => all.find((item) => item.state === state);
  const first = [...states].sort((a, b) => b.initial - a.initial || a.onDeletionPath - b.onDeletionPath);
  for (const start of first.map(find)) {
    if (seen.has(start)) continue;
    seen.add(start);
    const open = [start];
    for (let item = open.pop(); item; item = open.pop()) {
      for (const other of [...item.up, ...item.down]) {
        if (!seen.has(other)) open.push(other);
        seen.add(other);
      }
      item.part = parts.length;
    }
    parts.push(rows.map((row) => row.filter((item) => item.part === parts.length)));
  }
  return parts;
}

/** Turns edges around that lead back to a state from which they come. */
function turnAround(nodes, edges, states) {
  const leaving = new Map([...nodes.keys()].map((id) => [id, []]));
  edges.forEach((edge) => leaving.get(edge.from).push(edge));
  const seen = new Map();
  const roots = [...states].sort((a, b) => b.initial - a.initial || a.onDeletionPath - b.onDeletionPath);
  const starts = [roots[0].name, ...[...nodes.keys()].filter((id) => nodes.get(id).note), ...roots.map((s) => s.name)];
  for (const start of starts) {
    if (seen.has(start)) continue;
    seen.set(start, "open");
    const path = [{ id: start, next: 0 }];
    while (path.length > 0) {
      const last = path[path.length - 1];
      const edge = leaving.get(last.id)[last.next++];
      if (!edge) {
        seen.set(last.id, "done");
        path.pop();
      } else if (seen.get(edge.to) === "open") {
        edge.turned = true;
      } else if (!seen.has(edge.to)) {
        seen.set(edge.to, "open");
        path.push({ id: edge.to, next: 0 });
      }
    }
  }
  for (const edge of edges) {
    edge.upper = edge.turned ? edge.to : edge.from;
    edge.lower = edge.turned ? edge.from : edge.to;
  }
}

/** Gives each node the number of its row. Those of states and notes are even. */
function rank(nodes, edges) {
  const above = new Map([...nodes.keys()].map((id) => [id, 0]));
  edges.forEach((edge) => above.set(edge.lower, above.get(edge.lower) + 1));
  const ready = [...nodes.keys()].filter((id) => above.get(id) === 0);
  nodes.forEach((node) => (node.rank = 0));
  while (ready.length > 0) {
    const id = ready.shift();
    for (const edge of edges.filter((edge) => edge.upper === id)) {
      const lower = nodes.get(edge.lower);
      lower.rank = Math.max(lower.rank, nodes.get(id).rank + 2);
      above.set(edge.lower, above.get(edge.lower) - 1);
      if (above.get(edge.lower) === 0) ready.push(edge.lower);
    }
  }
  // A note stands right above its state.
  edges.filter((edge) => edge.ofNote).forEach((edge) => (nodes.get(edge.from).rank = nodes.get(edge.to).rank - 2));
}

/** The rows, with a place for each edge in each row that it crosses. */
function fill(nodes, edges, width) {
  const rows = [];
  const put = (item) => {
    (rows[item.rank] ??= []).push(item);
    return item;
  };
  nodes.forEach(put);
  for (const edge of edges) {
    const [first, last] = [nodes.get(edge.upper), nodes.get(edge.lower)];
    const middle = 2 * Math.floor((first.rank + last.rank) / 4) + 1;
    edge.places = [];
    let previous = first;
    for (let at = first.rank + 1; at <= last.rank; at++) {
      const isLabel = at === middle && edge.label;
      const item =
        at === last.rank
          ? last
          : put({ rank: at, edge, width: isLabel ? width(edge.label, false) + 6 : 4, loop: 0, lead: 0, up: [], down: [] });
      if (item !== last) edge.places.push(item);
      if (isLabel) edge.labelled = item;
      previous.down.push(item);
      item.up.push(previous);
      previous = item;
    }
  }
  for (let at = 0; at < rows.length; at++) rows[at] ??= [];
  return rows;
}

/** Orders the rows so that few edges cross: each item moves to the mean of its neighbours, and the best order is kept. */
function order(rows) {
  const number = (row) => row.forEach((item, at) => (item.at = at));
  rows.forEach(number);
  let best = { crossings: crossings(rows), rows: rows.map((row) => [...row]) };
  for (let round = 0; round < 24 && best.crossings > 0; round++) {
    const isDown = round % 2 === 0;
    const sequence = isDown ? rows : [...rows].reverse();
    for (const row of sequence) {
      for (const item of row) {
        const neighbours = isDown ? item.up : item.down;
        const sum = neighbours.reduce((sum, other) => sum + other.at, 0);
        item.mean = neighbours.length > 0 ? sum / neighbours.length : item.at;
      }
      row.sort((a, b) => a.mean - b.mean);
      number(row);
    }
    const now = crossings(rows);
    if (now < best.crossings) best = { crossings: now, rows: rows.map((row) => [...row]) };
  }
  best.rows.forEach((row, at) => {
    rows[at] = row;
    number(row);
  });
}

function crossings(rows) {
  let count = 0;
  for (const row of rows) {
    const ends = row.flatMap((item) => item.down.map((other) => [item.at, other.at]));
    for (let i = 0; i < ends.length; i++) {
      for (let j = i + 1; j < ends.length; j++) {
        if ((ends[i][0] - ends[j][0]) * (ends[i][1] - ends[j][1]) < 0) count++;
      }
    }
  }
  return count;
}

/**
 * Gives each item the middle of its place in the row, right of `from`. Edges are straight where they can be. Returns where the
 * rows end.
 */
function place(rows, from) {
  const isPlace = (item) => item.edge !== undefined;
  const between = (a, b) => (a.width + b.width) / 2 + a.loop + b.lead + (isPlace(a) || isPlace(b) ? 12 : 26);
  for (const row of rows) {
    row.forEach((item, at) => (item.x = at === 0 ? item.width / 2 : row[at - 1].x + between(row[at - 1], item)));
  }
  for (let round = 0; round < 40; round++) {
    const isDown = round % 2 === 0;
    for (const row of isDown ? rows : [...rows].reverse()) {
      // The wanted places are shifted to where all items would have no width; then they only have to rise.
      let shift = 0;
      const blocks = [];
      row.forEach((item, at) => {
        if (at > 0) shift += between(row[at - 1], item);
        const others = round < 36 ? (isDown ? item.up : item.down) : [...item.up, ...item.down];
        const weight = (other) => (isPlace(item) && isPlace(other) ? 4 : 1);
        const weights = others.reduce((sum, other) => sum + weight(other), 0);
        const wanted = weights > 0 ? others.reduce((sum, o) => sum + o.x * weight(o), 0) / weights : item.x;
        let block = { items: [item], shifts: [shift], x: wanted - shift, weight: Math.max(weights, 0.1) };
        while (blocks.length > 0 && blocks[blocks.length - 1].x >= block.x) {
          const former = blocks.pop();
          const weight = former.weight + block.weight;
          block = {
            items: [...former.items, ...block.items],
            shifts: [...former.shifts, ...block.shifts],
            x: (former.x * former.weight + block.x * block.weight) / weight,
            weight,
          };
        }
        blocks.push(block);
      });
      blocks.forEach((block) => block.items.forEach((item, at) => (item.x = block.x + block.shifts[at])));
    }
  }
  const all = rows.flat();
  const left = Math.min(...all.map((item) => item.x - item.width / 2 - item.lead));
  const shift = (from > 0 ? from + 40 : 0) - left;
  all.forEach((item) => (item.x += shift));
  return Math.max(...all.map((item) => item.x + item.width / 2 + item.loop));
}

/** The rows' heights, the paths of the edges, and where their labels are. */
function draw(nodes, rows, edges) {
  let y = 0;
  rows.forEach((row, at) => {
    const height = at % 2 === 0 ? BOX : row.some((item) => item.edge?.labelled === item) ? LABEL : 2;
    row.forEach((item) => ([item.top, item.bottom] = [y, y + height]));
    y += height + GAP;
  });
  // The ends of edges are spread over the sides of a state, in the order of where they lead.
  for (const node of nodes.values()) {
    for (const side of ["up", "down"]) {
      const ends = edges
        .filter((edge) => edge.places && (side === "up" ? edge.lower : edge.upper) === node.id)
        .map((edge) => ({ edge, to: edge.places[side === "up" ? edge.places.length - 1 : 0] }))
        .sort((a, b) => a.to.x - b.to.x);
      const step = Math.min(24, (node.width - 24) / Math.max(ends.length, 1));
      ends.forEach((end, at) => {
        end.edge[side === "up" ? "lowerEnd" : "upperEnd"] = node.x + (at - (ends.length - 1) / 2) * step;
      });
    }
  }
  for (const edge of edges) {
    if (!edge.places) {
      const node = nodes.get(edge.from);
      const [x, middle] = [node.x + node.width / 2, (node.top + node.bottom) / 2];
      edge.path = `M${x} ${middle + 10}c30 10 30 -30 5 -22`;
      edge.tip = { x, y: middle - 10, turn: 105 };
      edge.text = { x: x + 4, y: middle + 26 };
      continue;
    }
    const [upper, lower] = [nodes.get(edge.upper), nodes.get(edge.lower)];
    const start = upper.note ? upper.top + 34 : upper.bottom;
    const points = [{ x: edge.upperEnd, top: start, bottom: start }];
    // Rows of labels are low, so an edge is smoother without its places there.
    const shown = edge.places.filter((item) => item.rank % 2 === 0 || item === edge.labelled);
    shown.forEach(({ x, top, bottom }) => points.push({ x, top, bottom }));
    points.push({ x: edge.lowerEnd, top: lower.top, bottom: lower.top });
    // The arrow covers the end of its line.
    if (edge.turned) points[0].top = points[0].bottom += 6;
    else points[points.length - 1].top -= 6;
    edge.path = `M${points[0].x} ${points[0].bottom}`;
    for (let at = 1; at < points.length; at++) {
      const [a, b] = [points[at - 1], points[at]];
      const middle = (a.bottom + b.top) / 2;
      edge.path += `C${a.x} ${middle} ${b.x} ${middle} ${b.x} ${b.top}`;
      if (b.bottom !== b.top && at < points.length - 1) edge.path += `V${b.bottom}`;
    }
    edge.tip = edge.turned
      ? { x: edge.upperEnd, y: upper.bottom, turn: 180 }
      : { x: edge.lowerEnd, y: lower.top, turn: 0 };
    if (edge.labelled) edge.text = { x: edge.labelled.x, y: (edge.labelled.top + edge.labelled.bottom) / 2 + 4 };
  }
  return { height: y - GAP };
}
