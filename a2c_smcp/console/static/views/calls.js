// The log of tool calls.

import { get, post } from "/static/api.js";
import { empty, h, heading, problem, show, toast } from "/static/dom.js";
import { count, seconds, t, time } from "/static/i18n.js";
import { outcome } from "/static/result.js";
import { virtualList } from "/static/virtual.js";

const KIND = { done: "good", failed: "bad", timed_out: "bad", refused: "warn", cancelled: "warn", asked: "warn" };

export function open(root, rest) {
  let calls = [];
  let chosen = Number(rest[0]) || 0;
  let drawn = "";
  const filter = h("input", { type: "search", placeholder: t("filterCalls"), "aria-label": t("filterCalls") });
  const number = h("p", { class: "dim small", role: "status" });
  const list = virtualList({
    label: t("calls"), row: 62,
    draw: (call) => [
      h("div", { class: "title" }, h("span", { class: "mono" }, call.tool), h("span", { class: `pill ${KIND[call.stage] || ""}` }, t(`stages.${call.stage}`), progress(call))),
      h("div", { class: "dim small between" }, h("span", {}, `${time(call.began)} · ${call.agent}${call.server ? ` · ${call.server}` : ""}`), h("span", {}, spent(call))),
    ],
    isChosen: (call) => call.id === chosen,
    choose: (call) => { location.hash = `#/calls/${call.id}`; },
  });
  const detail = h("div", { class: "detail" });
  const split = h("div", { class: "split master-detail" }, h("div", { class: "master" }, filter, number, list.element), detail);

  const sift = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = calls.filter((call) => words.every((word) => `${call.tool} ${call.server} ${call.agent} ${call.stage} ${t(`stages.${call.stage}`)}`.toLowerCase().includes(word)));
    number.textContent = found.length ? count("callCount", found.length) : t(calls.length ? "noCallFound" : "noCalls");
    list.setItems(found);
  };
  const drawDetail = async () => {
    split.classList.toggle("has-choice", Boolean(chosen));
    if (!chosen) { show(detail, empty(t("chooseCall"))); return; }
    const wanted = chosen;
    const summary = JSON.stringify(calls.find((call) => call.id === chosen) || "");
    if (summary === drawn) return;
    try {
      const call = await get("call", { id: chosen });
      if (wanted !== chosen) return;
      drawn = summary;
      show(detail, one(call));
    } catch (error) {
      show(detail, problem(error));
    }
  };
  const load = async () => {
    try {
      ({ calls } = await get("calls"));
      sift();
      await drawDetail();
    } catch (error) {
      show(detail, problem(error));
    }
  };
  filter.addEventListener("input", sift);
  filter.addEventListener("keydown", (event) => { if (event.key === "ArrowDown") { event.preventDefault(); list.element.focus(); } });
  show(root, heading(t("calls"), t("aboutCalls")), split);
  load();
  return {
    changed: (kind) => ["calls", "hello"].includes(kind) && load(),
    route: async ([id]) => {
      chosen = Number(id) || 0;
      drawn = "";
      list.paint();
      await drawDetail();
      if (chosen) detail.querySelector("h2")?.focus();
    },
  };
}

// What has not ended has no time yet.
const spent = (call) => (call.ended ? seconds(call.seconds) : "…");

function progress(call) {
  if (!call.progress || call.ended) return "";
  const [done, all] = call.progress;
  return ` ${done}${all ? `/${all}` : ""}`;
}

function one(call) {
  const stop = async (event) => {
    event.target.disabled = true;
    try { await post("cancel", { agent: call.agent, req_id: call.req_id }); } catch (error) { toast(error.message); }
  };
  const fact = (name, value) => h("div", { class: "fact" }, h("div", { class: "dim small" }, name), h("div", {}, value));
  return h("article", { class: "card" },
    h("p", { class: "crumbs only-narrow" }, h("a", { href: "#/calls" }, t("calls"))),
    h("div", { class: "row" }, h("h2", { class: "mono grow", tabIndex: -1 }, call.tool),
      h("span", { class: `pill ${KIND[call.stage] || ""}` }, t(`stages.${call.stage}`), progress(call))),
    h("div", { class: "facts" }, fact(t("when"), time(call.began)), fact(t("time"), spent(call)), fact(t("agent"), call.agent),
      fact(t("server"), call.server || "–"), fact(t("request"), h("span", { class: "mono small" }, call.req_id))),
    call.ended ? null : h("div", { class: "row" }, h("button", { type: "button", class: "danger", "data-key": "stop", onclick: stop }, t("stop"))),
    h("h3", {}, t("arguments")), h("pre", { tabIndex: 0 }, call.arguments),
    call.error ? h("p", { class: "problem" }, call.error) : null,
    call.result ? outcome(call.result) : null);
}
