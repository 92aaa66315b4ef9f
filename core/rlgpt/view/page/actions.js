// The attempts at each coded action or function, and the rehearsal of an action, played step by step.

import { at, get } from "/api.js";
import { chip, code, count, diff, h, many, number, section, source, value } from "/dom.js";

export function attempts(id, index, kind) {
  const element = h("div", {}), known = new Map();
  return { element, update(found) {
    const names = Object.keys(found);
    if (names.length && !element.childElementCount) element.append(h("h3", {}, kind === "actions" ? "Coded actions" : "Functions"));
    for (const name of names) {
      if (!known.has(name)) {
        const list = h("div", {});
        known.set(name, { list, shown: 0 });
        element.append(h("section", { class: "action", "aria-label": name }, h("h4", { id: `${kind}-${index}-${name}`, tabindex: "-1" }, code(name)), list));
      }
      const entry = known.get(name);
      for (; entry.shown < found[name].length; entry.shown++) entry.list.append(attempt(id, index, kind, name, entry.shown, found[name][entry.shown]));
    }
  } };
}

function attempt(id, index, kind, name, n, { title, state, tone, steps }) {
  const body = h("div", {}, h("p", { class: "quiet" }, "Loading…"));
  let loaded = false;
  return h("details", { class: "attempt", ontoggle: async (event) => {
    if (loaded || !event.target.open) return;
    loaded = true;
    try { body.replaceChildren(...content(await get(at(id, "iterations", index, kind, name, n)), id, index, name, n).flat(Infinity).filter(Boolean)); } catch (fault) { loaded = false; body.replaceChildren(h("p", { role: "alert" }, fault.message)); }
  } }, h("summary", {}, h("span", {}, title), " ", chip(state, tone), " ", h("span", { class: "quiet" }, many(steps, "step"))), body);
}

const verdict = (v) => h("p", { class: "verdict" }, chip(v.kind, "bad"), v.line === null ? " " : ` line ${v.line}: `, v.message);
const findings = (items) => h("ul", { class: "findings" }, items.map((f) => h("li", {}, f.action ? [code(f.action), " "] : null, f.problem, h("span", { class: "suggestion" }, f.suggestion))));

function content(a, id, index, name, n) {
  return [
    a.doc ? h("p", { class: "doc" }, a.doc) : null,
    a.diff ? [h("h5", {}, "Changes"), diff(a.diff), h("details", { class: "whole" }, h("summary", {}, "Whole source"), source(a.source))] : source(a.source),
    a.verdict ? verdict(a.verdict) : null,
    a.fault ? h("p", { class: "verdict" }, a.fault) : null,
    a.remarks?.length ? h("ul", { class: "findings" }, a.remarks.map((r) => h("li", {}, r))) : null,
    a.others?.length ? h("p", { class: "small" }, "From other starts: ", a.others.map((o) => [chip(`seed ${o.seed}: ${o.verdict ? o.verdict.kind : o.ended}${o.success ? ", success" : ""}`, o.verdict ? "bad" : "good"), " "])) : null,
    a.review?.findings.length ? [h("h5", {}, "Critic"), findings(a.review.findings)] : null,
    a.decisions?.length ? rehearsal(a, id, index, name, n) : null,
  ];
}

let open = true; // whether the views of rehearsals are unfolded

