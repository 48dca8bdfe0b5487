// The page of a server's operator. The token stays in this tab: it is sent as a header, and to this server alone.
"use strict";

const EVERY = 3000;
const WORDS = {
  en: {
    login: "This server's console", loginWhy: "It shows offices, members, requests and errors. It changes nothing.",
    token: "Console token", open: "Open", wrong: "This is not the console's token.", away: "The server does not answer.",
    ready: "ready", connections: "Connections", inFlight: "Requests under way", offices: "Offices", since: "Since", version: "Version",
    protocol: "Protocol", noOffices: "Nobody is in an office.", role: "Role", name: "Name", node: "Node", agent: "Agent", computer: "Computer",
    event: "Event", requests: "Requests", errors: "Errors", median: "Half within", most: "95 % within", noEvents: "No request came yet.",
    shown: "{0} of {1} offices are shown.", here: "this node", other: "中文", dark: "Dark", light: "Light",
  },
  zh: {
    login: "服务器控制台", loginWhy: "显示办公室、成员、请求和错误，不会更改任何内容。",
    token: "控制台令牌", open: "打开", wrong: "这不是控制台的令牌。", away: "服务器没有响应。",
    ready: "就绪", connections: "连接", inFlight: "进行中的请求", offices: "办公室", since: "开始时间", version: "版本",
    protocol: "协议", noOffices: "办公室里没有成员。", role: "角色", name: "名称", node: "节点", agent: "Agent", computer: "Computer",
    event: "事件", requests: "请求", errors: "错误", median: "半数不超过", most: "95% 不超过", noEvents: "还没有请求。",
    shown: "显示 {1} 个办公室中的 {0} 个。", here: "本节点", other: "English", dark: "深色", light: "浅色",
  },
};
const byId = (id) => document.getElementById(id);
let language = localStorage.getItem("language") || (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
let token = sessionStorage.getItem("a2c_console") || "";
let state = null;
let timer = 0;

const t = (key, ...values) => WORDS[language][key].replace(/\{(\d)\}/g, (_, index) => values[index]);
const locale = () => (language === "zh" ? "zh-CN" : "en");
const theme = () => localStorage.getItem("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
const moment = (text) => (text ? new Date(text).toLocaleString(locale(), { hour12: false }) : "–");
const span = (seconds) => (seconds === null ? "–" : seconds < 1 ? `${+(seconds * 1000).toPrecision(3)} ms` : `${+seconds.toPrecision(3)} s`);

// Text is always text: names come from others.
function h(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children.flat().filter((child) => child !== null).map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

const fact = (name, value) => h("div", "fact", h("div", "dim small", name), h("div", "", value));

function table(heads, rows) {
  return h("table", "grid", h("thead", "", h("tr", "", heads.map((head) => { const cell = h("th", "", head); cell.scope = "col"; return cell; }))),
    h("tbody", "", rows.map((cells) => h("tr", "", cells.map((cell) => h("td", "", cell))))));
}

function office(one) {
  return h("section", "card", h("div", "row", h("h2", "grow", one.office_id), h("span", "pill", one.member_count)),
    table([t("role"), t("name"), t("version"), t("since"), t("node")], one.members.map((member) => [
      h("span", member.role === "agent" ? "pill warn" : "pill", t(member.role)), member.name, member.version || "–", moment(member.since),
      member.node === state.node ? t("here") : member.node])));
}

function events(all) {
  if (!all.length) return h("p", "dim", t("noEvents"));
  return table([t("event"), t("requests"), t("errors"), t("median"), t("most")], all.map((one) => [
    h("span", "mono", one.event), one.requests.toLocaleString(locale()),
    h("span", Object.keys(one.errors).length ? "problem" : "dim", Object.entries(one.errors).map(([code, number]) => `${code}: ${number}`).join(", ") || "–"),
    span(one.median), span(one.most)]));
}

function draw() {
  document.documentElement.lang = locale();
  document.documentElement.dataset.theme = theme();
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = t(element.dataset.text);
  byId("language").textContent = t("other");
  byId("theme").textContent = t(theme() === "dark" ? "light" : "dark");
  byId("login").hidden = state !== null;
  byId("view").hidden = state === null;
  if (!state) return;
  byId("node").textContent = state.node;
  byId("ready").textContent = state.problem || t("ready");
  byId("ready").className = `pill ${state.problem ? "bad" : "good"}`;
  byId("view").replaceChildren(
    h("section", "card facts", fact(t("connections"), state.connections), fact(t("inFlight"), state.in_flight), fact(t("offices"), state.office_count),
      fact(t("since"), moment(state.since)), fact(t("version"), state.version), fact(t("protocol"), state.protocol)),
    h("h1", "", t("offices")),
    ...(state.offices.length ? [h("div", "cards wide", state.offices.map(office))] : [h("p", "empty", t("noOffices"))]),
    ...(state.offices.length < state.office_count ? [h("p", "dim", t("shown", state.offices.length, state.office_count))] : []),
    h("h1", "", t("requests")), h("section", "card", events(state.events)));
}

function fail(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = false;
}

async function load() {
  clearTimeout(timer);
  try {
    const reply = await fetch("state", { headers: { authorization: `Bearer ${token}` }, credentials: "omit", cache: "no-store" });
    if (reply.status === 401) {
      sessionStorage.removeItem("a2c_console");
      token = "";
      state = null;
      fail(t("wrong"));
      draw();
      byId("token").focus();
      return;
    }
    state = await reply.json();
    sessionStorage.setItem("a2c_console", token);
    draw();
  } catch {
    byId("ready").textContent = t("away");
    byId("ready").className = "pill bad";
  }
  // Nobody looks at a page in the background.
  if (!document.hidden) timer = setTimeout(load, EVERY);
}

byId("login").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value.trim();
  byId("token").value = "";
  byId("problem").hidden = true;
  load();
});
byId("language").addEventListener("click", () => { language = language === "en" ? "zh" : "en"; localStorage.setItem("language", language); draw(); });
byId("theme").addEventListener("click", () => { localStorage.setItem("theme", theme() === "dark" ? "light" : "dark"); draw(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden && token) load(); });
draw();
if (token) load();
