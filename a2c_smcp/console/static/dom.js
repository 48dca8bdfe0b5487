// Elements without a framework: text is always text; HTML comes only from the server, which made it safe.

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  servers: "M4 4.500h16v6H4zM4 13.500h16v6H4zM8 7.500h.01M8 16.500h.01",
  tools: "M14.500 6.300a4.200 4.200 0 0 0-5.300 5.300L3.800 17a2 2 0 0 0 3.200 3.200l5.400-5.400a4.200 4.200 0 0 0 5.300-5.300l-2.600 2.600-2.500-.6-.6-2.500z",
  desktop: "M3 4.500h18v12H3zM8.500 20h7M12 16.500V20M3 8h18",
  documents: "M6 3h8l5 5v13H6zM14 3v5h5M9.500 13h6M9.500 17h6",
  calls: "M3 12h4l3-8 4 16 3-8h4",
  approvals: "M12 3l8 3v6c0 4.800-3.400 7.900-8 9-4.600-1.100-8-4.200-8-9V6zM8.500 12l2.500 2.500 4.500-5",
  dark: "M20 14.500A8 8 0 0 1 9.500 4 8 8 0 1 0 20 14.500z",
  light: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.400 1.400M17.600 17.600 19 19M19 5l-1.400 1.400M6.400 17.600 5 19",
  language: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c2.500 2.500 3.700 5.500 3.700 9s-1.200 6.500-3.700 9c-2.500-2.500-3.700-5.500-3.700-9S9.500 5.500 12 3z",
  end: "M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9",
  previous: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
};

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "html") element.innerHTML = value;
    else if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list" && name !== "form") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

// Draws anew; what had the focus and has a data-key keeps it, if it is still there.
export function show(parent, ...children) {
  const focused = parent.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  parent.replaceChildren();
  append(parent, children);
  if (focused) parent.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

export function heading(title, about, ...actions) {
  return h("div", { class: "heading" }, h("div", {}, h("h1", {}, title), about ? h("p", { class: "dim" }, about) : null), actions);
}

export function problem(error) {
  return h("p", { class: "problem", role: "alert" }, error.message || String(error));
}

export function empty(text, about) {
  return h("div", { class: "empty" }, h("p", {}, text), about ? h("p", { class: "dim small" }, about) : null);
}

let fading = 0;

export function toast(text) {
  const place = document.getElementById("toast");
  place.textContent = text;
  place.hidden = false;
  clearTimeout(fading);
  fading = setTimeout(() => { place.hidden = true; }, 6000);
}
