// The secret of this page. A cookie goes to every port of this machine; what is in sessionStorage stays with this origin.
//
// It comes from the one-time token in the address, or from another tab of the console.

const NAME = "a2c-console-key";
const TOKEN = /^#token=(.+)$/;
const PATIENCE = 1000;
const tabs = new BroadcastChannel(NAME);
let key = sessionStorage.getItem(NAME) || "";
let arrived = () => {};

export const headers = () => (key ? { [NAME]: key } : {});
export const invited = () => TOKEN.test(location.hash);

function keep(value) {
  key = value;
  sessionStorage.setItem(NAME, value);
}

tabs.addEventListener("message", ({ data }) => {
  if (data.ask) {
    if (key) tabs.postMessage({ key });
  } else if (!key || data.fresh) {
    keep(data.key);
    arrived();
  }
});

async function exchange(token) {
  try {
    const reply = await fetch("/api/session", {
      method: "POST", credentials: "same-origin", headers: { "a2c-console-token": token },
    });
    if (!reply.ok) return false;
    keep((await reply.json()).key);
    tabs.postMessage({ key, fresh: true });  // this browser has one cookie, so its other tabs need the key that goes with it
    return true;
  } catch {
    return false;
  }
}

const asked = () => new Promise((done) => {
  arrived = () => done(true);
  setTimeout(() => done(false), PATIENCE);
  tabs.postMessage({ ask: true });
});

// Gives whether this page has a key. Without one it waits for another tab to be let in, and then begins again.
export async function enter() {
  const [, token] = location.hash.match(TOKEN) || [];
  if (token) history.replaceState(null, "", "/");
  if ((token && await exchange(token)) || key || await asked()) {
    arrived = () => {};
    return true;
  }
  arrived = () => location.reload();
  return false;
}
