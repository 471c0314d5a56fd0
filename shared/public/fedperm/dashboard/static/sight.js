// What the aggregator can see of an update, shown with a made-up one.
import { el } from "./dom.js";
import { ask } from "./live.js";
import { card } from "./table.js";
import { count } from "./words.js";

export class SightPanel {
  #place = el("div", { class: "pictures", id: "sight" }, el("p", { class: "quiet" }, "Loading"));
  #noise = el("input", { type: "checkbox", id: "with-noise" });
  #data = null;

  constructor() {
    const choice = el("label", { for: "with-noise" }, this.#noise, "with noise");
    this.elements = [card("What the aggregator can see", { beside: choice },
      el("p", {}, "A made-up update, the same for every run: real ones are destroyed when their round is settled. The same code has shuffled and encrypted it as in a client. ",
        "Values arrive in the clear, so their norm can be bounded; where each one belongs is in the masks, which only clients can decrypt."),
      this.#place)];
    this.#noise.addEventListener("change", () => this.#render());
  }

  show() {
    if (this.#data) return;
    ask("/dashboard/static/demonstration.json").then((data) => {
      this.#data = data;
      this.#render();
    }, () => {});
  }

  #render() {
    const data = this.#data;
    if (!data) return;
    const noisy = this.#noise.checked;
    const size = [data.k1, data.windows];
    const noise = noisy ? `, with noise of scale b = ${data.laplace_scale}` : "";
    this.#place.replaceChildren(
      picture("Only the client", "The update", `${count(data.windows * data.k1)} values, one window of ${data.k1} a row${noise}.`,
        greys(octetsOf(noisy ? data.noised : data.plain)), size),
      picture("The aggregator sees", "Its values, shuffled", `The same values; within each row in another order, secret and new in every round (${data.k2} patterns here).`,
        greys(octetsOf(noisy ? data.noised_shuffled : data.shuffled)), size),
      picture("Only the client", "The masks", "One mark a column: where the value belongs. Multiplied with the values, they undo the shuffle.",
        marked(data), [data.k1, data.k1]),
      ciphertexts(data));
  }
}

function ciphertexts(data) {
  const octets = octetsOf(data.ciphertexts);
  const side = Math.floor(Math.sqrt(octets.length));
  return picture("The aggregator sees", "The masks, encrypted",
    `Under a public key of ${count(data.key_bits)} bits: ${data.k1} ciphertexts of ${count(data.ciphertext_octets)} octets, each octet a dot. Without the secret key there is nothing to see.`,
    greys(octets.subarray(0, side * side)), [side, side]);
}

const octetsOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const greys = (octets) => (index) => octets[index];
const marked = ({ mask, k1 }) => (index) => (mask[index % k1] === Math.floor(index / k1) ? 255 : 20);

function picture(side, title, words, value, [width, height]) {
  const canvas = el("canvas", { width, height, class: "square", role: "img", "aria-label": `${title}: ${words}` });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  for (let index = 0; index < width * height; index += 1) image.data.set(shade(value(index)), 4 * index);
  context.putImageData(image, 0, 0);
  const known = side.startsWith("The aggregator");
  return el("figure", {}, el("span", { class: known ? "side known" : "side" }, side), canvas,
    el("figcaption", {}, el("strong", {}, title), ". ", words));
}

// From dark teal to almost white.
const shade = (value) => [value * 0.94, 40 + value * 0.8, 44 + value * 0.78, 255];
