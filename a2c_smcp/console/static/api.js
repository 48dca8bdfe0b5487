// Asking the console's own server; what goes wrong is an Error whose message a person can read.

async function ask(path, options) {
  let reply;
  try {
    reply = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Error("offline");
  }
  const body = await reply.json().catch(() => null);
  if (!reply.ok) {
    const error = new Error(body?.error?.message || `${reply.status}`);
    error.code = body?.error?.code || reply.status;
    throw error;
  }
  return body;
}

export function get(name, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== "" && value != null));
  return ask(`/api/${name}?${query}`);
}

export function post(name, body) {
  return ask(`/api/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
