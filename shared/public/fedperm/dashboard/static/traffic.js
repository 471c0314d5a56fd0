// What went over the wire.
import { Chart, columns, marks } from "./charts.js";
import { FoldedTable, card } from "./table.js";
import { octets, short, total } from "./words.js";
import { el, show } from "./dom.js";

const MOST = 60;

export class TrafficPanel {
  #chart = new Chart(200, "Octets received by round; the table below has the numbers");
  #note = el("p", { class: "quiet" });
  #table = new FoldedTable("Bytes of all rounds");

  constructor() {
    this.elements = [card("Bytes received a round", { half: true }, this.#chart.element, this.#note, this.#table.element)];
  }

  show({ list, facts }) {
    const shown = list.filter((round) => round.received).slice(-MOST);
    const bars = shown.map((round) => ({
      x: round.number, parts: [{ value: round.bytes_up, step: 2, title: octets(round.bytes_up) }],
    }));
    const last = Math.max(shown.at(-1)?.number ?? 0, Math.min(facts.rounds, MOST));
    this.#chart.show(columns(bars, last, marks(0, Math.max(1, ...shown.map((round) => round.bytes_up))), short(octets)));
    const newest = shown.at(-1);
    show(this.#note, newest
      ? `Each update has ${octets(newest.bytes_up / newest.received)}, almost all of it encrypted masks; clients read ${octets(total(list, "bytes_down"))} of sums so far, as they report.`
      : "Nothing yet.");
    this.#table.show("Bytes by round", [{ title: "Round", number: true }, { title: "Updates", number: true },
      { title: "Received", number: true }, { title: "Read by clients", number: true }],
      () => list.map((round) => [String(round.number), String(round.received), octets(round.bytes_up), octets(round.bytes_down)]));
  }
}
