// Builds elements. Text is always text: no string becomes markup, and the page's policy forbids it.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else if (name in element && typeof value !== "string" && !name.startsWith("aria")) element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
};

// A container that is filled anew only when its data has changed. The focus stays where it was, by the element's id.
export function section(container, data, build) {
  const stamp = JSON.stringify(data);
  if (container.stamp === stamp) return;
  container.stamp = stamp;
  const focused = container.contains(document.activeElement) ? document.activeElement.id : "";
  container.replaceChildren(...[build(data)].flat(Infinity).filter(Boolean));
  if (focused) document.getElementById(focused)?.focus();
}

export const chip = (text, tone = "") => h("span", { class: `chip ${tone}` }, text);
export const code = (text) => h("code", {}, text);

export const count = (n) => (n === null || n === undefined ? "–" : Math.round(n).toLocaleString("en"));
export const many = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
export const percent = (x) => (x === null || x === undefined ? "–" : `${Math.round(100 * x)} %`);
export const number = (x) =>
  typeof x !== "number" ? String(x ?? "–") : Number.isInteger(x) ? x.toLocaleString("en") : String(Number(x.toPrecision(4)));
export const dollars = (x) => (x === null || x === undefined ? "unknown" : x >= 1 || x === 0 ? `$${x.toFixed(2)}` : `$${x.toFixed(4)}`);
export const seconds = (s) => (s === null || s === undefined ? "–" : s < 60 ? `${s.toFixed(1)} s` : `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`);

export const STATUS = { running: "code", finished: "good", stopped: "warn", killed: "bad", failed: "bad", unreadable: "bad" };
export const status = (name, text = name) => chip(text, STATUS[name] ?? "");

// The time at which something happened, in the time zone of the reader.
export function when(iso) {
  const time = new Date(iso ?? "");
  if (Number.isNaN(time.getTime())) return "–";
  const parts = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false };
  return h("time", { datetime: time.toISOString(), title: time.toString() }, time.toLocaleString("en-GB", time.getFullYear() === new Date().getFullYear() ? parts : { ...parts, year: "numeric" }));
}

export function range(rate, interval, name = "95 % interval") {
  if (rate === null || rate === undefined || !interval) return null;
  const [low, high] = interval;
  const label = `${name}: ${percent(low)} to ${percent(high)}`;
  return h("div", { class: "range", role: "img", "aria-label": label, title: label },
    h("i", { style: { left: `${100 * low}%`, width: `${100 * (high - low)}%` } }), h("b", { style: { left: `${100 * rate}%` } }));
}

export function source(lines, numbered = true) {
  return h("pre", { class: `code ${numbered ? "numbered" : ""}`, tabindex: "0", "aria-label": "source" },
    lines.map((line) => h("span", { class: "line" }, line.map(([kind, text]) => (kind ? h("span", { class: kind }, text) : text)), "\n")));
}

export function diff(lines) {
  return h("pre", { class: "code diff", tabindex: "0", "aria-label": "changes" },
    lines.length ? lines.map(([kind, text]) => h("span", { class: `line ${kind}` }, text, "\n")) : "nothing");
}

// A long text: its first words, and the rest on demand.
export function brief(text, limit = 150) {
  if (text.length <= limit) return h("p", {}, text);
  const end = Math.max(text.slice(0, limit).lastIndexOf(" "), limit / 2);
  return h("details", { class: "brief" }, h("summary", {}, text.slice(0, end), h("span", { class: "dots" }, " …")), h("p", {}, text.slice(end)));
}

// A value as Python writes it. A text stands without quotes, so that the lines of a map stay below each other.
export const value = (x) => (typeof x === "object" || typeof x === "boolean" ? literal(x) : number(x));
function literal(x) {
  if (x === null) return "None";
  if (typeof x === "boolean") return x ? "True" : "False";
  if (Array.isArray(x)) return `[${x.map(literal).join(", ")}]`;
  if (typeof x === "object") return `{${Object.entries(x).map(([k, v]) => `${literal(k)}: ${literal(v)}`).join(", ")}}`;
  return typeof x === "string" ? JSON.stringify(x) : String(x);
}

export function facts(rows) {
  return h("div", { class: "scroll" }, h("table", { class: "facts" }, h("tbody", {}, rows.filter(Boolean).map(([name, ...cells]) =>
    h("tr", {}, h("th", { scope: "row" }, name), cells.map((cell) => h("td", {}, cell)))))));
}

export function table(head, rows, name) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
    h("table", { class: "facts" }, h("thead", {}, h("tr", {}, head.map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, rows.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row" }, first), rest.map((c) => h("td", { class: "num" }, c)))))));
}
