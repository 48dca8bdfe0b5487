// The Finder: catalogue, document, page with its picture, element.

import { get } from "/static/api.js";
import { h, show } from "/static/dom.js";
import { t } from "/static/i18n.js";
import { virtualList } from "/static/virtual.js";

const TYPES = ["pdf", "docx", "xlsx", "pptx", "md", "html", "csv", "txt", "eml", "epub", "png", "jpg", "ipynb", "json"];
const remembered = { q: "", type: "" };

export function open(root, [server, uri]) {
  if (!uri) return catalogue(root);
  return /\/pages\/\d+$/.test(uri) ? page(root, server, uri) : documentView(root, server, uri);
}

const link = (server, uri) => `#/documents/${encodeURIComponent(server)}/${encodeURIComponent(uri)}`;

function catalogue(root) {
  const search = h("input", { type: "search", class: "grow", placeholder: t("search"), "aria-label": t("search"), value: remembered.q });
  const type = h("select", { "aria-label": t("type") }, h("option", { value: "" }, t("all")), TYPES.map((name) => h("option", { value: name, selected: name === remembered.type }, name)));
  const count = h("p", { class: "dim small", role: "status" });
  const list = virtualList({
    label: t("documents"),
    async fetchChunk(offset, limit) {
      const found = await get("finder", { q: search.value.trim(), type: type.value, offset, limit });
      const away = found.unavailable?.length ? ` · ${t("unavailable", found.unavailable.join(", "))}` : "";
      count.textContent = (found.total_count ? t("found", found.total_count) : t("noDocuments")) + away;
      return { items: found.documents, count: found.total_count };
    },
    draw: (document) => [
      h("div", {}, h("strong", {}, document.title || document.uri), " ", h("span", { class: "dim small" }, `${document.file_type || ""} · ${t("pages", document.page_count ?? "?")} · ${document.server}`)),
      h("div", { class: "dim small" }, document.summary || document.uri),
    ],
    choose: (document) => { location.hash = link(document.server, document.uri); },
  });
  let timer = 0;
  const again = () => {
    remembered.q = search.value;
    remembered.type = type.value;
    clearTimeout(timer);
    timer = setTimeout(() => list.reload(), 150);
  };
  search.addEventListener("input", again);
  type.addEventListener("change", again);
  search.addEventListener("keydown", (event) => { if (event.key === "ArrowDown") { event.preventDefault(); list.element.focus(); } });
  show(root, h("h2", {}, t("documents")), h("div", { class: "row" }, search, type), count, list.element);
  list.reload();
  return { changed: (kind) => ["finder", "servers"].includes(kind) && list.reload() };
}

function documentView(root, server, uri) {
  const load = async () => {
    try {
      const document = await get("document", { uri, limit: 100 });
      const list = h("ul", { class: "plain pages" }, document.pages.map((entry) => pageLink(server, uri, entry)));
      const more = h("button", { type: "button", onclick: async () => {
        const next = await get("document", { uri, offset: list.children.length, limit: 100 });
        list.append(...next.pages.map((entry) => pageLink(server, uri, entry)));
        more.hidden = list.children.length >= document.page_total;
      } }, t("more"));
      more.hidden = document.pages.length >= document.page_total;
      show(root,
        h("p", { class: "crumbs" }, h("a", { href: "#/documents" }, t("documents"))),
        h("h2", {}, document.title || uri),
        h("p", { class: "dim small mono" }, uri),
        h("p", {}, document.summary || ""),
        h("p", { class: "dim" }, t("pages", document.page_count)),
        list, more);
    } catch (error) {
      show(root, h("p", { class: "crumbs" }, h("a", { href: "#/documents" }, t("documents"))), h("p", { class: "problem" }, error.message));
    }
  };
  load();
  return { changed: (kind) => kind === "finder" && load() };
}

function pageLink(server, uri, entry) {
  return h("li", {}, h("a", { href: link(server, `${uri}/pages/${entry.page_index}`) },
    entry.title || t("page", entry.page_index + 1), " ", h("span", { class: "dim small" }, t("elements", entry.element_count))));
}

function page(root, server, uri) {
  const [, document, number] = uri.match(/^(.*)\/pages\/(\d+)$/);
  const index = Number(number);
  const sheet = h("div", { class: "sheet", hidden: true });
  const noPicture = h("p", { class: "dim small", hidden: true }, t("noPicture"));
  const body = h("div", {});
  const crumbs = h("p", { class: "crumbs row" },
    h("a", { href: "#/documents" }, t("documents")), "/", h("a", { href: link(server, document) }, t("back")),
    h("span", { class: "grow" }),
    index ? h("a", { href: link(server, `${document}/pages/${index - 1}`) }, t("previous")) : null,
    h("a", { href: link(server, `${document}/pages/${index + 1}`), id: "next-page" }, t("next")));
  const image = h("img", { alt: t("picture"), loading: "lazy" });
  image.addEventListener("load", () => { sheet.hidden = false; });
  image.addEventListener("error", () => { noPicture.hidden = false; });
  image.src = `/api/image?${new URLSearchParams({ server, uri, dpi: 110 })}`;
  sheet.append(image);

  const choose = async (element, section) => {
    body.querySelectorAll(".chosen").forEach((other) => other.classList.remove("chosen"));
    section.classList.add("chosen");
    sheet.querySelectorAll(".box").forEach((box) => box.remove());
    try {
      const { metadata } = await get("element", { uri: `${document}/elements/${encodeURIComponent(element.element_id)}` });
      highlight(sheet, metadata);
    } catch { /* an element without a place */ }
  };

  const load = async () => {
    try {
      const view = await get("page", { uri });
      show(body,
        h("h2", {}, view.title || t("page", index + 1)),
        view.elements.map((element) => {
          const section = h("section", { class: "element", id: `element-${element.element_id}` });
          section.append(
            h("div", { class: "label" },
              h("button", { type: "button", title: t("highlight"), onclick: () => choose(element, section) }, `${element.category} · ${element.element_id}`)),
            h("div", { class: "body", html: element.html }));
          return section;
        }));
    } catch (error) {
      show(body, h("p", { class: "problem" }, error.message));
    }
  };
  show(root, crumbs, h("div", { class: "split" }, body, h("div", { class: "aside" }, sheet, noPicture)));
  load();
  return { changed: (kind) => kind === "finder" && load() };
}

function highlight(sheet, metadata) {
  const [x0, y0, x1, y1] = metadata?.bbox || [];
  const width = metadata?.page_width;
  const height = metadata?.page_height;
  if (!(x1 > x0) || !width || !height) return;
  const box = h("div", { class: "box" });
  box.style.left = `${(x0 / width) * 100}%`;
  box.style.top = `${(y0 / height) * 100}%`;
  box.style.width = `${((x1 - x0) / width) * 100}%`;
  box.style.height = `${((y1 - y0) / height) * 100}%`;
  sheet.append(box);
  box.scrollIntoView({ block: "nearest" });
}
