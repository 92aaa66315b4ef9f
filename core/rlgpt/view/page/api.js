// Requests to rlgpt. The token comes from the link, is kept for this tab alone, and goes into a header that no other
// site can send.

const KEY = "rlgpt-token";

export function takeToken() {
  const found = /^#token=([\w-]+)$/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(KEY, found[1]);
    history.replaceState(null, "", "#/");
  }
  return sessionStorage.getItem(KEY) !== null;
}

async function request(path, options = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}` };
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
