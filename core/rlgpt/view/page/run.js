// One run, also while it runs: what it does now, its iterations, its language models, its videos and settings.

import { at, blob, get, post } from "/api.js";
import { attempts } from "/actions.js";
import { dialogue } from "/dialogue.js";
import { brief, chip, code, count, dollars, facts, h, many, number, percent, range, section, seconds, status, svg, table } from "/dom.js";
import { figure } from "/figure.js";

const KINDS = { rl: "RL", code: "code", both: "code and RL" };
const STAGES = { plan: "The slow agent plans", write: "The fast agent writes", rehearse: "Rehearsal", review: "The critic reviews a rehearsal", halving: "The plans are compared", code: "The plan's code is evaluated",
  setup: "The learning is set up", train: "The policy is trained", select: "The policy is evaluated on the selection seeds", critique: "The critic judges the iteration", report: "The result is evaluated on fresh seeds", video: "A video is made" };
const PURPOSES = ["rehearsal", "code", "training", "selection", "lost"];

export function run(main, id) {
  const parts = Object.fromEntries(["head", "now", "control", "tiles", "goals", "usage", "videos", "settings"].map((name) => [name, h("div", {})]));
  const iterations = h("div", {}), none = h("p", { class: "quiet" }, "Loading…"), known = new Map();
  const curves = figure([id], { later: true }); // The rest of the page comes first.
  const talk = dialogue(id);
  const jump = (name) => h("button", { class: "small", onclick: () => document.getElementById(`part-${name}`)?.focus() }, name);
  const part = (name) => h("h2", { id: `part-${name}`, tabindex: "-1" }, name);
  main.replaceChildren(parts.head, parts.control, parts.now, parts.tiles, h("nav", { class: "jumps", "aria-label": "Parts of this page" }, ["Learning", "Iterations", "Language model", "Settings"].map(jump)), parts.goals, parts.videos,
    part("Learning"), curves.element, parts.usage,
    part("Iterations"), none, iterations, part("Language model"), talk.element, part("Settings"), parts.settings);

  function head(r) {
    document.title = `${r.name}: rlgpt view`;
    section(parts.head, [r.name, r.task, r.status, r.reason, r.own], () => [
      h("h1", {}, r.name), h("p", { class: "goal" }, code(r.task), ` seed ${r.seed} `, status(r.status), " ", r.own ? null : chip("made elsewhere", "warn")),
      r.whole ? h("p", { class: "quiet" }, "A sub-goal of ", h("a", { href: `#/run/${r.whole.id}` }, r.whole.name)) : null,
      r.reason ? h("p", { class: "verdict" }, r.reason) : null]);
    section(parts.now, [r.status, r.stage, r.messages, r.output], () => [
      r.status === "running" && r.stage ? h("p", { class: "stage", role: "status" }, h("strong", {}, STAGES[r.stage.name] ?? r.stage.name.replaceAll("_", " ")),
        Object.entries(r.stage.facts).filter(([, v]) => v !== null).map(([k, v], i) => `${i ? ", " : ": "}${k.replaceAll("_", " ")} ${number(v)}`)) : null,
      r.messages.length ? h("details", { id: "messages" }, h("summary", {}, `Messages (${r.messages.length})`), h("pre", { class: "code log", tabindex: "0" }, r.messages.join("\n"))) : null,
      r.output ? h("details", { open: r.status !== "running" }, h("summary", {}, "Output of the resumed run"), h("pre", { class: "code log", tabindex: "0" }, r.output)) : null]);
    section(parts.control, [r.status, r.stopping, r.own], () => control(r));
    section(parts.tiles, [r.report, r.steps, r.budget, r.bill], () => tiles(r));
    section(parts.goals, r.graph, goals);
    section(parts.usage, r.usage, usage);
    section(parts.videos, r.videos, (names) => names.length ? [h("h2", {}, "Videos"), names.map((name) => video(id, name))] : null);
    section(parts.settings, [r.settings, r.versions], () => h("details", {}, h("summary", {}, "All settings and versions"),
      facts(Object.entries({ ...r.settings, ...Object.fromEntries(Object.entries(r.versions).map(([k, v]) => [`version of ${k}`, v])) }).map(([k, v]) => [code(k), typeof v === "object" ? JSON.stringify(v) : String(v)]))));
  }

  function control(r) {
    const said = h("span", { role: "status", class: "quiet" }, r.stopping ? "asked to stop; it stops at its next steps" : "");
    const act = async (name, text) => {
      try { await post(at(id, name)); said.textContent = text; } catch (fault) { said.textContent = fault.message; }
    };
    if (r.whole) return null;
    const button = r.status === "running"
      ? h("button", { id: "stop", disabled: r.stopping, onclick: () => act("stop", "asked to stop; it stops at its next steps") }, "Stop")
      : r.status === "finished" || !r.own ? null : h("button", { id: "resume", class: "main", onclick: () => act("resume", "resumed; it appears here in some seconds") }, "Resume");
    const how = r.own || r.status === "finished" ? null : h("span", { class: "quiet" }, "Resume it on the command line, which lists the settings that you must approve.");
    return h("p", { class: "choices" }, button, said, how);
  }

  async function load() {
    const found = await get(at(id));
    head(found);
    none.textContent = found.iterations.length ? "" : found.graph ? "Each sub-goal has its own iterations: open it above." : "No iteration has begun.";
    for (const [n, part] of found.iterations.entries()) {
      if (!known.has(n)) {
        known.set(n, turn(id, n, n === found.iterations.length - 1));
        iterations.append(known.get(n).element);
      }
      known.get(n).update(part, found.best === n);
    }
    talk.update(found.bill.calls);
    curves.draw();
    if (!(found.bill.complete && found.complete) && main.contains(iterations)) setTimeout(() => load().catch(() => {}), 300);
  }
  load().catch((fault) => main.replaceChildren(h("h1", {}, "This run cannot be shown"), h("p", { role: "alert" }, fault.message), h("p", {}, h("a", { href: "#/" }, "All runs"))));
  return { changed: (event) => { if (event.opened || event.runs.includes(id)) return load(); } };
}

