// Accuracy and loss, as clients measure them on the task's public test data.
import { Chart, curve, marks } from "./charts.js";
import { el, show } from "./dom.js";
import { FoldedTable, card } from "./table.js";
import { accuracy, decimal, mark, percent, plural, total } from "./words.js";

export class QualityPanel {
  #accuracy = new Chart(220, "Test accuracy by round; the table below has the numbers");
  #loss = new Chart(220, "Test loss by round; the table below has the numbers");
  #table = new FoldedTable("Numbers of all rounds");
  #note = el("p", { class: "quiet", id: "quality-note" });

  constructor() {
    this.elements = [
      card("Test accuracy", { half: true }, this.#accuracy.element, this.#note, this.#table.element),
      card("Test loss", { half: true }, this.#loss.element,
        el("p", { class: "quiet" }, "The middle one of the clients' reports. Training loss is not shown: it would be a release that no epsilon counts.")),
    ];
  }

  show({ list, facts }) {
    const tested = list.filter((round) => round.loss !== null);
    const good = tested.filter((round) => round.accuracy !== null);
    const shares = good.map((round) => ({ x: round.number, y: round.accuracy, text: percent(round.accuracy) }));
    this.#accuracy.show(curve(shares, facts.rounds, [0, 0.25, 0.5, 0.75, 1], (level) => percent(level, 0)));
    const losses = tested.map((round) => ({ x: round.number, y: round.loss, text: decimal(round.loss) }));
    const values = losses.map((point) => point.y);
    this.#loss.show(curve(losses, facts.rounds, marks(Math.min(0, ...values), Math.max(0.1, ...values)), mark));
    show(this.#note, note(list, tested, good));
    this.#table.show("Test accuracy and loss by round", [{ title: "Round", number: true }, { title: "State" },
      { title: "In the sum", number: true }, { title: "Accuracy", number: true }, { title: "Loss", number: true }, { title: "Reports", number: true }],
      () => list.map((round) => [String(round.number), round.reason ? `${round.state}: ${round.reason}` : round.state,
        `${round.included} of ${round.selected}`, accuracy(round), decimal(round.loss, 4), String(round.reports)]));
  }
}

const SEALED = "Clients seal what they measure to the run's operator: fedperm dashboard shows it, on the operator's machine and with the operator's key file.";

function note(list, tested, good) {
  const differ = good.filter((round) => round.accuracy_low !== round.accuracy_high).length;
  if (differ) return `Clients disagree in ${plural(differ, "round")}: another model, other test data, or a false report. The middle one is shown.`;
  if (good.length) return "Measured by the clients: the aggregator cannot read the model. All of them agree.";
  if (tested.length) return "The task has no accuracy: its clients report a loss alone, which is beside this.";
  if (total(list, "sealed")) return SEALED;
  return list.length ? "No client has reported an accuracy yet." : "The first round has not opened yet.";
}
