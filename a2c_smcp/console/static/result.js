// The result of a tool call, block by block.

import { h } from "/static/dom.js";
import { seconds, t } from "/static/i18n.js";

export const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

export function outcome(result, spent) {
  if (result.shortened !== undefined) {
    return h("section", {}, h("h3", {}, t("result")), h("p", { class: "dim small" }, t("shortened", result.characters)), h("pre", {}, result.shortened));
  }
  const texts = (result.content || []).filter((one) => one.type === "text").map((one) => one.text.trim());
  const structured = result.structuredContent;
  const said = structured && texts.some((text) => text === JSON.stringify(structured) || same(text, structured));
  return h("section", { class: "outcome" },
    h("div", { class: "row" },
      h("h3", { class: result.isError ? "grow problem" : "grow" }, result.isError ? t("failed") : t("result")),
      spent === undefined ? null : h("span", { class: "dim small" }, seconds(spent))),
    (result.content || []).map(block),
    structured && !said ? [h("h4", {}, t("structured")), h("pre", {}, pretty(structured))] : null,
    result.meta && Object.keys(result.meta).length ? h("details", {}, h("summary", {}, t("meta")), h("pre", {}, pretty(result.meta))) : null);
}

function same(text, value) {
  try { return JSON.stringify(JSON.parse(text)) === JSON.stringify(value); } catch { return false; }
}

function block(content) {
  switch (content.type) {
    case "text": return h("pre", { tabIndex: 0 }, indented(content.text));
    case "image": return h("img", { src: `data:${content.mimeType};base64,${content.data}`, alt: t("result"), class: "sheet" });
    case "audio": return h("p", { class: "dim" }, t("audio", content.mimeType || ""));
    case "resource_link": return h("p", {}, h("span", { class: "mono" }, content.uri), " ", h("span", { class: "dim" }, content.title || content.name || ""));
    case "resource": return h("div", {}, h("p", { class: "mono small dim" }, content.resource?.uri), h("pre", {}, content.resource?.text ?? content.resource?.mimeType ?? ""));
    default: return h("pre", {}, pretty(content));
  }
}

function indented(text) {
  if (!/^\s*[[{]/.test(text)) return text;
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}
