// Calls that wait for consent: exactly what will run, and three answers.
//
// A settled question stays where it is, so that nothing moves under a pointer that is about to press. What does not fit
// into its box has to be seen to its end before it can be allowed.

import { get, post } from "/static/api.js";
import { empty, h, heading, problem, show, toast } from "/static/dom.js";
import { locale, t } from "/static/i18n.js";
import { marks } from "/static/views/tools.js";

export function open(root) {
  const cards = new Map();
  const place = h("div", { class: "stack" });
  const nothing = empty(t("noApprovals"), t("noApprovalsWhy"));
  const inputs = inputForms();
  const rules = h("div", {});
  const changes = h("div", {});
  const failure = h("div", {});

  const load = async () => {
    let found;
    try { found = await get("approvals"); show(failure); } catch (error) { show(failure, problem(error)); return; }
    const waiting = new Set(found.approvals.map((one) => one.number));
    for (const [number, card] of cards) if (!waiting.has(number)) card.settle();
    for (const one of found.approvals) {
      if (cards.has(one.number)) continue;
      const card = question(one);
      cards.set(one.number, card);
      place.append(card.element);
      document.getElementById("live").textContent = `${t("wants", one.agent)} ${one.tool}`;
    }
    inputs.draw(found.inputs);
    nothing.hidden = cards.size > 0 || found.inputs.length > 0;
    drawChanged(changes, found.changed, load);
    drawRules(rules, found.standing, load);
  };
  const timer = setInterval(() => { for (const card of cards.values()) card.tick(); }, 250);
  show(root, heading(t("approvals"), t("aboutApprovals")), failure, nothing, inputs.element, place, changes, rules);
  load();
  return { changed: (kind) => ["approvals", "inputs", "servers", "hello"].includes(kind) && load(), leave: () => clearInterval(timer) };
}

// Inputs that servers wait for. A form that is being filled in stays where it is until its input has a value.
function inputForms() {
  const element = h("div", { class: "stack" });
  const forms = new Map();
  const draw = (wanted) => {
    const ids = new Set(wanted.map((one) => one.id));
    for (const [id, form] of forms) if (!ids.has(id)) { form.remove(); forms.delete(id); }
    for (const one of wanted) {
      if (forms.has(one.id)) continue;
      const form = inputForm(one);
      forms.set(one.id, form);
      element.append(form);
    }
  };
  return { element, draw };
}

function inputForm(one) {
  const field = one.options.length
    ? h("select", { name: "value", required: true }, one.options.map((option) => h("option", { value: option }, option)))
    : h("input", { name: "value", type: one.hidden ? "password" : "text", autocomplete: "off", spellcheck: false, required: true });
  const button = h("button", { type: "submit", class: "primary" }, t("giveInput"));
  const send = async (event) => {
    event.preventDefault();
    button.disabled = true;
    try { await post("input", { id: one.id, value: field.value }); field.value = ""; } catch (error) { toast(error.message); }
    button.disabled = false;
  };
  return h("section", { class: "card", "aria-label": one.id },
    h("p", { class: "dim small" }, t("inputNeeded")),
    h("h2", { class: "mono" }, h("bdi", {}, one.id)),
    h("form", { onsubmit: send },
      h("label", {}, one.description || one.id, field),
      h("div", { class: "row" }, button)));
}

// Text in a box that scrolls. changed() is told whenever read() may have changed: whether all of the text was in view.
function readBox(text, label, changed) {
  const pre = h("pre", { tabIndex: 0, "aria-label": label }, text);
  const size = (number) => number.toLocaleString(locale());
  const whole = h("button", { type: "button", class: "quiet", onclick: () => { pre.classList.add("whole"); finish(); } }, t("showAll"));
  const note = h("p", { class: "notice row", hidden: true },
    h("span", { class: "grow" }, t("longText", size([...text].length), size(text.split("\n").length))), whole);
  let read = false;
  const finish = () => {
    read = true;
    whole.hidden = true;
    watching.disconnect();
    changed();
  };
  const look = () => {
    if (read || !pre.clientHeight) return;
    const long = pre.scrollHeight > pre.clientHeight + 1;
    if (long) note.hidden = false;
    if (!long || pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 2) finish();
  };
  const watching = new ResizeObserver(look);
  watching.observe(pre);
  pre.addEventListener("scroll", look, { passive: true });
  return { elements: [note, pre], read: () => read };
}

