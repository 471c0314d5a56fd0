// Elements without innerHTML: nothing that a server or client says can become markup.

const SVG = "http://www.w3.org/2000/svg";

export const el = (name, attributes = {}, ...children) =>
  filled(document.createElement(name), attributes, children);

export const svg = (name, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, name), attributes, children);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Replaces what an element holds only if it would look different: focus and selection stay.
export function show(element, ...children) {
  const fresh = document.createElement(element.localName);
  fresh.append(...children.flat().filter((child) => child !== null && child !== undefined));
  if (fresh.innerHTML !== element.innerHTML) element.replaceChildren(...fresh.childNodes);
}

let numbers = 0;
export const newId = (name) => `${name}-${(numbers += 1)}`;
