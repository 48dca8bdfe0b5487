// Tools, each with a form to try it.

import { get, post } from "/static/api.js";
import { h, pretty, show } from "/static/dom.js";
import { schemaForm } from "/static/form.js";
import { t } from "/static/i18n.js";

export function open(root, [chosen]) {
  return chosen ? one(root, chosen) : all(root);
}

function all(root) {
  const filter = h("input", { type: "search", class: "grow", placeholder: t("filterTools"), "aria-label": t("filterTools") });
  const list = h("div", { class: "cards" });
  let tools = [];
  const draw = () => {
    const words = filter.value.toLowerCase();
    const found = tools.filter((tool) => `${tool.name} ${tool.description}`.toLowerCase().includes(words));
    show(list, found.length ? found.map(card) : h("p", { class: "dim" }, t("noTools")));
  };
  const load = async () => {
    try { ({ tools } = await get("tools")); draw(); } catch (error) { show(list, h("p", { class: "problem" }, error.message)); }
  };
  filter.addEventListener("input", draw);
  show(root, h("h2", {}, t("tools")), h("div", { class: "row" }, filter), h("p"), list);
  load();
  return { changed: (kind) => kind === "tool_list" && load() };
}

function card(tool) {
  return h("section", { class: "card", "aria-label": tool.name },
    h("div", { class: "row" },
      h("h3", { class: "grow mono" }, h("a", { href: `#/tools/${encodeURIComponent(tool.name)}` }, tool.name)),
      h("span", { class: "pill" }, tool.bundle_id || "")),
    h("p", {}, (tool.description || "").slice(0, 400)));
}

function one(root, name) {
  const load = async () => {
    let tool;
    try { tool = (await get("tools")).tools.find((candidate) => candidate.name === name); } catch (error) { show(root, h("p", { class: "problem" }, error.message)); return; }
    if (!tool) { show(root, h("p", { class: "dim" }, t("noTools"))); return; }
    const form = schemaForm(tool.params_schema);
    const output = h("div", { "aria-live": "polite" });
    const button = h("button", { class: "primary", type: "submit" }, t("call"));
    const submit = async (event) => {
      event.preventDefault();
      button.disabled = true;
      button.textContent = t("calling");
      const began = performance.now();
      try {
        const result = await post("call", { tool: name, params: form.value() });
        show(output, outcome(result, performance.now() - began));
      } catch (error) {
        show(output, h("p", { class: "problem" }, error.message));
      }
      button.disabled = false;
      button.textContent = t("call");
    };
    show(root,
      h("p", { class: "crumbs" }, h("a", { href: "#/tools" }, t("tools"))),
      h("h2", { class: "mono" }, name),
      h("p", {}, tool.description || ""),
      h("div", { class: "split" },
        h("form", { class: "call card", onsubmit: submit }, form.element, h("p", {}, button)),
        output));
  };
  load();
  return {};
}

export function outcome(result, milliseconds) {
  return h("section", { class: "card" },
    h("div", { class: "row" },
      h("h3", { class: `grow ${result.isError ? "problem" : ""}` }, result.isError ? t("failed") : t("result")),
      milliseconds === undefined ? null : h("span", { class: "dim small" }, t("seconds", (milliseconds / 1000).toFixed(2)))),
    (result.content || []).map(block),
    result.structuredContent ? h("pre", {}, pretty(result.structuredContent)) : null);
}

function block(content) {
  if (content.type === "text") return h("pre", {}, content.text);
  if (content.type === "image") return h("img", { src: `data:${content.mimeType};base64,${content.data}`, alt: t("result"), class: "sheet" });
  return h("pre", {}, pretty(content));
}
