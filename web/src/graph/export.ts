/** A drawn graph as a file of its own: every colour written out, nothing that moves, no class, no script. */

const KEPT = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "paint-order", "opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor",
];
const IDLE: Record<string, string> = {
  opacity: "1", "fill-opacity": "1", "stroke-opacity": "1", "stroke-dasharray": "none", "stroke-linecap": "butt", "stroke-linejoin": "miter",
  "paint-order": "normal", "font-style": "normal", "text-anchor": "start",
};
const NAMESPACE = "http://www.w3.org/2000/svg";

export function svgText(source: SVGSVGElement, title: string): string {
  const copy = source.cloneNode(true) as SVGSVGElement;
  const [from, to] = [[...source.querySelectorAll("*")], [...copy.querySelectorAll("*")]];
  from.forEach((element, i) => settle(element, to[i]!));
  for (const gone of copy.querySelectorAll(".runner, .focus, .old")) gone.remove();
  for (const element of to) for (const name of ["class", "style", "tabindex", "role", "aria-label", "aria-hidden"]) element.removeAttribute(name);
  for (const element of to) for (const {name} of [...element.attributes]) if (name.startsWith("data-")) element.removeAttribute(name);
  for (const name of ["class", "style", "aria-label"]) copy.removeAttribute(name);
  copy.setAttribute("xmlns", NAMESPACE);
  copy.setAttribute("role", "img");
  copy.prepend(made("title", {}, title), made("rect", {width: "100%", height: "100%", fill: getComputedStyle(source).getPropertyValue("--surface").trim()}));
  return new XMLSerializer().serializeToString(copy);
}

/** Write down how an element looks when all that moves has come to rest. */
function settle(from: Element, to: Element): void {
  if (from.localName === "g") return;
  const looks = getComputedStyle(from);
  for (const name of KEPT) {
    if (name.startsWith("font") && from.localName !== "text") continue;
    const value = looks.getPropertyValue(name);
    if (value && value !== IDLE[name]) to.setAttribute(name, value);
  }
}

function made(name: string, attributes: Record<string, string>, text = ""): SVGElement {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}
