// Requests to rlgpt. The token comes from the link, is kept for this tab and those opened from it, and goes into a header that no other
// site can send.

const KEY = "rlgpt-token";
const tabs = new BroadcastChannel(KEY); // the other tabs of this page, and no other site
const token = () => sessionStorage.getItem(KEY);
tabs.addEventListener("message", (event) => {
  if (event.data === "ask" && token()) tabs.postMessage({ token: token() });
  else if (event.data.token && !token()) sessionStorage.setItem(KEY, event.data.token);
});

export function takeToken() {
  const found = /^#token=([\w-]+)$/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(KEY, found[1]);
    history.replaceState(null, "", "#/");
  }
  return token() !== null;
}

// A run that is opened in a new tab gets the token from the tab that it was opened from.
export async function askTabs() {
  tabs.postMessage("ask");
  for (let wait = 0; wait < 20 && !token(); wait++) await new Promise((resolve) => setTimeout(resolve, 50));
  return token() !== null;
}

async function request(path, options = {}) {
  const headers = { Authorization: `Bearer ${token() ?? ""}` };
  const reply = await fetch(path, { ...options, headers, cache: "no-store" });
  if (reply.ok) return reply;
  const text = await reply.text();
  let message = text;
  try { message = JSON.parse(text).error ?? text; } catch { /* It is plain text. */ }
  throw new Error(message);
}

export const get = async (path) => (await request(path)).json();
export const post = async (path) => (await request(path, { method: "POST" })).json();
export const blob = async (path) => URL.createObjectURL(await (await request(path)).blob());
export const at = (...parts) => `/api/runs/${parts.map(encodeURIComponent).join("/")}`;

// Calls `changed` for each event, and connects again after a pause when the connection ends.
export function follow(run, changed, connected) {
  const stop = new AbortController();
  (async () => {
    while (!stop.signal.aborted) {
      try {
        const reply = await request(`/api/events${run ? `?run=${run}` : ""}`, { signal: stop.signal });
        connected(true);
        const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          text += part.value;
          const frames = text.split("\n\n");
          text = frames.pop();
          for (const frame of frames) if (frame.startsWith("data: ")) changed(JSON.parse(frame.slice(6)));
        }
      } catch { /* The connection ended; it is made again below. */ }
      if (stop.signal.aborted) return;
      connected(false);
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  })();
  return () => stop.abort();
}
