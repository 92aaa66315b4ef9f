// Several runs side by side: results, curves, and the settings in which they differ.

import { get } from "/api.js";
import { count, dollars, h, percent, range, section, status, table } from "/dom.js";
import { figure } from "/figure.js";

export function compare(main, ids) {
  const results = h("div", {}), settings = h("div", {});
  const curves = figure(ids, { by: ids.length > 8 ? "method" : "run", choose: true });
  document.title = "Comparison: rlgpt view";
  main.replaceChildren(h("h1", {}, `Comparison of ${ids.length} runs`), results,
    h("h2", {}, "Learning curves"), curves.element, h("h2", {}, "Different settings"), settings);

  async function load() {
    const [runs, bills, found] = await Promise.all([get("/api/runs"), get(`/api/bills?runs=${ids.join(",")}`), get(`/api/comparison?runs=${ids.join(",")}`)]);
    const shown = ids.map((id) => runs.find((r) => r.id === id)).filter(Boolean);
    const scored = shown.some((r) => bills[r.id]?.report?.score);
    section(results, { shown, bills }, () => table(["run", "status", "success", "", ...(scored ? ["score"] : []), "steps", "tokens", "cost"], shown.map((r) => {
      const bill = bills[r.id] ?? {};
      return [h("a", { href: `#/run/${r.id}` }, r.name), status(r.status), percent(r.success), range(r.success, bill.report?.interval) ?? "",
        ...(scored ? [bill.report?.score?.value ?? "–"] : []), count(r.steps), count(bill.tokens), dollars(bill.dollars)];
    }), "results"));
    section(settings, found.differences, (rows) => rows.length
      ? table(["setting", ...shown.map((r) => r.name)], rows.map((row) => [h("code", {}, row.name), ...row.values]), "different settings")
      : h("p", { class: "quiet" }, "The runs have the same settings."));
  }
  load().catch((fault) => results.replaceChildren(h("p", { role: "alert" }, fault.message)));
  return { changed: (event) => { if (event.runs.some((id) => ids.includes(id))) { curves.draw(); return load(); } } };
}
