// Tables, open or folded away beside a chart.
import { el, newId, show } from "./dom.js";

// `columns` are {title, number?}; `rows` hold as many texts or elements. The first is the row's head.
export function table(caption, columns, rows) {
  const head = columns.map((column) => el("th", { scope: "col", class: column.number ? "number" : null }, column.title));
  const body = rows.map((cells) =>
    el("tr", {}, cells.map((cell, index) =>
      index === 0
        ? el("th", { scope: "row", class: columns[0].number ? "number" : null }, cell)
        : el("td", { class: columns[index].number ? "number" : null }, cell))));
  return el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, head)), el("tbody", {}, body));
}

// A table that is folded away until somebody wants it, and made only then.
export class FoldedTable {
  #place;
  #content = null;

  constructor(title) {
    this.#place = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title });
    this.element = el("details", {}, el("summary", {}, title), this.#place);
    this.element.addEventListener("toggle", () => this.#paint());
  }

  // `rows` is a function: tables of long runs are long
  show(caption, columns, rows) {
    this.#content = () => table(caption, columns, rows());
    this.#paint();
  }

  #paint() {
    if (this.element.open && this.#content) show(this.#place, this.#content());
  }
}

export function card(title, { half = false, beside = null } = {}, ...content) {
  const id = newId("card");
  const heading = el("h2", { id }, title);
  const head = beside ? el("div", { class: "heading" }, heading, beside) : heading;
  return el("section", { class: half ? "card half" : "card", "aria-labelledby": id }, head, ...content);
}