function tiles(r) {
  const tile = (label, text, hint) => h("div", { class: "tile" }, h("span", { class: "label" }, label), h("span", { class: "value" }, text), hint ? h("span", { class: "hint" }, hint) : null);
  const e = r.report;
  return [h("div", { class: "tiles" },
    e && e.success !== null ? h("div", { class: "tile" }, h("span", { class: "label" }, "success"), h("span", { class: "value" }, percent(e.success)), range(e.success, e.interval), h("span", { class: "hint" }, `${e.episodes} fresh episodes, ${e.mode}`)) : null,
    e && e.score ? tile(e.score.name, e.score.value) : null,
    tile("primitive steps", count(r.steps.total), r.budget ? `of ${count(r.budget)}` : ""),
    tile("tokens", count(r.bill.tokens), many(r.bill.calls, "call")), tile("cost", dollars(r.bill.dollars), r.bill.dollars === null ? "the price of the model is not known" : "")), spent(r.steps, r.budget)];
}

function spent(steps, budget) {
  const whole = Math.max(budget ?? 0, steps.total, 1);
  const used = PURPOSES.filter((p) => steps[p]);
  return [h("div", { class: "spent", role: "img", "aria-label": "steps by purpose" }, used.map((p) => h("i", { class: p, style: { width: `${(100 * steps[p]) / whole}%` } }))),
    h("p", { class: "legend" }, used.map((p) => h("span", {}, h("i", { class: p }), `${p === "lost" ? "lost to kills" : p} ${count(steps[p])}`)))];
}

function usage(points) {
  if (!points.length) return null;
  const last = points[points.length - 1];
  const names = Object.keys(last.shares).sort((a, b) => last.shares[b] - last.shares[a]);
  const line = (name) => svg("polyline", { points: points.map((p, i) => `${(160 * i) / Math.max(1, points.length - 1)},${26 - 24 * (p.shares[name] ?? 0)}`).join(" ") });
  return [h("h3", {}, "Use of actions in training"), h("div", { class: "usage wide" }, names.map((name) => [
    h("span", { class: "who" }, code(name)), svg("svg", { class: "term", width: 160, height: 28, role: "img", "aria-label": `share of ${name} over the training` }, line(name)),
    h("span", { class: "bar" }, h("i", { style: { width: `${100 * last.shares[name]}%` } })), h("span", { class: "num" }, percent(last.shares[name]))]))];
}

