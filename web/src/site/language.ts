/** The links to the other languages: they keep the reader's place; and a quiet word, once, if the browser speaks another one. */

const KEY = "gradwalk:language"; // what the reader chose, or that the offer was closed

export function watchLanguage(left: AbortSignal): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(".langs a[data-language]")];
  for (const link of links) {
    link.addEventListener("click", () => {
      keep(link.dataset.language!);
      const place = sectionNow(link.dataset.sections?.split(" ") ?? []);
      if (place) link.hash = place;
    });
  }
  const wanted = links.find(({dataset}) => dataset.language === navigator.language.split("-")[0]!.toLowerCase());
  if (wanted && chosen() === null) offer(wanted, left);
}

/** The other page's name for the section that is being read here; none at the top. */
function sectionNow(theirs: string[]): string {
  if (scrollY === 0) return "";
  const headings = [...document.querySelectorAll<HTMLElement>(".lesson > h2[id]")];
  const line = innerHeight * 0.35;
  return theirs[headings.findLastIndex((heading) => heading.getBoundingClientRect().top < line)] ?? "";
}

/** Never a redirection: who follows a link to a page wants that page. */
function offer(link: HTMLAnchorElement, left: AbortSignal): void {
  const {language, offer, close} = link.dataset;
  const words = Object.assign(document.createElement("a"), {href: link.href, hreflang: language, textContent: offer});
  words.addEventListener("click", () => keep(language!));
  const button = Object.assign(document.createElement("button"), {type: "button", textContent: "✕"});
  button.setAttribute("aria-label", close!);
  const note = Object.assign(document.createElement("div"), {className: "notice offer", lang: language});
  button.addEventListener("click", () => {
    keep(document.documentElement.lang);
    note.remove();
  });
  note.append(words, button);
  document.body.append(note);
  left.addEventListener("abort", () => note.remove()); // it leads to this page's counterpart
}

function chosen(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function keep(language: string): void {
  try {
    localStorage.setItem(KEY, language);
  } catch {
    // storage is blocked: it will be offered again
  }
}
