// Desktop windows, as Agents see them.

import { get } from "/static/api.js";
import { h, show } from "/static/dom.js";
import { t } from "/static/i18n.js";

export function open(root) {
  const load = async () => {
    try {
      const { windows } = await get("desktop");
      show(root, h("h2", {}, t("desktop")),
        windows.length
          ? h("div", { class: "cards" }, windows.map((window) =>
            h("section", { class: "card window", "aria-label": window.uri }, h("h3", { class: "mono small" }, window.uri), h("pre", {}, window.text))))
          : h("p", { class: "dim" }, t("noWindows")));
    } catch (error) {
      show(root, h("p", { class: "problem" }, error.message));
    }
  };
  load();
  return { changed: (kind) => ["desktop", "servers"].includes(kind) && load() };
}
