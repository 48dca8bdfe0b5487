// The log of tool calls.

import { get } from "/static/api.js";
import { h, pretty, show } from "/static/dom.js";
import { t } from "/static/i18n.js";

const KIND = { done: "good", failed: "bad", timed_out: "bad", refused: "warn", cancelled: "warn" };

export function open(root) {
  const opened = new Set();
  const load = async () => {
    let calls;
    try { ({ calls } = await get("calls")); } catch (error) { show(root, h("p", { class: "problem" }, error.message)); return; }
    const rows = calls.map((call) => row(call, opened));
    show(root, h("h2", {}, t("calls")),
      calls.length
        ? h("table", { class: "log" },
          h("thead", {}, h("tr", {}, ["when", "tool", "agent", "state", "time"].map((key) => h("th", { scope: "col" }, t(key))))),
          h("tbody", {}, rows))
        : h("p", { class: "dim" }, t("noCalls")));
  };
  load();
  return { changed: (kind) => kind === "calls" && load() };
}

function row(call, opened) {
  const details = h("details", {
    open: opened.has(call.id),
    ontoggle: (event) => (event.target.open ? opened.add(call.id) : opened.delete(call.id)),
  },
  h("summary", {}, h("span", { class: "mono" }, call.tool), " ", h("span", { class: "dim small" }, call.server || "")),
  h("h3", {}, t("arguments")), h("pre", {}, pretty(call.arguments)),
  call.error ? h("p", { class: "problem" }, call.error) : null,
  call.result ? [h("h3", {}, t("result")), h("pre", {}, pretty(call.result))] : null);
  const progress = call.progress && !call.ended ? ` ${call.progress[0]}${call.progress[1] ? `/${call.progress[1]}` : ""}` : "";
  return h("tr", {},
    h("td", { class: "small dim" }, new Date(call.began).toLocaleTimeString()),
    h("td", {}, details),
    h("td", { class: "small" }, call.agent),
    h("td", {}, h("span", { class: `pill ${KIND[call.stage] || ""}` }, t(`stages.${call.stage}`) + progress)),
    h("td", { class: "small dim" }, t("seconds", call.seconds.toFixed(2))));
}
