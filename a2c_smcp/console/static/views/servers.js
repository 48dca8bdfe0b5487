// MCP servers and what their states mean.

import { get, post } from "/static/api.js";
import { h, show } from "/static/dom.js";
import { t } from "/static/i18n.js";

const KIND = { running: "good", failed: "bad", waiting: "warn", starting: "warn" };

export function open(root) {
  const draw = async () => {
    let state;
    try { state = await get("state"); } catch (error) { show(root, h("p", { class: "problem" }, error.message)); return; }
    const notes = [
      state.configuration.problem,
      ...state.configuration.notes,
      ...state.tool_names.map((clash) => `${clash.problem} (${clash.advice})`),
      ...state.undeclared.map((name) => `${name}: resources.subscribe`),
    ].filter(Boolean);
    show(
      root,
      h("h2", {}, t("servers")),
      notes.map((note) => h("p", { class: "notice" }, note)),
      state.servers.length ? h("div", { class: "cards" }, state.servers.map(card)) : h("p", { class: "dim" }, t("noServers")),
    );
  };
  const act = async (event, name, action) => {
    event.target.disabled = true;
    try { await post("server", { name, action }); } catch (error) { alert(error.message); }
    draw();
  };
  const card = (server) =>
    h("section", { class: "card", "aria-label": server.name },
      h("div", { class: "row" },
        h("h3", { class: "grow" }, server.name),
        h("span", { class: `pill ${KIND[server.state] || ""}` }, t(`states.${server.state}`))),
      server.restarts ? h("p", { class: "dim small" }, t("restarts", server.restarts)) : null,
      server.problem ? h("p", { class: "problem" }, server.problem) : null,
      server.advice ? h("p", {}, `${t("advice")}: `, server.advice) : null,
      h("div", { class: "row" },
        server.state === "disabled"
          ? h("button", { type: "button", onclick: (event) => act(event, server.name, "enable") }, t("enable"))
          : [
            h("button", { type: "button", onclick: (event) => act(event, server.name, "restart") }, t("restart")),
            h("button", { type: "button", onclick: (event) => act(event, server.name, "disable") }, t("disable")),
          ]));
  draw();
  return { changed: (kind) => ["servers", "config", "configuration", "tool_list", "hello"].includes(kind) && draw() };
}
