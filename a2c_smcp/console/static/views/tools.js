// Tools, each with a form to try it.

import { get, post } from "/static/api.js";
import { empty, h, heading, problem, show } from "/static/dom.js";
import { argumentsForm } from "/static/form.js";
import { count, t } from "/static/i18n.js";
import { outcome } from "/static/result.js";
import { virtualList } from "/static/virtual.js";

const link = (name) => `#/tools/${encodeURIComponent(name)}`;

export function open(root, rest) {
  let tools = [];
  let chosen = rest[0];
  let drawn = null;
  const filter = h("input", { type: "search", placeholder: t("filterTools"), "aria-label": t("filterTools") });
  const number = h("p", { class: "dim small", role: "status" });
  const list = virtualList({
    label: t("tools"), row: 62,
    draw: (tool) => [
      h("div", { class: "title" }, h("span", { class: "mono" }, tool.name), tool.asks ? h("span", { class: "pill" }, t("asks")) : null),
      h("div", { class: "dim small" }, `${tool.server} · ${tool.description || ""}`),
    ],
    isChosen: (tool) => tool.name === chosen,
    choose: (tool) => { location.hash = link(tool.name); },
  });
  const detail = h("div", { class: "detail" });
  const split = h("div", { class: "split master-detail" }, h("div", { class: "master" }, filter, number, list.element), detail);

  const sift = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = tools.filter((tool) => words.every((word) => `${tool.name} ${tool.server} ${tool.description}`.toLowerCase().includes(word)));
    number.textContent = found.length ? count("toolCount", found.length) : t(tools.length ? "noToolFound" : "noTools");
    list.setItems(found);
  };
  const drawDetail = () => {
    split.classList.toggle("has-choice", Boolean(chosen));
    const tool = tools.find((one) => one.name === chosen);
    // A form somebody is filling in stays as it is, unless the tool itself has changed.
    const key = tool ? JSON.stringify(tool) : "";
    if (key && key === drawn) return;
    drawn = key;
    show(detail, tool ? one(tool) : empty(t(chosen ? "noToolFound" : "chooseTool")));
  };
  const load = async () => {
    try {
      ({ tools } = await get("tools"));
      sift();
      drawDetail();
    } catch (error) {
      show(detail, problem(error));
    }
  };
  filter.addEventListener("input", sift);
  filter.addEventListener("keydown", (event) => { if (event.key === "ArrowDown") { event.preventDefault(); list.element.focus(); } });
  show(root, heading(t("tools"), t("aboutTools")), split);
  load();
  return {
    changed: (kind) => ["tool_list", "servers", "hello"].includes(kind) && load(),
    route: ([name]) => {
      chosen = name;
      drawDetail();
      list.paint();
      if (name) detail.querySelector("h2")?.focus();
    },
  };
}

function one(tool) {
  const form = argumentsForm(tool.schema);
  const output = h("div", { "aria-live": "polite" });
  const call = h("button", { class: "primary", type: "submit" }, t("call"));
  const cancel = h("button", { type: "button", hidden: true }, t("cancel"));
  const submit = async (event) => {
    event.preventDefault();
    let params;
    try { params = form.read(); } catch (error) { show(output, problem(error)); return; }
    const id = crypto.randomUUID();
    const began = performance.now();
    cancel.onclick = () => post("cancel", { agent: "console", req_id: id.replaceAll("-", "") }).catch(() => {});
    call.disabled = true;
    cancel.hidden = false;
    call.textContent = t("calling");
    try {
      const result = await post("run", { tool: tool.name, params, id });
      show(output, outcome(result, (performance.now() - began) / 1000));
    } catch (error) {
      show(output, problem(error));
    }
    call.disabled = false;
    cancel.hidden = true;
    call.textContent = t("call");
  };
  return h("article", { class: "card" },
    h("p", { class: "crumbs only-narrow" }, h("a", { href: "#/tools" }, t("tools"))),
    h("h2", { class: "mono", tabIndex: -1 }, tool.name),
    h("p", { class: "row" }, h("span", { class: "pill" }, tool.server), marks(tool)),
    h("p", { class: "prose" }, tool.description || ""),
    h("form", { class: "call", onsubmit: submit }, form.element, h("div", { class: "row" }, call, cancel)),
    output);
}

export function marks(tool) {
  const about = tool.annotations || {};
  return [
    tool.asks ? h("span", { class: "pill warn" }, t("asks")) : null,
    about.readOnlyHint === true ? h("span", { class: "pill good" }, t("readOnly")) : null,
    about.readOnlyHint !== true && about.destructiveHint === true ? h("span", { class: "pill bad" }, t("destructive")) : null,
    about.openWorldHint === true ? h("span", { class: "pill" }, t("openWorld")) : null,
  ];
}
