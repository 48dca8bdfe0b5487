// The Finder: the catalogue of documents, its filters, and the search in their text.

import { get } from "/static/api.js";
import { empty, h, heading, problem, show } from "/static/dom.js";
import { count, date, t } from "/static/i18n.js";
import { virtualList } from "/static/virtual.js";
import { documentView } from "/static/views/document.js";
import { pageView } from "/static/views/page.js";

const PAUSE = 180;
const LATER = 5000;
const remembered = { q: "", type: "", inside: false, list: {} };

// #/documents, #/documents/SERVER/URI, #/documents/SERVER/URI/PAGE, #/documents/SERVER/URI/PAGE/ELEMENT
export function open(root, rest) {
  let view = null;
  let before = [];
  const route = (parts) => {
    const samePage = parts.length >= 3 && view?.choose && parts.slice(0, 3).join("\n") === before.slice(0, 3).join("\n");
    before = parts;
    if (samePage) { view.choose(parts[3]); return; }
    view?.leave?.();
    const place = h("div", { class: "view" });
    show(root, place);
    const [server, uri, page, element] = parts;
    if (page !== undefined) view = pageView(place, server, uri, Number(page), element);
    else if (uri) view = documentView(place, server, uri);
    else view = catalogue(place);
    scrollTo(0, 0);
  };
  route(rest);
  return { route, changed: (kind) => view?.changed?.(kind), leave: () => view?.leave?.() };
}

export const link = (...parts) => `#/documents/${parts.map(encodeURIComponent).join("/")}`;

export function typeMark(type) {
  const family = { pdf: "red", docx: "blue", doc: "blue", xlsx: "green", xls: "green", xlsm: "green", csv: "green", pptx: "orange", ppt: "orange" };
  return h("span", { class: `type ${family[type] || ""}`, "aria-hidden": "true" }, (type || "?").slice(0, 5));
}

function catalogue(root) {
  const search = h("input", { type: "search", value: remembered.q });
  const type = h("select", { "aria-label": t("type") });
  const where = h("select", { "aria-label": t("where") },
    h("option", { value: "" }, t("catalogue")), h("option", { value: "inside", selected: remembered.inside }, t("inside")));
  const number = h("p", { class: "dim small", role: "status" });
  const hits = h("div", { class: "hits" });
  let timer = 0;
  let later = 0;
  const list = virtualList({
    label: t("documents"), row: 66, start: remembered.list, draw: row,
    async fetchChunk(offset, limit) {
      const found = await get("finder", { q: search.value.trim(), type: type.value, offset, limit });
      return { items: found.documents, count: found.total_count, unavailable: found.unavailable };
    },
    loaded(found) {
      const away = found.unavailable?.length ? ` · ${t("unavailable", found.unavailable.join(", "))}` : "";
      number.textContent = (found.count ? count("found", found.count) : t("noDocuments")) + away;
      clearTimeout(later);
      if (away) later = setTimeout(() => list.reload(), LATER);
    },
    choose: (document) => { location.hash = link(document.server, document.uri); },
  });
  let asking = null;

  const types = async () => {
    const known = await get("types").catch(() => ({ types: {} }));
    const names = Object.keys(known.types);
    if (remembered.type && !names.includes(remembered.type)) names.push(remembered.type);
    show(type, h("option", { value: "" }, t("all")), names.map((name) =>
      h("option", { value: name, selected: name === remembered.type }, known.types[name] ? `${name} (${known.types[name]})` : name)));
  };
  const look = async () => {
    asking?.abort();
    asking = new AbortController();
    const words = search.value.trim();
    if (!words) { number.textContent = ""; show(hits); return; }
    try {
      const found = (await get("search", { q: words }, { signal: asking.signal })).hits;
      number.textContent = found.length ? count("hits", found.length) : "";
      show(hits, found.length ? found.map(hit) : empty(t("noHits")));
    } catch (error) {
      if (error.name !== "AbortError") show(hits, problem(error));
    }
  };
  const apply = (top) => {
    const inside = where.value === "inside";
    Object.assign(remembered, { q: search.value, type: type.value || "", inside });
    search.placeholder = t(inside ? "searchInside" : "search");
    search.setAttribute("aria-label", search.placeholder);
    type.hidden = inside;
    hits.hidden = !inside;
    list.element.hidden = inside;
    return inside ? look() : list.reload({ top });
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(() => apply(true), PAUSE); };
  search.addEventListener("input", soon);
  for (const select of [type, where]) select.addEventListener("change", () => apply(true));
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { event.preventDefault(); (where.value ? hits.querySelector("a") : list.element)?.focus(); }
  });
  show(root, heading(t("documents"), h("span", { class: "keys" }, t("keys"))), h("div", { class: "row filters" }, search, type, where), number, list.element, hits);
  list.restore(remembered.list);
  types().then(() => apply(false));
  return {
    changed: (kind) => { if (["finder", "servers", "hello"].includes(kind)) { types(); if (!where.value) list.reload(); } },
    leave: () => { clearTimeout(timer); clearTimeout(later); remembered.list = list.state(); },
  };
}

function row(document) {
  const about = [count("pages", document.page_count), date(document.last_modified), document.server].filter(Boolean).join(" · ");
  return [
    typeMark(document.file_type),
    h("div", { class: "text" },
      h("div", { class: "title" }, h("strong", {}, document.title || document.uri), h("span", { class: "dim small" }, about)),
      h("div", { class: "dim small" }, document.summary || document.uri)),
  ];
}

function hit(place) {
  const document = place.uri.replace(/\/(pages|elements)\/[^/]*$/, "");
  const target = place.page_index === null || place.page_index === undefined
    ? link(place.server, document)
    : link(place.server, document, place.page_index, ...(place.element_id ? [place.element_id] : []));
  return h("a", { class: "card hit", href: target },
    h("div", { class: "title" }, h("strong", {}, place.title || document),
      h("span", { class: "dim small" }, [place.page_index == null ? null : t("page", place.page_index + 1), place.server].filter(Boolean).join(" · "))),
    h("p", {}, place.snippet || ""));
}
