// A list of any length: only the rows that can be seen exist, and only their data is fetched.

import { h } from "/static/dom.js";

const CHUNK = 50;
const SPARE = 4;

// fetchChunk(offset, limit) gives { items, count, … }, and loaded hears of it unless it is out of date; with setItems
// there is nothing to fetch.
export function virtualList({ label, row, fetchChunk, draw, choose, loaded, isChosen = () => false, start = {} }) {
  const space = h("div", { class: "space", role: "presentation" });
  const list = h("div", { class: "list", tabIndex: 0, role: "listbox", "aria-label": label }, space);
  const name = `list-${Math.random().toString(36).slice(2)}`;
  const rows = new Map();
  let chunks = new Map();
  let stale = new Map();
  let total = start.total ?? 0;
  let active = start.active ?? -1;
  let generation = 0;
  let planned = 0;

  const item = (index) => {
    const number = Math.floor(index / CHUNK);
    return (chunks.get(number) || stale.get(number))?.[index % CHUNK];
  };

  async function load(number) {
    if (!fetchChunk || chunks.has(number)) return;
    chunks.set(number, null);
    const mine = generation;
    try {
      const found = await fetchChunk(number * CHUNK, CHUNK);
      if (mine !== generation) return;
      chunks.set(number, found.items);
      resize(found.count);
      loaded?.(found);
      paint();
    } catch {
      if (mine === generation) chunks.delete(number);
    }
  }

  function resize(count) {
    total = count;
    active = Math.min(active, total - 1);
    if (active < 0 && total && document.activeElement === list) active = 0;
    space.style.height = `${total * row}px`;
  }

  function paint() {
    planned = 0;
    if (!list.isConnected) return;
    const first = Math.max(0, Math.floor(list.scrollTop / row) - SPARE);
    const last = Math.min(total, Math.ceil((list.scrollTop + list.clientHeight) / row) + SPARE);
    for (const [index, known] of rows) {
      if (index < first || index >= last) { known.element.remove(); rows.delete(index); }
    }
    for (let index = first; index < last; index += 1) {
      load(Math.floor(index / CHUNK));
      place(index);
    }
    if (active >= 0 && rows.has(active)) list.setAttribute("aria-activedescendant", `${name}-${active}`);
    else list.removeAttribute("aria-activedescendant");
  }

  function place(index) {
    const value = item(index);
    let known = rows.get(index);
    if (!known) {
      known = { element: h("div", { id: `${name}-${index}`, role: "option", "aria-posinset": `${index + 1}` }) };
      known.element.style.transform = `translateY(${index * row}px)`;
      known.element.style.height = `${row}px`;
      rows.set(index, known);
      space.append(known.element);
    }
    if (!("value" in known) || known.value !== value) {
      known.value = value;
      known.element.replaceChildren(...(value ? draw(value, index) : [h("div", { class: "dim" }, "…")]));
    }
    const chosen = value !== undefined && isChosen(value);
    known.element.className = `item${index === active ? " active" : ""}${chosen ? " chosen" : ""}`;
    known.element.setAttribute("aria-selected", index === active ? "true" : "false");
    known.element.setAttribute("aria-setsize", `${total}`);
  }

  const plan = () => { planned ||= requestAnimationFrame(paint); };

  function move(index) {
    if (!total) return;
    active = Math.min(Math.max(index, 0), total - 1);
    const top = active * row;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + row > list.scrollTop + list.clientHeight) list.scrollTop = top + row - list.clientHeight;
    paint();
  }

  // By its place, not by the element: a row may be drawn anew between press and release.
  list.addEventListener("click", (event) => {
    const index = Math.floor((event.clientY - space.getBoundingClientRect().top) / row);
    if (item(index)) { move(index); choose(item(index)); }
  });
  list.addEventListener("scroll", plan, { passive: true });
  list.addEventListener("focus", () => { if (active < 0 && total) move(Math.floor(list.scrollTop / row)); });
  list.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(list.clientHeight / row) - 1);
    const moves = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: total - 1 };
    if (event.key in moves) { event.preventDefault(); move(moves[event.key]); }
    else if ((event.key === "Enter" || event.key === " ") && item(active)) { event.preventDefault(); choose(item(active)); }
  });
  new ResizeObserver(plan).observe(list);

  return {
    element: list,
    paint: plan,
    state: () => ({ scroll: list.scrollTop, active, total }),
    restore({ scroll = 0 }) { resize(total); list.scrollTop = scroll; plan(); },
    // Keeps showing what it has until it has the new.
    reload({ top = false } = {}) {
      generation += 1;
      stale = top ? new Map() : new Map([...stale, ...[...chunks].filter(([, items]) => items)]);
      chunks = new Map();
      if (top) { active = -1; list.scrollTop = 0; }
      return load(Math.floor(list.scrollTop / row / CHUNK));
    },
    setItems(items) {
      chunks = new Map();
      for (let index = 0; index < items.length; index += CHUNK) chunks.set(index / CHUNK, items.slice(index, index + CHUNK));
      resize(items.length);
      plan();
    },
  };
}
