// The frame: sections, language, theme, what changes, and whose turn it is to show something.

import { get } from "/static/api.js";
import { h, show } from "/static/dom.js";
import { current, t, toggle } from "/static/i18n.js";
import * as approvals from "/static/views/approvals.js";
import * as calls from "/static/views/calls.js";
import * as desktop from "/static/views/desktop.js";
import * as documents from "/static/views/documents.js";
import * as servers from "/static/views/servers.js";
import * as tools from "/static/views/tools.js";

const VIEWS = { servers, tools, desktop, documents, calls, approvals };
const byId = (id) => document.getElementById(id);
const main = byId("main");
let view = null;
let waiting = 0;

function route() {
  const [name, ...rest] = location.hash.replace(/^#\//, "").split("/");
  return { name: VIEWS[name] ? name : "servers", rest: rest.map(decodeURIComponent) };
}

async function go(focus) {
  const { name, rest } = route();
  view?.leave?.();
  show(main);
  drawFrame();
  view = VIEWS[name].open(main, rest);
  document.title = `${waiting ? `(${waiting}) ` : ""}${t(name)} · A2C`;
  if (focus) main.focus();
}

function drawFrame() {
  document.documentElement.lang = current() === "zh" ? "zh-CN" : "en";
  const { name } = route();
  show(
    byId("nav"),
    Object.keys(VIEWS).map((key) =>
      h("a", { href: `#/${key}`, "aria-current": key === name ? "page" : undefined },
        t(key), key === "approvals" && waiting ? h("span", { class: "badge" }, waiting) : null)),
  );
  byId("language").textContent = t("language");
  byId("theme").textContent = t(theme() === "dark" ? "light" : "dark");
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = t(element.dataset.text);
}

function theme() {
  return localStorage.getItem("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function drawState(state) {
  byId("name").textContent = state.name;
  const connection = state.connection;
  const kind = connection?.state || "none";
  const pill = byId("connection");
  pill.textContent = t(`conn.${kind}`, connection?.office_id || "");
  pill.className = `pill ${kind === "joined" ? "good" : kind === "none" || kind === "offline" ? "" : "warn"}`;
  pill.title = connection?.problem || "";
  if (waiting !== state.approvals) {
    waiting = state.approvals;
    drawFrame();
    document.title = `${waiting ? `(${waiting}) ` : ""}${t(route().name)} · A2C`;
  }
  const banner = byId("banner");
  banner.hidden = !waiting || route().name === "approvals";
  if (!banner.hidden) {
    show(banner, t(waiting === 1 ? "waiting" : "waitingMany", waiting), " ", h("a", { href: "#/approvals" }, t("look")));
  }
}

async function refresh(kind) {
  try {
    drawState(await get("state"));
  } catch {
    byId("connection").textContent = t("offline");
    byId("connection").className = "pill bad";
  }
  if (kind) view?.changed?.(kind);
}

function follow() {
  const events = new EventSource("/api/events");
  events.onmessage = (event) => refresh(JSON.parse(event.data).kind);
  events.onerror = () => refresh();
}

document.documentElement.dataset.theme = theme();
byId("language").addEventListener("click", () => { toggle(); go(); refresh(); });
byId("theme").addEventListener("click", () => {
  localStorage.setItem("theme", theme() === "dark" ? "light" : "dark");
  document.documentElement.dataset.theme = theme();
  drawFrame();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
    const search = main.querySelector("input[type=search]");
    if (search) { event.preventDefault(); search.focus(); }
  }
});
addEventListener("hashchange", () => { go(true); refresh(); });
go();
refresh();
follow();