function question(one) {
  const until = performance.now() + one.seconds_left * 1000;
  const left = () => Math.max(0, (until - performance.now()) / 1000);
  const clock = h("span", { class: "pill warn", role: "timer" });
  const bar = h("progress", { max: one.seconds, "aria-hidden": "true" });
  let state = "waiting";

  const button = (word, kind) => h("button", {
    type: "button", class: kind, onclick: () => answer(word), "aria-label": `${t(word)}: ${one.tool}`,
    "aria-describedby": word === "always" ? `always-${one.number}` : undefined,
  }, t(word));
  const buttons = [button("once", "primary"), button("always", ""), button("refuse", "danger")];
  const update = () => {
    const ready = boxes.every((box) => box.read());
    for (const allow of buttons.slice(0, 2)) {
      allow.disabled = state !== "waiting" || !ready;
      allow.title = ready ? "" : t("readFirst");
    }
  };
  const boxes = [readBox(one.arguments, t("arguments"), () => update())];
  if (one.changes) boxes.push(readBox(one.changes, t("changedSince"), () => update()));
  const [given, changes] = boxes;
  const actions = h("div", { class: "row" }, buttons);
  const element = h("section", { class: "card approval", "aria-label": one.tool },
    h("div", { class: "row" },
      h("div", { class: "grow" },
        h("p", { class: "dim small" }, h("bdi", {}, t("wants", one.agent))),
        h("h2", { class: "mono" }, h("bdi", {}, one.tool))),
      clock),
    bar,
    h("p", { class: "row small" }, h("span", { class: "pill" }, t("on", one.server)),
      one.own_name === one.tool ? null : h("span", { class: "pill mono" }, one.own_name), marks(one)),
    one.description ? h("p", { class: "prose dim" }, one.description) : null,
    changes ? [h("p", { class: "notice" }, t("changedSince")), changes.elements] : null,
    h("h3", {}, t("arguments")), given.elements,
    actions,
    h("p", { class: "dim small", id: `always-${one.number}` }, t("alwaysHint")));

  const end = (outcome, kind) => {
    state = outcome;
    clock.textContent = t(`outcome.${outcome}`);
    clock.className = `pill ${kind}`;
    element.classList.add("settled");
    bar.value = 0;
    const focused = actions.contains(document.activeElement);
    for (const one of buttons) one.disabled = true;
    if (focused) { element.tabIndex = -1; element.focus({ preventScroll: true }); }
  };
  const answer = async (word) => {
    if (state !== "waiting") return;
    state = "answering";
    try {
      await post("approve", { number: one.number, answer: word });
      end(word, word === "refuse" ? "bad" : "good");
    } catch (error) {
      toast(error.message);
      state = "waiting";
      if (error.code === 404) end(left() ? "settled" : "expired", "");
    }
  };
  const tick = () => {
    if (state !== "waiting") return;
    clock.textContent = t("left", Math.ceil(left()));
    bar.value = left();
    if (!left()) end("expired", "");
  };
  tick();
  update();
  return { element, tick, settle: () => state === "waiting" && end(left() < 0.5 ? "expired" : "settled", "") };
}

function drawChanged(root, changed, load) {
  const accept = async (event, one) => {
    event.target.disabled = true;
    try { await post("accept", { tool: one.name, digest: one.digest }); } catch (error) { toast(error.message); }
    load();
  };
  show(root, changed.length ? [
    h("h2", { class: "apart" }, t("changedTools")),
    h("p", { class: "dim small" }, t("changedToolsHint")),
    changed.map((one) => {
      const button = h("button", { type: "button", disabled: true, "data-key": `accept-${one.name}`, "aria-label": `${t("acceptChange")}: ${one.name}`,
        onclick: (event) => accept(event, one) }, t("acceptChange"));
      const box = readBox(one.changes, t("changedTools"), () => { button.disabled = false; });
      return h("section", { class: "card", "aria-label": one.name },
        h("h3", { class: "mono" }, h("bdi", {}, one.name), " ", h("span", { class: "pill" }, t("on", one.server))),
        box.elements, h("div", { class: "row" }, button));
    }),
  ] : null);
}

function drawRules(root, standing, load) {
  const withdraw = async (event, rule) => {
    event.target.disabled = true;
    try { await post("withdraw", rule); } catch (error) { toast(error.message); }
    load();
  };
  show(root, standing.length ? [
    h("h2", { class: "apart" }, t("standing")),
    h("ul", { class: "plain rules" }, standing.map((rule) =>
      h("li", { class: "row" }, h("span", { class: "grow" }, t("standingOne", rule.shown.agent, rule.shown.tool, rule.shown.server)),
        h("button", { type: "button", "data-key": `rule-${JSON.stringify(rule)}`, onclick: (event) => withdraw(event, rule) }, t("withdraw"))))),
  ] : null);
}
