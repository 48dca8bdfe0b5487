// The Computer, its MCP servers, and what their states mean.

import { get, post } from "/static/api.js";
import { empty, h, heading, problem, show, toast } from "/static/dom.js";
import { count, seconds, t, time } from "/static/i18n.js";

const KIND = { running: "good", failed: "bad", waiting: "warn", starting: "warn" };
const WATCHED = new Set(["servers", "config", "configuration", "tool_list", "connection", "hello"]);

export function open(root) {
  const opened = new Set();
  let timer = 0;
  const draw = async () => {
    clearTimeout(timer);
    try {
      const [state, config] = await Promise.all([get("state"), get("config")]);
      show(root, heading(t("servers"), t("aboutServers")), computer(state), notes(state),
        state.servers.length
          ? h("div", { class: "cards" }, state.servers.map((server) => card(server, config[server.name], opened, act)))
          : empty(t("noServers"), t("noServersWhy")));
      // While a server starts, its card shows for how long.
      if (root.isConnected && state.servers.some((server) => server.state === "starting")) timer = setTimeout(draw, 1000);
    } catch (error) {
      show(root, heading(t("servers")), problem(error));
    }
  };
  const act = async (event, name, action) => {
    event.target.disabled = true;
    try { await post("server", { name, action }); } catch (error) { toast(error.message); }
    draw();
  };
  draw();
  return { changed: (kind) => WATCHED.has(kind) && draw() };
}

function computer(state) {
  const connection = state.connection;
  return h("section", { class: "card facts", "aria-label": t("computer") },
    fact(t("computer"), state.name),
    fact(t("state"), t(`conn.${connection?.state || "none"}`, connection?.office_id || "")),
    fact(t("office"), connection?.office_id || "–"),
    fact(t("servers"), `${state.servers.filter((one) => one.state === "running").length} / ${state.servers.length}`),
    fact(t("version"), state.version),
    fact(t("protocol"), state.protocol),
    connection?.problem ? h("p", { class: "problem wide" }, connection.problem, connection.advice ? ` ${connection.advice}` : "",
      connection.retry_in ? ` (${seconds(connection.retry_in)})` : "") : null);
}

const fact = (name, value) => h("div", { class: "fact" }, h("div", { class: "dim small" }, name), h("div", {}, value));

function notes(state) {
  const all = [
    state.configuration.problem,
    ...state.configuration.notes,
    ...state.tool_names.map((clash) => `${clash.tool} (${clash.servers.join(", ")}): ${clash.problem} ${clash.advice}`),
    ...state.changed_tools.map((one) => t("changedTool", one.listed, one.server, one.fields.join(", "))),
    ...(state.claimed_twice || []).map((claim) => t(claim.same.length ? "claimedSame" : "claimedTwice",
      claim.host, claim.servers.join(", "), claim.same[0], claim.servers[0])),
    ...state.undeclared.map((name) => t("undeclared", name)),
    ...Object.entries(state.left_out.windows).map(([name, count]) => t("windowsLeftOut", name, count)),
    ...Object.entries(state.left_out.documents).map(([name, count]) => t("documentsCut", name, count)),
  ].filter(Boolean);
  return all.map((note) => h("p", { class: "notice" }, note));
}

function card(server, config, opened, act) {
  const info = server.server_info;
  const button = (action, kind = "") => h("button", {
    type: "button", class: kind, "data-key": `${server.name}-${action}`, "aria-label": `${t(action)} ${server.name}`,
    onclick: (event) => act(event, server.name, action),
  }, t(action));
  return h("section", { class: "card", "aria-label": server.name },
    h("div", { class: "row" },
      h("h2", { class: "grow" }, h("span", { class: `dot ${KIND[server.state] || ""}` }), server.name),
      h("span", { class: `pill ${KIND[server.state] || ""}` }, t(`states.${server.state}`),
        server.starting_for >= 1 ? ` ${seconds(server.starting_for)}` : "")),
    h("p", { class: "dim small" },
      [server.kind, info ? `${info.title || info.name} ${info.version || ""}`.trim() : null,
        server.protocol_version ? `${t("mcpRevision")} ${server.protocol_version}` : null,
        server.subscribes ? t("takesPart") : null, t("since", time(server.since)),
        server.restarts ? count("restarts", server.restarts) : null].filter(Boolean).join(" · ")),
    server.problem ? h("p", { class: "problem" }, server.problem) : null,
    server.advice ? h("p", { class: "notice" }, `${t("advice")}: `, server.advice) : null,
    server.retry_in >= 1 ? h("p", { class: "dim small" }, t("retryIn", seconds(server.retry_in))) : null,
    (server.left_out || []).map((entry) => h("p", { class: "notice" }, t("leftOut", entry))),
    config ? h("details", {
      open: opened.has(server.name),
      ontoggle: (event) => (event.target.open ? opened.add(server.name) : opened.delete(server.name)),
    }, h("summary", { "data-key": `${server.name}-config` }, t("configuration")), h("pre", {}, config)) : null,
    h("div", { class: "row end" }, server.state === "disabled" ? button("enable") : [button("restart"), button("disable", "danger")]));
}
