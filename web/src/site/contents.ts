/** The contents: a panel behind a button where the screen is narrow, and a mark on the section that is being read. */

export function watchContents(left: AbortSignal): void {
  const rail = document.querySelector<HTMLElement>("#rail")!;
  const button = document.querySelector<HTMLButtonElement>("[data-menu]")!;
  const open = (wanted: boolean) => {
    rail.classList.toggle("open", wanted);
    button.setAttribute("aria-expanded", String(wanted));
    if (wanted) (rail.querySelector<HTMLElement>("[aria-current]") ?? rail.querySelector("a"))?.focus();
  };
  button.addEventListener("click", () => open(!rail.classList.contains("open")));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !rail.classList.contains("open")) return;
    open(false);
    button.focus();
  }, {signal: left});
  document.addEventListener("click", ({target}) => {
    const inside = target instanceof Element && (target.closest("[data-menu]") || (target.closest("#rail") && !target.closest("a")));
    if (rail.classList.contains("open") && !inside) open(false);
  }, {signal: left});
  rail.addEventListener("focusout", ({relatedTarget}) => {
    if (relatedTarget instanceof Node && !rail.contains(relatedTarget) && relatedTarget !== button) open(false);
  });
  markSection(rail, left);
}

function markSection(rail: HTMLElement, left: AbortSignal): void {
  const entries = [...rail.querySelectorAll<HTMLElement>(".sub li")];
  const headings = entries.map((entry) => document.getElementById(decodeURIComponent(entry.querySelector("a")!.hash.slice(1)))!);
  if (entries.length === 0) return;
  const mark = () => {
    const line = innerHeight * 0.35;
    const last = headings.findLastIndex((heading) => heading.getBoundingClientRect().top < line);
    entries.forEach((entry, index) => {
      entry.classList.toggle("passed", index < last);
      entry.classList.toggle("here", index === last);
    });
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  }, {passive: true, signal: left});
  mark();
}
