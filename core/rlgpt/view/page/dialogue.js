// What the language models were asked and said, with tokens, time and cost.

import { at, get } from "/api.js";
import { code, count, dollars, h, seconds } from "/dom.js";

const PAGE = 200;
const ROLES = { planner: "planner: sub-goals", slow: "slow agent: plan", fast: "fast agent: code", function: "fast agent: function", setup: "setup of the learning",
  review: "critic: review of a rehearsal", critic: "critic: whole iteration", solo: "single agent" };

export function dialogue(id) {
  const rows = h("div", {}), note = h("p", { class: "quiet" }, "No exchange yet.");
  const more = h("button", { hidden: true, onclick: () => { limit = Infinity; draw(); } }, "Show all");
  let all = [], shown = 0, limit = PAGE;

  function draw() {
    for (; shown < Math.min(all.length, limit); shown++) rows.append(exchange(id, all[shown]));
    const tokens = all.reduce((sum, e) => sum + e.tokens, 0), time = all.reduce((sum, e) => sum + (e.seconds ?? 0), 0);
    note.textContent = all.length ? `${all.length} exchanges, ${count(tokens)} tokens, ${seconds(time)}` : "No exchange yet.";
    more.hidden = shown >= all.length;
  }
  return { element: h("div", {}, note, rows, more), async update(calls) {
    if (calls === all.length) return;
    all = await get(at(id, "exchanges"));
    draw();
  } };
}

function exchange(id, e) {
  const body = h("div", {}, h("p", { class: "quiet" }, "Loading…"));
  let loaded = false;
  const about = [e.iteration === null ? "" : `iteration ${e.iteration}`, e.plan ? `plan ${e.plan}` : "", e.attempt ? `repair ${e.attempt}` : "", e.ask ? `asked again ${e.ask} times` : ""].filter(Boolean).join(", ");
  return h("details", { class: "exchange", ontoggle: async (event) => {
    if (loaded || !event.target.open) return;
    loaded = true;
    try { body.replaceChildren(...content(await get(at(id, "exchanges", e.number)))); } catch (fault) { loaded = false; body.replaceChildren(h("p", { role: "alert" }, fault.message)); }
  } }, h("summary", {}, h("strong", {}, ROLES[e.role] ?? e.role), " ", e.sub_action ? [code(e.sub_action), " "] : null, h("span", { class: "quiet" },
    [about, `${count(e.prompt_tokens)} + ${count(e.completion_tokens)} tokens`, seconds(e.seconds), e.recorded ? "replayed" : dollars(e.dollars), e.images ? `${e.images} pictures` : ""].filter(Boolean).join(" · "))), body);
}

function content(e) {
  const text = (title, words, open) => h("details", { open }, h("summary", {}, title, h("span", { class: "quiet" }, ` ${count(words.length)} characters`)), h("pre", { class: "code words", tabindex: "0", "aria-label": title }, words));
  return [
    ...e.messages.flatMap((m) => [text(`${m.role} message`, m.content, false), m.images.length ? h("div", { class: "frames" }, m.images.map((src, i) => h("img", { src, alt: `picture ${i + 1} of the request`, loading: "lazy" }))) : null]),
    text("reply", e.reply, true),
    e.note ? h("p", { class: "small" }, e.note) : null,
    h("p", { class: "small" }, `${e.model}, ${e.time}, finished: ${e.finish_reason}`),
  ].filter(Boolean);
}
