// Calls that wait for consent: exactly what will run, and three answers.

import { get, post } from "/static/api.js";
import { h, pretty, show } from "/static/dom.js";
import { t } from "/static/i18n.js";

export function open(root) {
  let timer = 0;
  const load = async () => {
    let approvals;
    try { ({ approvals } = await get("approvals")); } catch (error) { show(root, h("p", { class: "problem" }, error.message)); return; }
    const focused = document.activeElement?.dataset?.answer;
    const clocks = [];
    show(root, h("h2", {}, t("approvals")),
      approvals.length ? h("div", { class: "cards" }, approvals.map((one) => card(one, clocks))) : h("p", { class: "dim" }, t("noApprovals")));
    if (focused) root.querySelector(`[data-answer="${CSS.escape(focused)}"]`)?.focus();
    clearInterval(timer);
    const began = performance.now();
    timer = setInterval(() => {
      for (const [element, seconds] of clocks) {
        const left = Math.max(0, Math.ceil(seconds - (performance.now() - began) / 1000));
        element.textContent = left ? t("left", left) : t("expired");
      }
    }, 500);
  };
  const card = (one, clocks) => {
    const clock = h("span", { class: "pill warn" }, t("left", Math.ceil(one.seconds_left)));
    clocks.push([clock, one.seconds_left]);
    const answer = async (event, word) => {
      for (const button of event.target.parentElement.children) button.disabled = true;
      try { await post("approve", { number: one.number, answer: word }); } catch (error) { alert(error.message); }
      load();
    };
    const button = (word, kind) =>
      h("button", { type: "button", class: kind, "data-answer": `${one.number}-${word}`, onclick: (event) => answer(event, word) }, t(word));
    return h("section", { class: "card", "aria-label": one.listed_name },
      h("div", { class: "row" }, h("h3", { class: "grow" }, t("wants", one.agent, one.listed_name)), clock),
      h("p", { class: "dim small" }, t("on", one.server), " · ", h("span", { class: "mono" }, one.tool)),
      h("h3", {}, t("arguments")), h("pre", {}, pretty(one.arguments)),
      h("div", { class: "row" }, button("once", "primary"), button("always", ""), button("refuse", "danger")));
  };
  load();
  return { changed: (kind) => kind === "approvals" && load(), leave: () => clearInterval(timer) };
}
