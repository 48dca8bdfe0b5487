// A form from a JSON Schema: fields for plain values, JSON for everything else.

import { h } from "/static/dom.js";
import { t } from "/static/i18n.js";

export function schemaForm(schema) {
  const properties = schema?.properties && typeof schema.properties === "object" ? schema.properties : {};
  const required = new Set(Array.isArray(schema?.required) ? schema.required : []);
  const fields = Object.entries(properties).map(([name, about]) => field(name, resolve(about, schema), required.has(name)));
  const whole = fields.length ? null : jsonField("", schema, false);
  return {
    element: h("div", {}, fields.map((one) => one.element), whole?.element),
    value() {
      if (whole) return whole.read() ?? {};
      const result = {};
      for (const one of fields) {
        const value = one.read();
        if (value !== undefined) result[one.name] = value;
      }
      return result;
    },
  };
}

function resolve(about, schema) {
  const path = typeof about?.$ref === "string" && about.$ref.startsWith("#/") ? about.$ref.slice(2).split("/") : null;
  const found = path ? path.reduce((value, part) => value?.[part], schema) : about;
  if (Array.isArray(found?.anyOf)) {
    const plain = found.anyOf.filter((one) => one?.type !== "null");
    if (plain.length === 1) return { ...resolve(plain[0], schema), description: found.description, default: found.default };
  }
  return found && typeof found === "object" ? found : {};
}

function field(name, about, needed) {
  const kinds = [about.type].flat();
  if (Array.isArray(about.enum)) return choice(name, about, needed);
  if (kinds.includes("boolean")) return flag(name, about, needed);
  if (kinds.includes("string") || about.type === undefined && about.default === undefined) return text(name, about, needed);
  if (kinds.includes("integer") || kinds.includes("number")) return number(name, about, needed);
  return jsonField(name, about, needed);
}

function label(name, about, needed, input) {
  return h("label", {}, name, needed ? " *" : "", about.description ? h("span", { class: "hint small" }, about.description) : null, input);
}

function text(name, about, needed) {
  const long = (about.maxLength || 0) > 200 || /text|content|body|code|prompt/i.test(name);
  const input = h(long ? "textarea" : "input", { name, required: needed, value: about.default ?? "", rows: 3, autocomplete: "off" });
  return { name, element: label(name, about, needed, input), read: () => (input.value === "" && !needed ? undefined : input.value) };
}

function number(name, about, needed) {
  const whole = [about.type].flat().includes("integer");
  const input = h("input", { name, type: "number", step: whole ? "1" : "any", required: needed, value: about.default ?? "" });
  if (about.minimum !== undefined) input.min = about.minimum;
  if (about.maximum !== undefined) input.max = about.maximum;
  return { name, element: label(name, about, needed, input), read: () => (input.value === "" ? undefined : Number(input.value)) };
}

function flag(name, about, needed) {
  const input = h("input", { name, type: "checkbox", checked: about.default === true });
  return { name, element: label(name, about, needed, input), read: () => (input.checked || needed || about.default === true ? input.checked : undefined) };
}

function choice(name, about, needed) {
  const empty = needed || about.default !== undefined ? [] : [h("option", { value: "" }, "—")];
  const options = about.enum.map((value, index) => h("option", { value: `${index}`, selected: value === about.default }, String(value)));
  const input = h("select", { name, required: needed }, empty, options);
  return { name, element: label(name, about, needed, input), read: () => (input.value === "" ? undefined : about.enum[Number(input.value)]) };
}

function jsonField(name, about, needed) {
  const initial = about?.default === undefined ? "" : JSON.stringify(about.default);
  const input = h("textarea", { name: name || "json", rows: 4, required: needed, value: initial, placeholder: "{ }" });
  const title = name || t("json");
  return {
    name,
    element: label(title, about || {}, needed, input),
    read() {
      if (!input.value.trim()) return undefined;
      try { return JSON.parse(input.value); } catch { throw new Error(`${title} ${t("badJson")}`); }
    },
  };
}
