// A form from a JSON Schema: fields for plain values, lists and objects of them, and JSON for everything else.

import { h, show } from "/static/dom.js";
import { t } from "/static/i18n.js";

const DEEPEST = 3;

// The form and the JSON of it are two views of the same arguments.
export function argumentsForm(schema) {
  const fields = Object.keys(schema?.properties || {}).length ? group("", schema, schema, 0) : null;
  const none = schema?.additionalProperties === false && !fields;
  const raw = h("textarea", { name: "json", rows: 8, spellcheck: false, "aria-label": t("parameters"), placeholder: "{ }" });
  const body = h("div", {});
  let asJson = !fields;
  const read = () => (asJson ? readObject(raw.value) : fields.read() ?? {});
  const tab = (label, json) => h("button", {
    type: "button", class: "tab", "aria-pressed": asJson === json ? "true" : "false", "data-key": `tab-${json}`,
    onclick: () => {
      try { if (json && !asJson) raw.value = JSON.stringify(read(), null, 2); } catch { /* as it was */ }
      asJson = json;
      draw();
    },
  }, label);
  const draw = () => show(body,
    fields ? h("div", { class: "tabs" }, tab(t("form"), false), tab(t("json"), true)) : null,
    none ? h("p", { class: "dim" }, t("noArguments")) : asJson ? h("label", {}, t("parameters"), raw) : fields.element);
  draw();
  return { element: body, read };
}

function readObject(text) {
  const value = parse(text.trim() || "{}", t("parameters"));
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error(t("notObject"));
  return value;
}

function parse(text, title) {
  try { return JSON.parse(text); } catch { throw new Error(t("badJson", title)); }
}

function resolve(about, root, depth = 0) {
  let found = about;
  if (typeof found?.$ref === "string" && found.$ref.startsWith("#/") && depth < 10) {
    const target = found.$ref.slice(2).split("/").reduce((value, part) => value?.[part.replace(/~1/g, "/").replace(/~0/g, "~")], root);
    found = { ...resolve(target, root, depth + 1), ...without(found, "$ref") };
  }
  for (const word of ["anyOf", "oneOf", "allOf"]) {
    const choices = Array.isArray(found?.[word]) ? found[word].filter((one) => one?.type !== "null") : [];
    if (choices.length === 1 && depth < 10) found = { ...resolve(choices[0], root, depth + 1), ...without(found, word) };
  }
  return found && typeof found === "object" ? found : {};
}

function without(object, key) {
  const { [key]: _, ...rest } = object;
  return rest;
}

function field(name, about, root, needed, depth) {
  const kinds = [about.type].flat().filter((kind) => kind !== "null");
  const kind = kinds.length === 1 ? kinds[0] : undefined;
  if (Array.isArray(about.enum)) return choice(name, about, needed);
  if (kind === "boolean") return flag(name, about, needed);
  if (kind === "string") return text(name, about, needed);
  if (kind === "integer" || kind === "number") return number(name, about, needed, kind);
  if (kind === "object" && about.properties && depth < DEEPEST) return group(name, about, root, depth + 1, needed);
  if (kind === "array") {
    const item = resolve(about.items, root);
    if (["string", "number", "integer"].includes(item.type) && !item.enum) return lines(name, about, item.type, needed);
  }
  return json(name, about, needed);
}

function group(name, about, root, depth, needed = true) {
  const required = new Set(Array.isArray(about.required) ? about.required : []);
  const fields = Object.entries(about.properties)
    .map(([key, value]) => field(key, resolve(value, root), root, depth === 0 ? required.has(key) : needed && required.has(key), depth));
  const inner = fields.map((one) => one.element);
  return {
    name,
    element: name ? h("fieldset", {}, h("legend", {}, name, needed ? " *" : ""), hint(about), inner) : h("div", {}, inner),
    read() {
      const result = {};
      for (const one of fields) {
        const value = one.read();
        if (value !== undefined) result[one.name] = value;
      }
      return needed || Object.keys(result).length ? result : undefined;
    },
  };
}

const hint = (about, more) =>
  about.description || more ? h("span", { class: "hint" }, about.description || "", about.description && more ? " " : "", more || "") : null;

function label(name, about, needed, input, more) {
  return h("label", {}, h("span", { class: "mono" }, name), needed ? h("span", { class: "needed" }, " *") : null, hint(about, more), input);
}

function text(name, about, needed) {
  const long = (about.maxLength || 0) > 2000 || /text|content|body|code|prompt|script/i.test(name);
  const type = { date: "date", time: "time" }[about.format] || "text";
  const input = h(long ? "textarea" : "input", { name, required: needed, value: about.default ?? "", autocomplete: "off", spellcheck: false });
  if (long) input.rows = 4; else input.type = type;
  if (about.minLength) input.minLength = about.minLength;
  if (about.maxLength) input.maxLength = about.maxLength;
  if (about.examples?.length) input.placeholder = String(about.examples[0]);
  return { name, element: label(name, about, needed, input), read: () => (input.value === "" && !needed ? undefined : input.value) };
}

function number(name, about, needed, kind) {
  const input = h("input", { name, type: "number", step: kind === "integer" ? "1" : "any", required: needed, value: about.default ?? "" });
  if (about.minimum !== undefined) input.min = about.minimum;
  if (about.maximum !== undefined) input.max = about.maximum;
  return { name, element: label(name, about, needed, input), read: () => (input.value === "" ? undefined : Number(input.value)) };
}

function flag(name, about, needed) {
  const input = h("input", { name, type: "checkbox", checked: about.default === true });
  const element = h("label", { class: "flag" }, input, h("span", {}, h("span", { class: "mono" }, name), hint(about)));
  return { name, element, read: () => (input.checked || needed || about.default === true ? input.checked : undefined) };
}

function choice(name, about, needed) {
  const empty = needed || about.default !== undefined && about.default !== null ? [] : [h("option", { value: "" }, "—")];
  const options = about.enum.map((value, index) => h("option", { value: `${index}`, selected: value === about.default }, String(value)));
  const input = h("select", { name, required: needed }, empty, options);
  return { name, element: label(name, about, needed, input), read: () => (input.value === "" ? undefined : about.enum[Number(input.value)]) };
}

function lines(name, about, kind, needed) {
  const initial = Array.isArray(about.default) ? about.default.join("\n") : "";
  const input = h("textarea", { name, rows: 3, required: needed, value: initial, spellcheck: false });
  return {
    name,
    element: label(name, about, needed, input, t("perLine")),
    read() {
      const items = input.value.split("\n").map((one) => one.trim()).filter(Boolean);
      if (!items.length && !needed) return undefined;
      return kind === "string" ? items : items.map((one) => parse(one, name));
    },
  };
}

function json(name, about, needed) {
  const initial = about.default === undefined || about.default === null ? "" : JSON.stringify(about.default, null, 2);
  const input = h("textarea", { name, rows: 3, required: needed, value: initial, placeholder: "{ }", spellcheck: false });
  return {
    name,
    element: label(name, about, needed, input, "JSON"),
    read: () => (input.value.trim() ? parse(input.value, name) : undefined),
  };
}
