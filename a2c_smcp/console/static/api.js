// Asking the console's own server; what goes wrong is an Error whose message a person can read.

import { t } from "/static/i18n.js";
import { headers } from "/static/session.js";

const send = (path, options = {}) =>
  fetch(path, { credentials: "same-origin", ...options, headers: { ...headers(), ...options.headers } });

async function ask(path, options) {
  let reply;
  try {
    reply = await send(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(t("unreachable"));
  }
  const body = await reply.json().catch(() => null);
  if (!reply.ok) {
    const error = new Error(reply.status === 401 ? t("closed") : body?.error?.message || t("failedWith", reply.status));
    error.code = body?.error?.code || reply.status;
    throw error;
  }
  return body;
}

const query = (parameters) =>
  new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== "" && value != null));

export function get(name, parameters = {}, options = {}) {
  return ask(`/api/${name}?${query(parameters)}`, options);
}

export function post(name, body) {
  return ask(`/api/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

// Fetched, because an image element sends no header. What cannot be had is an "error" of the element.
export async function loadImage(image, server, uri, dpi) {
  try {
    const reply = await send(`/api/image?${query({ server, uri, dpi })}`);
    if (reply.status !== 200) throw new Error();
    const url = URL.createObjectURL(await reply.blob());
    for (const over of ["load", "error"]) image.addEventListener(over, () => URL.revokeObjectURL(url), { once: true });
    image.src = url;
  } catch {
    image.dispatchEvent(new Event("error"));
  }
}

// The same, once it is about to be seen.
export function loadImageLater(image, ...where) {
  const watching = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watching.disconnect();
    loadImage(image, ...where);
  }, { rootMargin: "600px" });
  watching.observe(image);
}
