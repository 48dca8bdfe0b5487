// A list of any length: only the rows that can be seen exist, and only their data is fetched.

import { h } from "/static/dom.js";

const ROW = 58;
const CHUNK = 50;

export function virtualList({ label, fetchChunk, draw, choose }) {
  const space = h("div", { class: "space" });
  const list = h("div", { class: "list", tabIndex: 0, role: "listbox", "aria-label": label }, space);
  const chunks = new Map();
  let total = 0;
  let active = -1;
  let generation = 0;

  const item = (index) => chunks.get(Math.floor(index / CHUNK))?.[index % CHUNK];

  async function load(number) {
    if (chunks.has(number)) return;
    chunks.set(number, []);
    const mine = generation;
    try {
      const { items, count } = await fetchChunk(number * CHUNK, CHUNK);
      if (mine !== generation) return;
      chunks.set(number, items);
      if (count !== total) { total = count; space.style.height = `${total * ROW}px`; }
      paint();
    } catch {
      if (mine === generation) chunks.delete(number);
    }
  }

  function paint() {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
    const last = Math.min(total, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 4);
    const rows = [];
    for (let index = first; index < last; index += 1) {
      load(Math.floor(index / CHUNK));
      const value = item(index);
      const row = h("div", {
        class: `item${index === active ? " active" : ""}`,
        id: `item-${index}`,
        role: "option",
        "aria-selected": index === active ? "true" : "false",
        "aria-posinset": `${index + 1}`,
        "aria-setsize": `${total}`,
        onclick: () => value && choose(value),
      }, value ? draw(value) : "…");
      row.style.top = `${index * ROW}px`;
      rows.push(row);
    }
    space.replaceChildren(...rows);
    if (active >= 0) list.setAttribute("aria-activedescendant", `item-${active}`);
  }

  function move(index) {
    if (!total) return;
    active = Math.min(Math.max(index, 0), total - 1);
    const top = active * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    paint();
  }

  list.addEventListener("scroll", () => requestAnimationFrame(paint), { passive: true });
  list.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
    const moves = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: total - 1 };
    if (event.key in moves) { event.preventDefault(); move(moves[event.key]); }
    else if (event.key === "Enter" && item(active)) { event.preventDefault(); choose(item(active)); }
  });
  addEventListener("resize", paint);

  return {
    element: list,
    count: () => total,
    reload() { generation += 1; chunks.clear(); active = -1; return load(0).then(paint); },
  };
}