// The sub-goals of a divided task. The report has the same drawing; here each sub-goal leads to its own iterations.
function goals(g) {
  if (!g) return null;
  let box = 0; // The boxes of the drawing are in the order of the sub-goals.
  const draw = (shape) => {
    if (typeof shape === "string") return shape;
    const drawn = svg(shape[0], shape[1], ...shape[2].map(draw));
    if (shape[0] === "g") { const n = box++; drawn.addEventListener("click", () => document.getElementById(`goal-${n}`)?.focus()); }
    return drawn;
  };
  const node = (n, i) => h("li", { class: `node ${n.standing ? "standing" : ""} ${n.kind}`, id: `goal-${i}`, tabindex: "-1" },
    h("div", {}, n.run ? h("a", { href: `#/run/${n.run}` }, code(n.name)) : code(n.name), " ", chip(KINDS[n.kind] ?? n.kind, n.kind), n.standing ? [" ", chip("standing")] : null), brief(n.goal),
    n.needs.length ? h("div", { class: "reason" }, `needs ${n.needs.join(", ")}`) : null,
    h("div", { class: "reason" }, n.calls ? `${n.done} of ${many(n.calls, "call")}, ${count(n.steps)} steps` : "not called yet", n.failed ? [" ", chip(`${n.failed} failed`, "bad")] : null),
    h("div", { class: "reason" }, n.alone === null ? "nothing was learnt yet" : `alone ${percent(n.alone)} (${n.mode}), ${many(n.iterations, "iteration")}, ${count(n.worked)} steps of work`),
    h("details", {}, h("summary", {}, "reached when"), h("pre", { class: "code words", tabindex: "0", "aria-label": `code of ${n.name}` }, n.done_code)));
  const edge = (e) => e.kind === "unneeded" ? [code(e.node), " held without its need ", code(e.need), ` in ${many(e.count, "episode")}`] : [code(e.node), " was only reached where ", code(e.need), ` held, in ${many(e.count, "call")}`];
  return [h("h2", {}, "Sub-goals"), g.thoughts ? h("blockquote", {}, g.thoughts) : null,
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "drawing of the graph" }, draw(g.drawing)),
    h("ol", { class: "graph goals", "aria-label": "sub-goals, each after what it needs" }, g.nodes.map(node)),
    h("p", { class: "small" }, `Calls in ${many(g.episodes, "episode")} of the whole task, of which ${g.successes} succeeded; a bar is the share of the steps.`),
    g.edges.map((e) => h("p", { class: "small" }, edge(e)))];
}

function video(id, name) {
  const holder = h("figure", { class: "film" }, h("button", { onclick: async () => {
    try { holder.replaceChildren(h("video", { controls: true, muted: true, loop: true, autoplay: true, src: await blob(at(id, "videos", name)), "aria-label": name }), h("figcaption", {}, name)); } catch (fault) { holder.append(h("p", { role: "alert" }, fault.message)); }
  } }, `Play ${name}`));
  return holder;
}

// One iteration: plan, code, learning, critic. Its details are fetched when it is open.
function turn(id, index, opened) {
  const plan = h("div", {}), learning = h("div", {}), title = h("span", {});
  const actions = attempts(id, index, "actions"), functions = attempts(id, index, "functions");
  let part = null;
  const element = h("article", { class: "iteration" }, h("details", { open: opened, ontoggle: () => show() }, h("summary", {}, h("h2", {}, title)),
    plan, actions.element, functions.element, learning));

  async function show() {
    if (!part || !element.firstChild.open) return;
    section(plan, [part.plan, part.plans], graph(index));
    actions.update(part.actions);
    functions.update(part.functions);
    const detail = await get(at(id, "iterations", index));
    section(learning, detail, learned);
  }
  return { element, update(found, best) {
    section(title, [best, found.plan?.parts.length], () => [`Iteration ${index}`, best ? " " : null, best ? chip("best", "good") : null]);
    part = found;
    return show().catch((fault) => learning.replaceChildren(h("p", { role: "alert" }, fault.message)));
  } };
}

const compared = (plans) => table(["plan", "sub-actions", "result in each round", ""], plans.map((p) => [
  `plan ${p.number}`, p.names.map((name) => [code(name), " "]), p.rounds.join("; ") || "–", p.fate[0] ? chip(...p.fate) : ""]), "plans");

