// One document: what is known of it, and its pages.

import { get, loadImage } from "/static/api.js";
import { h, problem, show } from "/static/dom.js";
import { count, date, t } from "/static/i18n.js";
import { virtualList } from "/static/virtual.js";
import { link, typeMark } from "/static/views/documents.js";

const THUMB_DPI = 40;
// The names that servers give to pages without one of their own.
const PLAIN = /^(page|slide|sheet)?\s*\d+$/i;

export function documentView(root, server, uri) {
  const head = h("div", { class: "about" });
  const list = virtualList({
    label: t("pageList"), row: 92, draw: (entry) => page(server, uri, entry),
    async fetchChunk(offset, limit) {
      const document = await get("document", { uri, offset, limit });
      if (offset === 0) describe(document);
      return { items: document.pages || [], count: document.page_total ?? document.page_count ?? 0 };
    },
    choose: (entry) => { location.hash = link(server, uri, entry.page_index); },
  });
  const crumbs = h("p", { class: "crumbs" }, h("a", { href: "#/documents" }, t("documents")));

  function describe(document) {
    const keywords = Array.isArray(document.keywords) ? document.keywords : [];
    list.element.hidden = !document.page_count;
    show(head,
      h("div", { class: "row top" }, typeMark(document.file_type),
        h("div", { class: "grow" }, h("h1", { tabIndex: -1 }, document.title || uri),
          h("p", { class: "dim small" }, [count("pages", document.page_count), date(document.last_modified), server].filter(Boolean).join(" · ")),
          h("p", { class: "mono dim small break" }, uri))),
      document.summary ? h("p", { class: "prose" }, document.summary) : null,
      keywords.length ? h("p", { class: "row" }, keywords.slice(0, 20).map((word) => h("span", { class: "pill" }, word))) : null);
  }
  const load = async () => {
    try {
      // Asked for on its own, so that a document that cannot be read says why.
      describe(await get("document", { uri, limit: 0 }));
      list.reload();
    } catch (error) {
      show(head, problem(error));
      list.element.hidden = true;
    }
  };
  show(root, crumbs, head, list.element);
  load();
  return { changed: (kind) => kind === "finder" && load() };
}

function page(server, uri, entry) {
  const image = h("img", { alt: "", width: 60, height: 78 });
  image.addEventListener("error", () => image.remove());
  loadImage(image, server, `${uri}/pages/${entry.page_index}`, THUMB_DPI);
  const number = t("page", entry.page_index + 1);
  const plain = !entry.title || PLAIN.test(entry.title);
  return [
    h("div", { class: "thumb" }, image, h("span", { "aria-hidden": "true" }, entry.page_index + 1)),
    h("div", { class: "text" },
      h("div", { class: "title" }, h("strong", {}, plain ? number : entry.title)),
      h("div", { class: "dim small" }, [plain ? null : number, entry.element_count === undefined ? null : count("elements", entry.element_count)].filter(Boolean).join(" · "))),
  ];
}
