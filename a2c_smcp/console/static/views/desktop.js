// Desktop windows, as Agents see them.

import { get } from "/static/api.js";
import { empty, h, heading, problem, show } from "/static/dom.js";
import { t } from "/static/i18n.js";

const WATCHED = new Set(["desktop", "servers", "calls", "hello"]);

export function open(root) {
  let before = null;
  const load = async () => {
    try {
      const { windows } = await get("desktop");
      const now = new Map(windows.map((window) => [window.uri, window.text]));
      if (before && sameMaps(before, now)) return;
      const fresh = (window) => before !== null && before.get(window.uri) !== window.text;
      show(root, heading(t("desktop"), t("aboutDesktop")),
        windows.length ? h("div", { class: "cards windows" }, windows.map((window) => pane(window, fresh(window)))) : empty(t("noWindows"), t("noWindowsWhy")));
      before = now;
    } catch (error) {
      show(root, heading(t("desktop")), problem(error));
      before = null;
    }
  };
  load();
  return { changed: (kind) => WATCHED.has(kind) && load() };
}

// The order counts as well: it follows the latest calls.
const sameMaps = (one, other) => JSON.stringify([...one]) === JSON.stringify([...other]);

function pane(window, fresh) {
  const [, name, query] = window.uri.match(/^window:\/\/([^?]*)\??(.*)$/) || [null, window.uri, ""];
  const asked = new URLSearchParams(query);
  return h("section", { class: `card window${fresh ? " fresh" : ""}`, "aria-label": window.uri },
    h("h2", { title: window.uri }, h("span", { class: "mono grow" }, decode(name)),
      asked.get("fullscreen") === "true" ? h("span", { class: "pill" }, "fullscreen") : null,
      asked.has("priority") ? h("span", { class: "pill" }, asked.get("priority")) : null),
    h("pre", { tabIndex: 0, "data-key": window.uri, "aria-label": window.uri }, window.text));
}

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}
