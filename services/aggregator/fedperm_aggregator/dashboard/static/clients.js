// Who takes part, and where each one is in the newest round.
import { el, show } from "./dom.js";
import { card, table } from "./table.js";
import { plural } from "./words.js";

const MOST = 200;
const KINDS = {
  included: "good", checked: "good", uploaded: "busy", awaited: "busy",
  rejected: "bad", late: "bad", missed: "bad", dropped: "bad", excluded: "bad",
};
const WORDS = {
  "not asked": "not asked this round", awaited: "asked, nothing received yet", late: "late: past the deadline",
  uploaded: "uploaded, being checked", checked: "uploaded and valid", rejected: "rejected",
  included: "in the sum", dropped: "dropped with the round", missed: "missed the round", excluded: "excluded",
};

export class ClientsPanel {
  #place = el("div", { class: "scroll", id: "clients", tabindex: "0", role: "region", "aria-label": "Table of participants" });

  constructor() {
    this.elements = [card("Participants", { half: true }, this.#place,
      el("p", { class: "quiet" }, "What a client is doing is by its own heartbeats, every few seconds; short phases fall between two of them."))];
  }

  show({ now }) {
    const { clients, status } = now;
    const rows = clients.slice(0, MOST).map((client) => [client.client, doing(client), standing(client)]);
    const caption = `${plural(clients.length, "client")} joined${clients.length > MOST ? `, the first ${MOST} shown` : ""}`;
    show(this.#place, table(caption, [{ title: "Client" }, { title: "Now" }, { title: status.round ? `Round ${status.round}` : "Round" }], rows));
  }
}

const doing = ({ online, doing: phase }) =>
  online
    ? el("span", { class: `state ${phase === "idle" ? "good" : "busy"}` }, phase === "idle" ? "online" : phase)
    : el("span", { class: "state" }, "offline");

function standing(client) {
  const words = el("span", { class: `state ${KINDS[client.standing] ?? ""}` }, WORDS[client.standing]);
  return client.reason ? el("div", {}, words, el("span", { class: "why" }, client.reason)) : words;
}
