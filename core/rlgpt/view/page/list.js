// All runs: filter, sort, group by folder, and select for a comparison.

import { get } from "/api.js";
import { code, count, dollars, h, many, percent, range, section, status, when } from "/dom.js";

const PAGE = 100, COMPARED = 200, BILLS = 25;
const TEXTS = ["name", "task", "status"];
const state = { filter: "", status: "", sort: "created", down: true, grouped: true, shown: PAGE, folded: new Map(), selected: new Set(), bills: new Map(), stale: new Set() };

export function list(main) {
  let runs = [], sweeps = {};
  const live = h("p", { class: "quiet", role: "status" }, "Loading…");
  const body = h("div", {});
  const filter = h("input", { type: "search", id: "filter", placeholder: "name, task, method, model", value: state.filter,
    "aria-keyshortcuts": "/", oninput: (e) => { state.filter = e.target.value; state.shown = PAGE; draw(); } });
  const which = h("select", { id: "status", onchange: (e) => { state.status = e.target.value; draw(); } },
    ["", "running", "finished", "stopped", "killed", "failed", "unreadable"].map((s) => h("option", { value: s, selected: s === state.status }, s || "any status")));
  const grouped = h("input", { type: "checkbox", id: "grouped", checked: state.grouped, onchange: (e) => { state.grouped = e.target.checked; draw(); } });
  const compare = h("button", { id: "compare", class: "main", onclick: () => { location.hash = `#/compare/${[...state.selected].join(",")}`; } });
  const clear = h("button", { id: "clear", onclick: () => { state.selected.clear(); draw(); } }, "Clear");
  document.title = "Runs: rlgpt view";
  main.replaceChildren(h("h1", {}, "Runs"),
    h("form", { class: "choices", role: "search", onsubmit: (e) => e.preventDefault() },
      h("label", {}, "Filter ", filter), h("label", {}, "Status ", which), h("label", {}, grouped, " by folder"), h("span", { class: "pair" }, compare, " ", clear)), live, body,
    h("p", { class: "small keys" }, "Keys: ", h("kbd", {}, "/"), " filter, ", h("kbd", {}, "u"), " back to this list"));

  const value = (run, key) => (key === "tokens" || key === "dollars" ? state.bills.get(run.id)?.[key] : run[key]);
  function visible() {
    const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (r) => `${r.name} ${r.task ?? ""} ${r.method ?? ""} ${r.model ?? ""}`.toLowerCase();
    const kept = runs.filter((r) => (!state.status || r.status === state.status) && words.every((w) => text(r).includes(w)));
    const sign = state.down ? -1 : 1;
    return kept.sort((a, b) => {
      const [x, y] = [value(a, state.sort), value(b, state.sort)];
      if (x === y) return a.name.localeCompare(b.name, "en", { numeric: true });
      if (x === null || x === undefined || x === "") return 1;
      if (y === null || y === undefined || y === "") return -1;
      return typeof x === "string" ? sign * x.localeCompare(y, "en", { numeric: true }) : x < y ? -sign : sign;
    });
  }

  const columns = () => [
    ["name", "run"], ["task", "task"], ["status", "status"], ["success", "success"],
    ...(runs.some((r) => typeof r.score === "number") ? [["score", "score"]] : []),
    ["steps", "steps"], ["tokens", "tokens"], ["dollars", "cost"], ["created", "started"],
  ];

  const placed = (cells) => columns().map(([key]) => { cells[key].classList.add(`of-${key}`); return cells[key]; });

  function row(run, within) {
    const bill = state.bills.get(run.id);
    const name = within && run.name.startsWith(`${within}/`) ? run.name.slice(within.length + 1) : run.name;
    const select = h("input", { type: "checkbox", id: `select-${run.id}`, "aria-label": `select ${run.name}`, checked: state.selected.has(run.id),
      onchange: (e) => { e.target.checked ? state.selected.add(run.id) : state.selected.delete(run.id); draw(); } });
    const cells = {
      name: h("th", { scope: "row", class: within ? "within" : "" }, h("a", { href: `#/run/${run.id}`, id: `run-${run.id}`, "aria-label": run.name }, name), h("div", { class: "quiet phone" }, run.task ?? ""),
        h("div", { class: "quiet" }, [run.method, run.seed !== undefined ? `seed ${run.seed}` : "", run.model].filter(Boolean).join(", "))),
      task: h("td", {}, run.task ?? ""),
      status: h("td", {}, status(run.status), run.reason ? h("div", { class: "quiet cut", title: run.reason }, run.reason) : null),
      success: h("td", { class: "num" }, h("span", { class: "strong" }, percent(run.success)), range(run.success, bill?.report?.interval)),
      score: h("td", { class: "num" }, bill?.report?.score?.value ?? (typeof run.score === "number" ? run.score.toPrecision(3) : "–")),
      steps: h("td", { class: "num" }, count(run.steps), run.budget ? h("div", { class: "quiet" }, `of ${count(run.budget)}`) : null),
      tokens: h("td", { class: "num" }, bill ? count(bill.tokens) : "…"),
      dollars: h("td", { class: "num" }, bill ? dollars(bill.dollars) : "…"),
      created: h("td", { class: "num" }, when(run.created)),
    };
    return h("tr", {}, h("td", { class: "pick" }, select), placed(cells));
  }

  // The row of a folder: its runs together. It is folded at first where there are many runs.
  const folded = (name) => state.folded.get(name) ?? runs.length > PAGE;
  function folder({ name, members, sweep, bill }) {
    const ids = members.map((r) => r.id), chosen = ids.filter((id) => state.selected.has(id)).length;
    const select = h("input", { type: "checkbox", id: `select-all-${name}`, "aria-label": `select all runs of ${name}`, checked: chosen === ids.length, indeterminate: chosen > 0 && chosen < ids.length,
      onchange: (e) => { for (const id of ids) e.target.checked ? state.selected.add(id) : state.selected.delete(id); draw(); } });
    const toggle = h("button", { class: "fold", id: `fold-${name}`, "aria-expanded": String(!folded(name)), onclick: () => { state.folded.set(name, !folded(name)); draw(); } },
      h("span", { "aria-hidden": "true" }, folded(name) ? "▸ " : "▾ "), name);
    const several = (values, word) => (values.length > 1 ? `${values.length} ${word}s` : "");
    const about = [many(members.length, "run"), several(sweep.tasks, "task"), sweep.methods.length === 1 ? sweep.methods[0] : several(sweep.methods, "method")];
    const crowded = ids.length > COMPARED;
    const compared = h("button", { class: "link", id: `compare-${name}`, "aria-label": `compare the runs of ${name}`, disabled: crowded, title: crowded ? `at most ${COMPARED} runs can be compared` : "",
      onclick: () => { location.hash = `#/compare/${ids.join(",")}`; } }, "compare");
    const s = sweep.success;
    const over = s && (s.level === 1 ? `range over ${many(s.runs, "run")}` : `95 % interval over ${many(s.runs, "run")}`);
    const cells = {
      name: h("th", { scope: "rowgroup" }, toggle, h("div", { class: "quiet" }, about.filter(Boolean).join(", "), " ", compared)),
      task: h("td", {}, sweep.tasks.length === 1 ? sweep.tasks[0] : ""),
      status: h("td", {}, Object.entries(sweep.statuses).map(([name, n]) => [status(name, `${n} ${name}`), " "])),
      success: h("td", { class: "num" }, s ? [h("span", { class: "strong" }, percent(s.point)), range(s.point, s.level && [s.low, s.high], over)] : "–"),
      score: h("td", { class: "num" }, sweep.score ?? "–"),
      steps: h("td", { class: "num" }, count(sweep.steps)),
      tokens: h("td", { class: "num" }, bill ? count(bill.tokens) : "…"),
      dollars: h("td", { class: "num" }, bill ? dollars(bill.dollars) : "…"),
      created: h("td", { class: "num" }, when(members.map((r) => r.created ?? "").sort().pop())),
    };
    return h("tr", { class: "group" }, h("td", { class: "pick" }, select), placed(cells));
  }

  // Folders with several runs, in the order of their first run, and the runs between them.
  function blocks(all) {
    const found = new Map();
    for (const run of all) {
      const name = state.grouped && sweeps[run.group] ? run.group : "";
      const key = name || run.id;
      if (!found.has(key)) found.set(key, { name, members: [] });
      found.get(key).members.push(run);
    }
    return [...found.values()].map((block) => {
      if (!block.name) return block;
      const bills = block.members.map((r) => state.bills.get(r.id));
      const prices = bills.map((b) => b?.dollars);
      const bill = bills.every(Boolean) ? { tokens: bills.reduce((sum, b) => sum + (b.tokens ?? 0), 0), dollars: prices.every((p) => typeof p === "number") ? prices.reduce((a, b) => a + b, 0) : null } : null;
      return { ...block, bill, sweep: sweeps[block.name] };
    });
  }

  function head([key, text]) {
    const sorted = state.sort === key, right = !TEXTS.includes(key);
    return h("th", { scope: "col", class: `of-${key} ${right ? "num" : ""}`, "aria-sort": sorted ? (state.down ? "descending" : "ascending") : "none" },
      h("button", { class: "sort", id: `sort-${key}`, onclick: () => { state.down = sorted ? !state.down : right; state.sort = key; draw(); } },
        text, h("span", { "aria-hidden": "true", class: "arrow" }, sorted ? (state.down ? " ↓" : " ↑") : "")));
  }

  function draw() {
    const all = visible(), parts = blocks(all);
    let room = state.shown;
    const shown = parts.map((part) => {
      const rows = part.name && folded(part.name) ? [] : part.members.slice(0, Math.max(0, room));
      room -= part.name ? rows.length + 1 : rows.length;
      return { ...part, rows };
    }).filter((part) => part.rows.length || part.name);
    const hidden = parts.reduce((n, part) => n + (part.name && folded(part.name) ? 0 : part.members.length), 0) - shown.reduce((n, part) => n + part.rows.length, 0);
    const missing = all.filter((r) => !state.bills.has(r.id));
    live.textContent = `${all.length === runs.length ? many(runs.length, "run") : `${count(all.length)} of ${many(runs.length, "run")}`}${["tokens", "dollars"].includes(state.sort) && missing.length ? `; the costs of ${count(missing.length)} are being read` : ""}`;
    const n = state.selected.size;
    compare.textContent = n ? `Compare ${many(n, "run")}` : "Compare";
    compare.disabled = n < 2 || n > COMPARED;
    compare.title = n < 2 ? "select two runs or more" : n > COMPARED ? `at most ${COMPARED} runs can be compared` : "";
    clear.hidden = !n;
    const data = shown.map((part) => [part.name, part.name && [part.members.map((r) => r.id), part.sweep, part.bill, folded(part.name)], part.rows, part.rows.map((r) => state.bills.get(r.id))]);
    section(body, [data, hidden, state.sort, state.down, [...state.selected], runs.length], () => [
      all.length === 0 ? nothing() :
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "runs" }, h("table", { class: "runs" },
        h("thead", {}, h("tr", {}, h("td", { class: "pick" }), columns().map(head))),
        shown.map((part) => h("tbody", {}, part.name ? folder(part) : null, part.rows.map((run) => row(run, part.name)))))),
      hidden ? h("button", { id: "more", onclick: () => { state.shown = Infinity; draw(); } }, `Show ${many(hidden, "more run")}`) : null,
    ]);
    fetchBills([...shown.flatMap((part) => part.rows), ...all].filter((r) => !state.bills.has(r.id) || state.stale.has(r.id)));
  }

  const nothing = () => (runs.length ? h("p", {}, "No run fits the filter.") : h("div", { class: "empty" }, h("p", {}, "There are no runs here yet. Begin one in a terminal; it will appear here:"), h("p", {}, code("rlgpt train task=kitchen/kettle"))));

  let asking = false;
  async function fetchBills(missing) {
    const ids = [...new Set(missing.map((r) => r.id))].slice(0, BILLS);
    if (asking || !ids.length) return;
    asking = true;
    for (const id of ids) state.stale.delete(id);
    try { for (const [id, bill] of Object.entries(await get(`/api/bills?runs=${ids.join(",")}`))) state.bills.set(id, bill); } catch { for (const id of ids) state.bills.set(id, {}); }
    asking = false;
    if (body.isConnected) draw();
  }

  async function load() {
    [runs, sweeps] = await Promise.all([get("/api/runs"), get("/api/sweeps")]);
    draw();
  }
  load().catch((fault) => { live.textContent = ""; body.replaceChildren(h("p", { role: "alert" }, fault.message)); });
  return { changed: (event) => { for (const id of event.runs) state.stale.add(id); return load(); }, focus: () => filter.focus() };
}
