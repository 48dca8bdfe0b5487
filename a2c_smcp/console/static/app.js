// The frame: sections, language, theme, what changes, and whose turn it is to show something.

import { get, post } from "/static/api.js";
import { h, icon, show } from "/static/dom.js";
import { follow } from "/static/events.js";
import { count, current, locale, t, toggle } from "/static/i18n.js";
import { enter, invited } from "/static/session.js";
import * as approvals from "/static/views/approvals.js";
import * as calls from "/static/views/calls.js";
import * as desktop from "/static/views/desktop.js";
import * as documents from "/static/views/documents.js";
import * as servers from "/static/views/servers.js";
import * as tools from "/static/views/tools.js";

const VIEWS = { servers, tools, desktop, documents, calls, approvals };
const STATE = new Set(["hello", "approvals", "inputs", "connection", "servers", "config", "configuration"]);
const byId = (id) => document.getElementById(id);
const main = byId("main");
let state = null;
let shown = null;
let view = null;

function route() {
  const [name, ...rest] = location.hash.replace(/^#\//, "").split("/");
  return { name: VIEWS[name] ? name : "servers", rest: rest.map(decodeURIComponent) };
}

function go({ anew = false, focus = false } = {}) {
  const { name, rest } = route();
  if (!anew && name === shown && view?.route) {
    view.route(rest);
  } else {
    view?.leave?.();
    // A place of its own: what a view left behind still draws, nobody sees.
    const place = h("div", { class: "view" });
    show(main, place);
    shown = name;
    view = VIEWS[name].open(place, rest);
    scrollTo(0, 0);
    if (focus) main.focus({ preventScroll: true });
  }
  drawFrame();
}

function drawFrame() {
  const { name } = route();
  const waiting = state?.approvals || 0;
  document.documentElement.lang = locale();
  document.title = `${waiting ? `(${waiting}) ` : ""}${t(name)} · ${state?.name || "A2C"}`;
  byId("nav").setAttribute("aria-label", t("sections"));
  show(byId("nav"), Object.keys(VIEWS).map((key) =>
    h("a", { href: `#/${key}`, "aria-current": key === name ? "page" : undefined, "data-key": key },
      icon(key), h("span", { class: "word" }, t(key)),
      key === "approvals" && waiting ? h("span", { class: "badge" }, waiting) : null)));
  byId("skip").textContent = t("skip");
  show(byId("language"), icon("language"), h("span", { lang: current() === "en" ? "zh-CN" : "en" }, t("language")));
  const other = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  show(byId("theme"), icon(other), h("span", {}, t(other)));
  show(byId("end"), icon("end"), h("span", {}, t("endSessions")));
  drawState();
}

function drawState() {
  if (!state) return;
  byId("name").textContent = state.name;
  byId("version").textContent = `A2C ${state.version}`;
  const kind = state.connection?.state || "none";
  const pill = byId("connection");
  pill.textContent = t(`conn.${kind}`, state.connection?.office_id || "");
  pill.className = `pill ${kind === "joined" ? "good" : kind === "none" || kind === "offline" ? "" : "warn"}`;
  pill.title = state.connection?.problem || "";
  const banner = byId("banner");
  const hidden = !state.approvals || shown === "approvals";
  const text = hidden ? "" : count("waiting", state.approvals);
  if (banner.dataset.text !== text) {
    banner.dataset.text = text;
    banner.hidden = hidden;
    banner.className = "";
    show(banner, text, " ", hidden ? null : h("a", { href: "#/approvals" }, t("look")));
  }
}

function away(text) {
  byId("connection").textContent = "–";
  byId("connection").className = "pill bad";
  const banner = byId("banner");
  banner.dataset.text = text;
  banner.className = "bad";
  banner.hidden = false;
  show(banner, text);
}

async function refresh() {
  try {
    state = await get("state");
    drawFrame();
  } catch (error) {
    away(error.message);
  }
}

byId("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
byId("language").addEventListener("click", () => { toggle(); byId("banner").dataset.text = "-"; go({ anew: true }); });
byId("theme").addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", theme);
  document.documentElement.dataset.theme = theme;
  drawFrame();
});
byId("end").addEventListener("click", async () => {
  if (!confirm(t("endSessionsWhy"))) return;
  try {
    await post("end_sessions", {});
    away(t("closed"));
  } catch (error) {
    away(error.message);
  }
});
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const search = main.querySelector("input[type=search]");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  }
});
addEventListener("hashchange", async () => {
  if (!invited()) return go({ focus: true });
  await enter();
  location.reload();
});

async function begin() {
  if (!await enter()) {
    drawFrame();
    away(t("closed"));
    return;
  }
  go();
  refresh();
  follow(
    (kind) => {
      document.documentElement.dataset.live = "yes";
      if (STATE.has(kind)) refresh();
      view?.changed?.(kind);
    },
    (why) => {
      delete document.documentElement.dataset.live;
      away(t(why));
    },
  );
}

begin();
