// What changes, heard once for all open tabs: a stream keeps a connection for itself, and browsers open six to a host.
//
// The tab that holds the lock listens and passes on what it hears; when it goes, the next in line listens.

import { headers } from "/static/session.js";

const NAME = "a2c-events";
const PATIENCE = 5000;
const RETRY = 2000;

// heard(kind) is told what has changed; away("unreachable" or "closed") that there is nobody to tell.
export function follow(heard, away) {
  const tabs = new BroadcastChannel(NAME);
  let events = null;  // while this tab is the one that listens
  let waiting = null;
  let answered = -1;
  let live = false;
  let lost = "";

  function take({ kind, lost: why = "", live: there = false }) {
    answered = performance.now();
    const again = lost === "closed" && (kind || there);
    lost = why;
    if (why) away(why);
    else if (kind) heard(kind);
    else if (there && !live) heard("hello");
    live = !why && (live || Boolean(kind) || there);
    if (again) queue();  // another tab was let in, and this one with it
  }

  function tell(said) {
    take(said);
    tabs.postMessage(said);
  }

  // Ends when there is nothing to listen to any more: nobody knows this page, or another tab listens.
  async function listen() {
    const mine = new AbortController();
    events = mine;
    while (!mine.signal.aborted) {
      const why = await hear(mine.signal);
      if (mine.signal.aborted) return;
      tell({ lost: why });
      if (why === "closed") return;
      await new Promise((done) => { setTimeout(done, RETRY); });
    }
  }

  // Not an EventSource, which cannot send a header. Gives why it ended.
  async function hear(signal) {
    try {
      const reply = await fetch("/api/events", { credentials: "same-origin", cache: "no-store", headers: headers(), signal });
      if (!reply.ok) return reply.status === 401 ? "closed" : "unreachable";
      const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return "unreachable";
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        for (const line of lines) if (line.startsWith("data: ")) tell({ kind: JSON.parse(line.slice(6)).kind });
      }
    } catch {
      return "unreachable";
    }
  }

  async function queue({ steal = false } = {}) {
    waiting?.abort();
    const turn = new AbortController();
    waiting = turn;
    try {
      await navigator.locks.request(NAME, steal ? { steal } : { signal: turn.signal }, listen);
    } catch {
      if (waiting === turn && events) setTimeout(queue);  // another tab took this one for asleep
    }
    if (waiting !== turn) return;
    events?.abort();
    events = null;
  }

  // A tab in front wants to know: the one that listens may have been put to sleep by the browser.
  function ask() {
    if (events || document.hidden || lost === "closed") return;
    const asked = performance.now();
    tabs.postMessage({ ask: true });
    setTimeout(() => { if (!events && answered < asked && !document.hidden) queue({ steal: true }); }, PATIENCE);
  }

  tabs.addEventListener("message", ({ data }) => {
    if (!data.ask) take(data);
    else if (events) tabs.postMessage({ lost, live });
  });
  document.addEventListener("visibilitychange", ask);
  if (!navigator.locks) { listen(); return; }
  queue();
  ask();
}
