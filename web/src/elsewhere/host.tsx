/** A widget in somebody else's page: in a shadow root, so that no style gets in or out, in the colours of the host. */
import {render, type ComponentChild} from "preact";

/** Put there by the build: every style of the widget. */
declare const STYLES: string;

type Theme = "light" | "dark";

/** As the notebook is now: JupyterLab, VS Code and marimo each say it in their own way; else as the system. */
function themeOf(document: Document): Theme {
  const {body, documentElement: html} = document;
  const says = (dark: boolean, light: boolean): Theme | null => (dark ? "dark" : light ? "light" : null);
  const has = (...names: string[]) => names.some((name) => body.classList.contains(name) || html.classList.contains(name));
  return (
    says(body.dataset.jpThemeLight === "false", body.dataset.jpThemeLight === "true") ??
    says(has("vscode-dark", "vscode-high-contrast") && !has("vscode-high-contrast-light"), has("vscode-light", "vscode-high-contrast-light")) ??
    says(has("dark", "dark-theme"), has("light", "light-theme")) ??
    says(html.dataset.theme === "dark" || body.dataset.theme === "dark", html.dataset.theme === "light" || body.dataset.theme === "light") ??
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")
  );
}

/** Draw a widget into an element; gives what takes it away again. */
export function inShadow(element: HTMLElement, kind: string, content: ComponentChild): () => void {
  const document = element.ownerDocument;
  const host = document.createElement("div");
  // keys pressed here are ours: JupyterLab would insert a cell at B, and scroll at Space
  host.dataset.lmSuppressShortcuts = "true";
  const silent = (event: Event) => event.stopPropagation();
  for (const type of ["keydown", "keyup", "keypress"]) host.addEventListener(type, silent);
  const root = host.attachShadow({mode: "open"});
  const style = document.createElement("style");
  style.textContent = STYLES;
  const frame = document.createElement("div");
  frame.className = "gw";
  const widget = document.createElement("div");
  widget.className = `widget wide ${kind}`;
  frame.append(widget);
  root.append(style, frame);
  element.append(host);

  const paint = () => (frame.dataset.theme = themeOf(document));
  paint();
  const watch = new MutationObserver(paint);
  for (const place of [document.documentElement, document.body]) watch.observe(place, {attributes: true, attributeFilter: ["class", "data-jp-theme-light", "data-theme"]});
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", paint);
  render(content, widget);
  return () => {
    render(null, widget);
    watch.disconnect();
    system.removeEventListener("change", paint);
    host.remove();
  };
}
