// Small charts in SVG, drawn anew at the width that they have. The table beside each holds the
// same numbers for those who do not see it.
import { el, svg } from "./dom.js";

const LEFT = 52;
const RIGHT = 14;
const TOP = 18;
const BOTTOM = 26;

export class Chart {
  #draw = null;
  #width = 0;

  constructor(height, label) {
    this.height = height;
    this.label = label;
    this.element = el("div", { class: "chart" });
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width && width !== this.#width) {
        this.#width = width;
        this.#paint();
      }
    }).observe(this.element);
  }

  // `draw(frame)` gives the SVG's content
  show(draw, height = this.height) {
    this.#draw = draw;
    this.height = height;
    this.#paint();
  }

  #paint() {
    if (!this.#draw || !this.#width) return;
    const frame = { width: this.#width, height: this.height };
    const box = `0 0 ${frame.width} ${frame.height}`;
    const picture = { viewBox: box, height: frame.height, role: "img", "aria-label": this.label };
    this.element.replaceChildren(svg("svg", picture, this.#draw(frame)));
  }
}

// Round marks that cover 0 .. highest, or lowest .. highest if `fromZero` is not wanted.
export function marks(lowest, highest, wanted = 4) {
  const span = highest - lowest || Math.abs(highest) || 1;
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const first = Math.floor(lowest / step + 1e-9);
  const last = Math.ceil(highest / step - 1e-9);
  return Array.from({ length: Math.max(2, last - first + 1) }, (_, i) => (first + i) * step);
}

const scale = (from, to, start, end) => (value) => start + ((value - from) / (to - from || 1)) * (end - start);

function grid({ width }, levels, y, format) {
  return levels.flatMap((level) => [
    svg("line", { class: "rule", x1: LEFT, x2: width - RIGHT, y1: y(level), y2: y(level) }),
    svg("text", { x: LEFT - 8, y: y(level) + 4, "text-anchor": "end" }, format(level)),
  ]);
}

function roundMarks({ width, height }, first, last, x) {
  const wanted = Math.max(2, Math.floor(width / 90));
  const step = Math.max(1, Math.ceil((last - first + 1) / wanted));
  const numbers = new Set([first, last]);
  for (let n = Math.ceil(first / step) * step; n < last; n += step) if (last - n >= step / 2 && n - first > step / 2) numbers.add(n);
  return [...numbers].map((n) =>
    svg("text", { x: x(n), y: height - 6, "text-anchor": n === last ? "end" : "middle" }, String(n)));
}

const anchor = (at, width) => (at > width - 60 ? "end" : at < LEFT + 30 ? "start" : "middle");

// `points` are {x, y, text}; rounds 1 .. `last` on the other axis.
export const curve = (points, last, levels, format) => (frame) => {
  const x = scale(1, Math.max(last, 2), LEFT + 6, frame.width - RIGHT - 6);
  const y = scale(levels[0], levels.at(-1), frame.height - BOTTOM, TOP);
  const line = points.map((p) => `${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`).join(" ");
  const newest = points.at(-1);
  return [
    grid(frame, levels, y, format),
    roundMarks(frame, 1, Math.max(last, 2), x),
    points.length > 1 ? svg("polyline", { class: "curve", points: line }) : null,
    (points.length > 200 ? [newest] : points).map((p) =>
      svg("circle", { class: "point", cx: x(p.x), cy: y(p.y), r: points.length > 60 ? 2 : 3 },
        svg("title", {}, `round ${p.x}: ${p.text}`))),
    newest ? svg("text", { class: "value", x: Math.min(x(newest.x), frame.width - RIGHT), y: Math.max(11, y(newest.y) - 9),
      "text-anchor": anchor(x(newest.x), frame.width) }, newest.text) : null,
  ].flat();
};

// `columns` are {x, parts: [{value, title}]}, stacked; the first part is at the bottom.
export const columns = (bars, last, levels, format) => (frame) => {
  const first = bars.length ? bars[0].x : 1;
  const slots = Math.max(last - first + 1, 2);
  const width = (frame.width - LEFT - RIGHT) / slots;
  const x = (n) => LEFT + (n - first + 0.5) * width;
  const y = scale(0, levels.at(-1), frame.height - BOTTOM, TOP);
  const bar = Math.min(28, Math.max(2, width * 0.72));
  return [
    grid(frame, levels, y, format),
    roundMarks(frame, first, first + slots - 1, x),
    bars.map((one) => {
      let below = 0;
      return one.parts.map((part, index) => {
        const top = y(below + part.value);
        const tall = y(below) - top;
        below += part.value;
        return tall < 0.4 ? null : svg("rect", { class: `step-${part.step ?? index + 1}`, x: x(one.x) - bar / 2, y: top,
          width: bar, height: Math.max(0.5, tall - (tall > 3 ? 1 : 0)) },
          svg("title", {}, `round ${one.x}: ${part.title}`));
      });
    }),
  ].flat(2).filter(Boolean);
};

// A line for each client, from its norm before to its norm after bounding.
export const ROW = 26;
export const lengths = (rows, limit, format) => (frame) => {
  const name = Math.min(150, Math.max(70, frame.width * 0.28));
  const highest = Math.max(limit ?? 0, ...rows.map((row) => row.before)) * 1.08 || 1;
  const x = scale(0, highest, name, frame.width - 56);
  const bottom = TOP + rows.length * ROW;
  return [
    [0, highest / 1.08].map((level) => svg("line", { class: "rule", x1: x(level), x2: x(level), y1: TOP - 4, y2: bottom })),
    limit === null ? null : svg("line", { class: "limit", x1: x(limit), x2: x(limit), y1: TOP - 4, y2: bottom }),
    limit === null ? null : svg("text", { class: "limit-name", x: x(limit), y: 10, "text-anchor": "end" }, `bound ${format(limit)}`),
    rows.map((row, index) => {
      const y = TOP + (index + 0.5) * ROW;
      return [
        svg("text", { x: 0, y: y + 4 }, shortened(row.client, name / 7.2)),
        svg("line", { class: "rule", x1: x(0), x2: x(row.after), y1: y, y2: y }),
        row.bounded ? svg("line", { class: "link", x1: x(row.after), x2: x(row.before), y1: y, y2: y }) : null,
        row.bounded ? svg("circle", { class: "hollow", cx: x(row.before), cy: y, r: 4.5 }) : null,
        svg("circle", { class: "point", cx: x(row.after), cy: y, r: 5 },
          svg("title", {}, `${row.client}: ${format(row.before)} before, ${format(row.after)} after`)),
        svg("text", { x: frame.width, y: y + 4, "text-anchor": "end" }, format(row.before)),
      ];
    }),
  ].flat(2).filter(Boolean);
};

const shortened = (text, most) => (text.length <= most ? text : `${text.slice(0, Math.max(3, most - 1))}…`);