// A player: each step is one call of a primitive, with the view before and after it and the newest frame.
function rehearsal(a, id, index, name, n) {
  const steps = a.decisions.flatMap((d, k) => Array.from({ length: Math.max(1, d.calls) }, (_, call) => ({ k, call })));
  const show = h("div", {}), shot = h("div", { class: "shot" }), cache = new Map();
  const begins = a.decisions.map((_, k) => a.decisions.slice(0, k).reduce((sum, d) => sum + d.duration, 0));
  let position = steps.length - Math.max(1, a.decisions[a.decisions.length - 1].calls), timer = null, frames = [];
  const slider = h("input", { type: "range", min: "0", max: String(steps.length - 1), value: String(position), "aria-label": `step of the rehearsal of ${name}`, oninput: (e) => go(Number(e.target.value)) });
  const back = h("button", { class: "small", "aria-label": "step back", onclick: () => go(position - 1) }, "‹"), next = h("button", { class: "small", "aria-label": "next step", onclick: () => go(position + 1) }, "›");
  const play = h("button", { class: "small", onclick: () => (timer ? pause() : start()) }, "Play");
  const place = h("span", { class: "quiet num" });
  const pause = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
  const start = () => { play.textContent = "Pause"; if (position === steps.length - 1) go(0); timer = setInterval(() => (position < steps.length - 1 && show.isConnected ? go(position + 1) : pause()), 700); };

  async function go(to) {
    position = Math.max(0, Math.min(steps.length - 1, to));
    slider.value = String(position);
    const { k, call } = steps[position];
    slider.setAttribute("aria-valuetext", `step ${position + 1} of ${steps.length}, ${a.decisions[k].action}`);
    place.textContent = `${position + 1} of ${steps.length}`;
    if (!cache.has(k)) cache.set(k, get(at(id, "iterations", index, "actions", name, n, "decisions", k)));
    try {
      const d = await cache.get(k);
      if (steps[position].k !== k || steps[position].call !== call) return;
      const begun = begins[k] + d.calls.slice(0, call).reduce((sum, c) => sum + c.steps, 0), ended = d.calls.length ? begun + d.calls[call].steps : begun + d.duration;
      section(show, [k, call], () => step(d, k, call, a.decisions.length, begun, ended));
      const seen = frames.filter((f) => f.step <= ended).pop();
      section(shot, seen ?? null, (f) => f && h("figure", {}, h("img", { src: f.src, alt: `frame of the rehearsal, ${f.text}` }), h("figcaption", {}, `Frame ${f.text}, at primitive step ${f.step}`)));
    } catch (fault) { show.replaceChildren(h("p", { role: "alert" }, fault.message)); }
  }
  go(position);
  pictures(id, a).then((found) => { frames = found; go(position); }, () => {});
  const t = a.trace;
  return [h("h5", {}, "Rehearsal"), h("p", { class: "small" }, `seed ${t.seed}, ${count(t.primitive_steps)} primitive steps, return ${number(t.total_reward)}${t.success ? ", success" : ""}${t.omitted ? `, ${t.omitted} decisions left out` : ""}`),
    h("div", { class: "player" }, back, slider, next, play, place), h("div", { class: "played" }, show, shot)];
}

// The view before and after a call. The record has what each call changed; older records have the whole decision alone.
function views(d, call) {
  const each = d.calls.some((c) => Object.keys(c.view_changes ?? {}).length);
  if (!each) return [d.before, d.after, d.calls.length > 1 ? "What the code sees before and after the whole decision" : "What the code sees before and after"];
  const before = Object.assign({}, d.before, ...d.calls.slice(0, call).map((c) => c.view_changes));
  return [before, call === d.calls.length - 1 ? d.after : { ...before, ...d.calls[call].view_changes }, "What the code sees before and after this call"];
}

function step(d, k, call, total, begun, ended) {
  const [before, after, about] = views(d, call);
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]);
  const ordered = [...keys.filter(changed), ...keys.filter((key) => !changed(key))];
  return [
    h("p", {}, total > 1 ? `Decision ${k + 1} of ${total}: ` : "", code(d.action), Object.keys(d.parameters).length ? ` ${Object.entries(d.parameters).map(([p, v]) => `${p} = ${number(v)}`).join(", ")}` : "",
      h("span", { class: "quiet" }, ` ${many(d.duration, "step")}, reward ${number(d.reward)}, ended: ${d.ended}`)),
    d.verdict ? verdict(d.verdict) : null,
    d.calls.length ? h("ol", { class: "calls" }, d.calls.map((c, i) => h("li", { class: i === call ? "here" : "", "aria-current": i === call ? "step" : null },
      code(`${c.name}(${Object.entries(c.args).map(([p, v]) => `${p}=${value(v)}`).join(", ")})`), h("span", { class: "quiet" }, ` ${many(c.steps, "step")}`),
      i === call ? h("div", { class: "outcome" }, Object.entries(c.outcome).map(([p, v]) => [code(p), ` ${value(v)} `])) : null))) : null,
    keys.length ? h("details", { open, ontoggle: (e) => { if (e.target.isConnected) open = e.target.open; } }, h("summary", {}, about, h("span", { class: "quiet" }, ended > begun ? ` primitive step ${begun} to ${ended}` : ` primitive step ${begun}`)), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "view" }, h("table", { class: "facts view" },
      h("thead", {}, h("tr", {}, ["key", "before", "after"].map((c) => h("th", { scope: "col" }, c)))),
      h("tbody", {}, ordered.map((key) => h("tr", { class: changed(key) ? "changed" : "" }, h("th", { scope: "row" }, code(key)), h("td", {}, value(before[key] ?? null)), h("td", {}, value(after[key] ?? null)))))))) : null,
  ].filter(Boolean);
}

// The frames that the critic got, each with the primitive step at which it was taken.
async function pictures(id, a) {
  for (const number of a.review_exchanges ?? []) {
    const images = (await get(at(id, "exchanges", number))).messages.flatMap((m) => m.images);
    if (images.length) return images.map((src, i) => ({ src, step: a.moments[i]?.step ?? 0, text: a.moments[i]?.text ?? `${i + 1}` }));
  }
  return [];
}
