/** The button that changes the colours: as the system says, light, dark. */
import {site} from "../strings/en/site.ts";

const KEY = "gradwalk:theme"; // read by theme.ts, before the first paint
const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

export function watchTheme(): void {
  const button = document.querySelector<HTMLButtonElement>("[data-theme-button]")!;
  let theme: Theme = (document.documentElement.dataset.theme as Theme | undefined) ?? "auto";
  const show = () => {
    button.setAttribute("aria-label", `${site.theme.label}: ${site.theme[theme]}`);
    button.title = button.getAttribute("aria-label")!;
    button.dataset.themeButton = theme;
  };
  button.addEventListener("click", () => {
    theme = next(theme);
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      if (theme === "auto") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, theme);
    } catch {
      // storage is blocked: it holds for this page
    }
    show();
  });
  show();
}

/** From "as the system" the first press must change something: to the colours the system has not. */
function next(theme: Theme): Theme {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const order: Theme[] = dark ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
  return order[(order.indexOf(theme) + 1) % THEMES.length]!;
}
