// One page: its elements as they read, beside its picture as it looks.

import { get, loadImage, loadImageLater } from "/static/api.js";
import { empty, h, icon, problem, show, toast } from "/static/dom.js";
import { count, t } from "/static/i18n.js";
import { link } from "/static/views/documents.js";

const DPI = 130;

export function pageView(root, server, documentUri, index, wanted) {
  const uri = `${documentUri}/pages/${index}`;
  const sections = new Map();
  let boxes = {};
  let chosen = wanted;
  let title = "";
  let last = index;

  const box = h("div", { class: "box", hidden: true });
  const hover = h("div", { class: "box faint", hidden: true });
  const image = h("img", { alt: t("picture", index + 1) });
  const sheet = h("div", { class: "sheet page" }, image, hover, box);
  const aside = h("div", { class: "aside", hidden: true, tabIndex: 0, role: "group", "aria-label": t("picture", index + 1) }, sheet);
  const body = h("div", { class: "reading" });
  const crumbs = h("nav", { class: "crumbs row", "aria-label": t("documents") });
  const split = h("div", { class: "split" }, body, aside);

  const address = (element) => `${documentUri}/elements/${encodeURIComponent(element)}`;

  function drawCrumbs() {
    const step = (target, name) => h("a", {
      class: "button", href: link(server, documentUri, target), "aria-label": t(name), title: t(name), "data-key": name,
    }, icon(name));
    show(crumbs, h("a", { href: "#/documents" }, t("documents")), h("span", { class: "dim" }, "/"),
      h("a", { href: link(server, documentUri) }, title || t("back")), h("span", { class: "grow" }),
      h("span", { class: "dim small" }, t("pageOf", index + 1, last + 1)),
      index > 0 ? step(index - 1, "previous") : null, index < last ? step(index + 1, "next") : null);
  }

  function frame(mark, element) {
    const place = element === undefined ? undefined : boxes[element];
    mark.hidden = !place;
    if (!place) return;
    const [left, top, width, height] = place;
    Object.assign(mark.style, { left: `${left * 100}%`, top: `${top * 100}%`, width: `${width * 100}%`, height: `${height * 100}%` });
  }

  function choose(element, { focus = false, scroll = true } = {}) {
    sections.get(chosen)?.classList.remove("chosen");
    for (const section of sections.values()) section.tabIndex = -1;
    chosen = element;
    const section = sections.get(chosen);
    (section || sections.values().next().value)?.setAttribute("tabindex", "0");
    frame(box, chosen);
    if (!section) return;
    section.classList.add("chosen");
    if (focus) section.focus({ preventScroll: true });
    if (scroll) section.scrollIntoView({ block: "nearest" });
    if (!box.hidden) aside.scrollTo({ top: box.offsetTop - Math.max(0, (aside.clientHeight - box.offsetHeight) / 2), behavior: "instant" });
    history.replaceState(null, "", link(server, documentUri, index, chosen));
  }

  function step(by) {
    const names = [...sections.keys()];
    const next = names[Math.min(Math.max(names.indexOf(chosen) + by, 0), names.length - 1)];
    if (next !== undefined) choose(next, { focus: true });
  }

  function element(one) {
    const name = one.element_id;
    const category = t(`categories.${one.category}`);
    const section = h("section", {
      class: "element", "data-category": one.category, tabIndex: -1, "aria-label": `${category} ${name}`,
      onclick: () => { if (!getSelection().toString()) choose(name, { scroll: false }); },
      onmouseenter: () => frame(hover, name),
      onmouseleave: () => frame(hover),
      onfocus: () => { if (chosen !== name) choose(name); },
    },
    h("div", { class: "label" }, h("span", {}, category), h("span", { class: "mono" }, name),
      h("button", { type: "button", class: "quiet", onclick: (event) => { event.stopPropagation(); copy(address(name)); } }, t("copy"))),
    h("div", { class: "body", html: one.html }));
    if (one.category === "image") picture(section, name);
    for (const anchor of section.querySelectorAll("a[href]")) { anchor.target = "_blank"; anchor.rel = "noopener noreferrer"; }
    return section;
  }

  function picture(section, name) {
    const shown = h("img", { alt: "", class: "inset" });
    shown.addEventListener("error", () => shown.remove());
    loadImageLater(shown, server, address(name));
    section.querySelector(".body").prepend(shown);
  }

  async function load() {
    try {
      const view = await get("page", { uri });
      sections.clear();
      for (const one of view.elements) sections.set(one.element_id, element(one));
      show(body, h("h1", { tabIndex: -1 }, view.title || t("page", index + 1)), h("p", { class: "dim small" }, count("elements", view.elements.length)),
        sections.size ? [...sections.values()] : empty(t("noElements")));
      choose(chosen);
    } catch (error) {
      show(body, problem(error));
    }
  }

  async function place() {
    ({ boxes } = await get("boxes", { uri }).catch(() => ({ boxes: {} })));
    frame(box, chosen);
    if (chosen !== undefined) choose(chosen);
  }

  // Of boxes in one another, the smallest is meant.
  function at(event) {
    const area = image.getBoundingClientRect();
    const x = (event.clientX - area.left) / area.width;
    const y = (event.clientY - area.top) / area.height;
    const inside = Object.entries(boxes).filter(([, [left, top, width, height]]) => x >= left && x <= left + width && y >= top && y <= top + height);
    return inside.sort(([, one], [, other]) => one[2] * one[3] - other[2] * other[3])[0]?.[0];
  }

  sheet.addEventListener("click", (event) => { const name = at(event); if (name) choose(name); });
  sheet.addEventListener("mousemove", (event) => frame(hover, at(event)));
  sheet.addEventListener("mouseleave", () => frame(hover));
  body.addEventListener("keydown", (event) => {
    if (!event.target.classList.contains("element")) return;
    if (event.key === "ArrowDown" || event.key === "j") { event.preventDefault(); step(1); }
    if (event.key === "ArrowUp" || event.key === "k") { event.preventDefault(); step(-1); }
  });
  const turn = (event) => {
    if (/^(INPUT|TEXTAREA|SELECT|PRE)$/.test(document.activeElement.tagName) || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowLeft" && index > 0) location.hash = link(server, documentUri, index - 1);
    if (event.key === "ArrowRight" && index < last) location.hash = link(server, documentUri, index + 1);
  };
  document.addEventListener("keydown", turn);
  image.addEventListener("load", () => { aside.hidden = false; split.classList.add("pictured"); place(); });
  loadImage(image, server, uri, DPI);

  show(root, crumbs, split);
  drawCrumbs();
  load();
  get("document", { uri: documentUri, limit: 0 }).then((about) => {
    title = about.title;
    last = Math.max((about.page_count || 1) - 1, index);
    drawCrumbs();
  }, () => {});
  return {
    choose: (element) => { if (element !== chosen) choose(element); },
    changed: (kind) => kind === "finder" && load(),
    leave: () => document.removeEventListener("keydown", turn),
  };
}

async function copy(text) {
  try { await navigator.clipboard.writeText(text); toast(t("copied")); } catch { toast(text); }
}
