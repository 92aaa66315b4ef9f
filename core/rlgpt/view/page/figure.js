// Learning curves: rlgpt draws them, as it does for the report. The table below has the same figures as text.

import { blob, get } from "/api.js";
import { count, h, number, table } from "/dom.js";

const AXES = { steps: "primitive steps", seconds: "time", dollars: "dollars" };
const dark = matchMedia("(prefers-color-scheme: dark)");

export function figure(runs, { by = "run", choose = false, later = false } = {}) {
  const state = { axis: "steps", by };
  const image = h("img", { hidden: true, alt: "Learning curves; the table below has their figures." });
  const note = h("p", { class: "small", role: "status" }, "Drawing…");
  const ends = h("div", {}), figures = h("details", { hidden: true }, h("summary", {}, "As a table"), ends);
  const pick = (name, options) => h("label", {}, `${name} `, h("select", { onchange: (e) => { state[name === "over" ? "axis" : "by"] = e.target.value; draw(); } },
    Object.entries(options).map(([v, text]) => h("option", { value: v, selected: state[name === "over" ? "axis" : "by"] === v }, text))));
  const element = h("figure", { class: "curves" },
    h("div", { class: "choices" }, pick("over", AXES), choose ? pick("by", { run: "each run", method: "method, with intervals" }) : null),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "figure" }, image), note, figures);
  let busy = false, again = false, drawn = "";

  async function draw() {
    if (busy) { again = true; return; }
    busy = true;
    const query = `runs=${runs.join(",")}&axis=${state.axis}&by=${state.by}`;
    try {
      const { lines, without, crowded } = await get(`/api/comparison?${query}`);
      image.hidden = lines.length === 0 || !image.src;
      const said = [without.length && runs.length > 1 ? `No curve over ${AXES[state.axis]}: ${without.join(", ")}.` : "", crowded ? `${crowded} further runs are left out: choose curves by method.` : ""].filter(Boolean).join(" ");
      note.textContent = lines.length ? (image.src ? said : "Drawing…") : state.axis === "steps" ? "No curve yet: no policy has been trained or selected." : "No run here has recorded this axis.";
      figures.hidden = !lines.length;
      ends.replaceChildren(table(["", "runs", "points", "first", "last", AXES[state.axis]],
        lines.map((l) => [l.name, count(l.runs), count(l.points), number(l.first), l.last, number(l.end)]), "curves as a table"));
      const stamp = JSON.stringify([lines, query, dark.matches]);
      if (lines.length && stamp !== drawn) {
        drawn = stamp;
        const before = image.src;
        image.src = await blob(`/api/figure?${query}&theme=${dark.matches ? "dark" : "light"}`);
        image.hidden = false;
        note.textContent = said;
        if (before) URL.revokeObjectURL(before);
      }
    } catch (fault) { note.textContent = fault.message; }
    busy = false;
    if (again) { again = false; draw(); }
  }
  dark.addEventListener("change", draw);
  if (!later) draw();
  return { element, draw };
}
