// Styles of a page, made fit for a widget in somebody else's.

/** Styles for a shadow root: its frame takes the part of the page, its width that of the screen, and its units are its own. */
export function scoped(css) {
  return css
    .replace(/:root/g, ".gw")
    .replace(/(^|[{},])html\{[^}]*\}/g, "$1")
    .replace(/(^|[{},])body\{/g, "$1.gw{")
    .replace(/@media\s*\((max-width:\s*600px|width<=600px|width <= 600px)\)/g, "@container (max-width:600px)")
    .replace(/(?<![\w#])(\d*\.?\d+)rem\b/g, (_, number) => `${Number((number * 16).toFixed(3))}px`);
}
