// Asking the console's own server; what goes wrong is an Error whose message a person can read.

import { t } from "/static/i18n.js";

async function ask(path, options) {
  let reply;
  try {
    reply = await fetch(path, { credentials: "same-origin", ...options });
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

export function imageUrl(server, uri, dpi) {
  return `/api/image?${query({ server, uri, dpi })}`;
}