const graph = (index) => ([plan, plans]) => {
  if (!plan) return h("p", { class: "quiet" }, "The plan is not written yet.");
  const node = (part, kind) => h("li", { class: `node ${part.kind}` },
    h("div", {}, chip(part.kind === "rl" ? "RL" : part.kind, part.kind), " ", part.kind === "rl" ? code(part.name) : h("a", { href: `#${kind}-${index}-${part.name}`, onclick: (e) => { e.preventDefault(); document.getElementById(`${kind}-${index}-${part.name}`)?.focus(); } }, code(part.name))),
    brief(part.description), part.reason ? h("div", { class: "reason" }, brief(part.reason)) : null, chip(part.became, part.tone));
  return [h("h3", {}, "Plan"), plans.length ? compared(plans) : null, plan.thoughts ? h("blockquote", {}, brief(plan.thoughts, 500)) : null,
    h("ol", { class: "graph", "aria-label": "sub-goals in the order of the plan" }, plan.parts.map((p) => node(p, "actions"))),
    plan.functions.length ? h("ul", { class: "graph loose", "aria-label": "functions" }, plan.functions.map((p) => node(p, "functions"))) : null];
};

function judged(all) {
  const success = all.some((e) => e.success !== null), score = all.find((e) => e.score)?.score.name;
  const head = ["", ...(success ? ["success", ""] : []), ...(score ? [score] : []), "episodes", ...(success ? ["steps per success"] : []), "return"];
  return table(head, all.map((e) => [e.label, ...(success ? [percent(e.success), range(e.success, e.interval) ?? ""] : []), ...(score ? [e.score?.value ?? "–"] : []),
    count(e.episodes), ...(success ? [count(e.steps_per_success)] : []), number(e.return)]), "evaluations");
}

function measured(all) {
  const names = [...new Set(all.flatMap((e) => e.metrics.map(([name]) => name)))];
  const of = (e, name) => e.metrics.find(([key]) => key === name)?.[1] ?? "–";
  return names.length ? h("details", {}, h("summary", {}, `Metrics of the episodes (${names.length})`), table(["mean, 95 % interval", ...all.map((e) => e.label)], names.map((name) => [code(name), ...all.map((e) => of(e, name))]), "metrics")) : null;
}

function learned(d) {
  const s = d.setup, t = d.training;
  const findings = (title, items) => items.length ? [h("h4", {}, title), h("ul", { class: "findings" }, items.map((f) => h("li", {}, f.action ? [code(f.action), " "] : null, f.problem, h("span", { class: "suggestion" }, f.suggestion))))] : null;
  const last = d.evaluations[d.evaluations.length - 1];
  return [
    s ? [h("h3", {}, "Setup of the learning"), facts([
      s.reason ? ["why", s.reason] : null,
      ["reward", Object.entries(s.reward_weights).map(([k, v]) => [code(k), ` × ${number(v)} `])],
      ["observes", s.observation_keys.map((k) => [code(k), " "])],
      ["chooses among", [s.base_actions === null || s.base_actions === undefined ? "all base actions " : s.base_actions.map((k) => [code(k), " "]), s.coded_actions.map((k) => [code(k), " "])]],
      ...d.learning,
      t ? ["trained", `${count(t.primitive_steps)} steps in ${count(t.decisions)} decisions, ${seconds(t.seconds)}, ${t.trainer}`] : null,
      t?.quarantined.length ? ["quarantined", t.quarantined.map((k) => [code(k), " "])] : null])] : null,
    d.evaluations.length ? [h("h3", {}, "Evaluations"), judged(d.evaluations), measured(d.evaluations)] : null,
    last?.usage.length ? [h("h4", {}, "Decisions in the selection"), h("div", { class: "usage" }, last.usage.map(([name, share]) => [
      h("span", { class: "who" }, code(name)), h("span", { class: "bar" }, h("i", { style: { width: `${100 * share}%` } })), h("span", { class: "num" }, percent(share))]))] : null,
    d.terms.length ? [h("h4", {}, "Reward terms"), table(["term", "over the training", "paid in an episode", "correlation with success", ""], d.terms.map((r) => [
      code(r.name), r.line ? svg("svg", { class: "term", width: d.term_size[0], height: d.term_size[1], role: "img", "aria-label": "its curve" }, svg("polyline", { points: r.line })) : "", r.ends, r.correlation || "–",
      r.without_success ? chip("pays more, without more success", "warn") : ""]), "reward terms")] : null,
    d.critique ? [h("h3", {}, "Critic"), h("blockquote", {}, d.critique.summary), findings("for the slow agent", d.critique.for_slow), findings("for the fast agent", d.critique.for_fast)] : null,
  ];
}
