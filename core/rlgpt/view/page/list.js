// All runs: filter, sort, group by folder, and select for a comparison.

import { get } from "/api.js";
import { chip, count, dollars, h, percent, range, section, status, wilson } from "/dom.js";

const PAGE = 100;
const COLUMNS = [
  ["name", "run"], ["task", "task"], ["status", "status"], ["success", "success"], ["score", "score"],
  ["steps", "steps"], ["tokens", "tokens"], ["dollars", "cost"], ["created", "started"],
];
const state = { filter: "", status: "", sort: "created", down: true, grouped: true, shown: PAGE, selected: new Set(), bills: new Map() };

export function list(main) {
  let runs = [];
  const live = h("p", { class: "sr", role: "status" });
  const body = h("div", {});
  const filter = h("input", { type: "search", id: "filter", placeholder: "name, task, method, model", value: state.filter,
    "aria-keyshortcuts": "/", oninput: (e) => { state.filter = e.target.value; state.shown = PAGE; draw(); } });
  const which = h("select", { id: "status", onchange: (e) => { state.status = e.target.value; draw(); } },
    ["", "running", "finished", "stopped", "killed", "failed"].map((s) => h("option", { value: s, selected: s === state.status }, s || "any status")));
  const grouped = h("input", { type: "checkbox", id: "grouped", checked: state.grouped, onchange: (e) => { state.grouped = e.target.checked; draw(); } });
  const compare = h("button", { id: "compare", class: "main", onclick: () => { location.hash = `#/compare/${[...state.selected].join(",")}`; } });
  main.replaceChildren(h("h1", {}, "Runs"),
    h("form", { class: "choices", role: "search", onsubmit: (e) => e.preventDefault() },
      h("label", {}, "Filter ", filter), h("label", {}, "Status ", which), h("label", {}, grouped, " by folder"), compare), live, body);

  const value = (run, key) => (key === "tokens" || key === "dollars" ? state.bills.get(run.id)?.[key] : run[key]);
  function visible() {
    const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (r) => `${r.name} ${r.task ?? ""} ${r.method ?? ""} ${r.model ?? ""}`.toLowerCase();
    const kept = runs.filter((r) => (!state.status || r.status === state.status) && words.every((w) => text(r).includes(w)));
    const sign = state.down ? -1 : 1;
    return kept.sort((a, b) => {
      const [x, y] = [value(a, state.sort), value(b, state.sort)];
      if (x === y) return 0;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return x < y ? -sign : sign;
    });
  }

  function row(run) {
    const bill = state.bills.get(run.id);
    const n = bill?.report?.episodes;
    const select = h("input", { type: "checkbox", id: `select-${run.id}`, "aria-label": `select ${run.name}`, checked: state.selected.has(run.id),
      onchange: (e) => { e.target.checked ? state.selected.add(run.id) : state.selected.delete(run.id); button(); } });
    return h("tr", {},
      h("td", { class: "pick" }, select),
      h("th", { scope: "row" }, h("a", { href: `#/run/${run.id}`, id: `run-${run.id}` }, run.name), h("div", { class: "quiet phone" }, run.task ?? ""), h("div", { class: "quiet" }, [run.method, run.seed !== undefined ? `seed ${run.seed}` : "", run.model].filter(Boolean).join(", "))),
      h("td", {}, run.task ?? ""),
      h("td", {}, status(run.status), run.reason ? h("div", { class: "quiet cut", title: run.reason }, run.reason) : null),
      h("td", { class: "num" }, h("span", { class: "strong" }, percent(run.success)), range(run.success, wilson(run.success, n))),
      h("td", { class: "num" }, bill?.report?.score?.value ?? (run.score === null || run.score === undefined ? "–" : run.score.toPrecision(3))),
      h("td", { class: "num" }, count(run.steps), run.budget ? h("div", { class: "quiet" }, `of ${count(run.budget)}`) : null),
      h("td", { class: "num" }, bill ? count(bill.tokens) : "…"),
      h("td", { class: "num" }, bill ? dollars(bill.dollars) : "…"),
      h("td", { class: "num" }, (run.created ?? "").slice(0, 16).replace("T", " ")));
  }

  function groups(shown) {
    const byFolder = Map.groupBy ? Map.groupBy(shown, (r) => r.group ?? "") : shown.reduce((m, r) => m.set(r.group ?? "", [...(m.get(r.group ?? "") ?? []), r]), new Map());
    if (!state.grouped || ![...byFolder.values()].some((g) => g.length > 1)) return [["", shown]];
    return [...byFolder];
  }

  function head([key, text]) {
    const sorted = state.sort === key;
    return h("th", { scope: "col", "aria-sort": sorted ? (state.down ? "descending" : "ascending") : "none" },
      h("button", { class: "sort", id: `sort-${key}`, onclick: () => { state.down = sorted ? !state.down : true; state.sort = key; draw(); } },
        text, sorted ? h("span", { "aria-hidden": "true" }, state.down ? " ↓" : " ↑") : null));
  }

  function button() {
    compare.textContent = `Compare (${state.selected.size})`;
    compare.disabled = state.selected.size < 2;
  }

  function draw() {
    const all = visible(), shown = all.slice(0, state.shown);
    live.textContent = `${all.length} of ${runs.length} runs`;
    button();
    section(body, { shown, all: all.length, sort: [state.sort, state.down, state.grouped], bills: shown.map((r) => state.bills.get(r.id)) }, () => [
      h("p", { class: "quiet", "aria-hidden": "true" }, live.textContent),
      all.length === 0 ? h("p", {}, runs.length ? "No run fits the filter." : "There are no runs here yet. rlgpt train begins one, and it will appear.") :
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "runs" }, h("table", { class: "runs" },
        h("thead", {}, h("tr", {}, h("td", {}), COLUMNS.map(head))),
        groups(shown).map(([name, members]) => h("tbody", {}, name ? group(name, members) : null, members.map(row))))),
      all.length > shown.length ? h("button", { id: "more", onclick: () => { state.shown = all.length; draw(); } }, `Show all ${count(all.length)}`) : null,
    ]);
    fetchBills(shown);
  }

  function group(name, members) {
    const done = members.filter((r) => typeof r.success === "number");
    const mean = done.length ? done.reduce((s, r) => s + r.success, 0) / done.length : null;
    const ids = members.map((r) => r.id);
    return h("tr", { class: "group" }, h("td", {}), h("th", { scope: "rowgroup", colspan: String(COLUMNS.length) }, name, " ",
      Object.entries(Object.groupBy ? Object.groupBy(members, (r) => r.status) : {}).map(([s, g]) => [chip(`${g.length} ${s}`), " "]),
      mean === null ? null : h("span", { class: "quiet" }, `mean success ${percent(mean)} `),
      members.length > 1 ? h("button", { class: "small", onclick: () => { for (const id of ids) state.selected.add(id); location.hash = `#/compare/${ids.join(",")}`; } }, "Compare these") : null));
  }

  let asking = false;
  async function fetchBills(shown) {
    const missing = shown.filter((r) => !state.bills.has(r.id)).slice(0, 25).map((r) => r.id);
    if (asking || !missing.length) return;
    asking = true;
    try { for (const [id, bill] of Object.entries(await get(`/api/bills?runs=${missing.join(",")}`))) state.bills.set(id, bill); } catch { for (const id of missing) state.bills.set(id, {}); }
    asking = false;
    draw();
  }

  async function load() {
    runs = await get("/api/runs");
    draw();
  }
  load().catch((fault) => body.replaceChildren(h("p", { role: "alert" }, fault.message)));
  return { changed: (event) => { for (const id of event.runs) state.bills.delete(id); return load(); }, focus: () => filter.focus() };
}
