/** From page to page without leaving the document, so that Python and what has been fetched stay.

The browser's own Navigation API keeps history, addresses and scrolling as they always are; here the next page is fetched,
and its parts are put in the place of this one's. Where the browser lacks it, where the page cannot be had, is in another
language or of another build, it is opened as any link opens.
*/
import {render} from "preact";

const PLAINLY = Symbol("not from page to page");
const PATIENCE = 3000; // milliseconds: whoever waits longer should see the browser's own sign of loading
/** These live as long as the document: they are moved from page to page. */
const LASTING = ["[data-python]", "[data-theme-button]"];
/** What the root element says about a page. */
const ABOUT = ["data-root", "data-page", "data-lesson"];

/** `leave` is called before the parts of a page go, `arrive` when those of the next are there. */
export function visitWithin({leave, arrive}: {leave(): void; arrive(): void}): void {
  if (!("NavigationPrecommitController" in window)) return;
  for (const element of document.head.querySelectorAll("script[src], link[rel=icon], link[rel=manifest]")) makeAbsolute(element);
  const spoken = document.body.appendChild(Object.assign(document.createElement("p"), {className: "vh"}));
  spoken.setAttribute("role", "status");
  const show = (page: Document) => {
    leave();
    replace(page);
    arrive();
    spoken.textContent = page.title; // a browser tells a new document's title, and this is none
  };
  navigation.addEventListener("navigate", (event) => {
    const {destination, navigationType, info} = event;
    if (!event.canIntercept || event.downloadRequest !== null || event.formData || info === PLAINLY || navigationType === "reload" || !isPage(destination.url)) return;
    if (navigationType === "traverse") {
      event.intercept({handler: async () => {
        const page = await pageAt(destination.url, event.signal);
        if (page) show(page);
        else if (!event.signal.aborted) location.reload();
      }});
      return;
    }
    let page: Document | undefined;
    event.intercept({
      scroll: "manual", // the style sheet scrolls smoothly; a new page begins at its place
      precommitHandler: async () => {
        page = await pageAt(destination.url, event.signal);
        if (!page && !event.signal.aborted) navigation.navigate(destination.url, {info: PLAINLY, history: navigationType});
      },
      handler: async () => {
        show(page!);
        const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
        if (place) place.scrollIntoView({behavior: "instant"});
        else scrollTo({top: 0, behavior: "instant"});
      },
    });
  });
}

/** Another page of the course: they are all folders below the language's own. */
function isPage(address: string): boolean {
  const {origin, pathname, search} = new URL(address);
  const root = new URL(document.documentElement.dataset.root!, location.href);
  return origin === location.origin && pathname.startsWith(root.pathname) && pathname.endsWith("/") && pathname + search !== location.pathname + location.search;
}

/** Nothing, where it cannot take this page's place. */
async function pageAt(address: string, givenUp: AbortSignal): Promise<Document | undefined> {
  try {
    const answer = await fetch(address, {signal: AbortSignal.any([givenUp, AbortSignal.timeout(PATIENCE)])});
    if (!answer.ok || answer.redirected) return undefined;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return page.documentElement.lang === document.documentElement.lang && script(page, address) === script(document, location.href) ? page : undefined;
  } catch {
    return undefined;
  }
}

/** A build is known by its main script, whose name changes with its content. */
const script = (page: Document, address: string): string | undefined => {
  const source = page.querySelector("script[type=module]")?.getAttribute("src");
  return source ? new URL(source, address).href : undefined;
};

function replace(page: Document): void {
  for (const element of document.querySelectorAll<HTMLElement>("[data-widget]")) render(null, element);
  for (const lasting of LASTING) page.querySelector(lasting)!.replaceWith(document.querySelector(lasting)!);
  page.querySelectorAll("noscript").forEach((element) => element.remove());
  for (const part of ["header.top", ".page"]) document.querySelector(`body > ${part}`)!.replaceWith(page.querySelector(`body > ${part}`)!);
  document.title = page.title;
  for (const name of ABOUT) {
    const told = page.documentElement.getAttribute(name);
    if (told === null) document.documentElement.removeAttribute(name);
    else document.documentElement.setAttribute(name, told);
  }
  for (const kind of ["meta[name=description]", "link[rel=alternate]"]) {
    document.head.querySelectorAll(kind).forEach((element) => element.remove());
    document.head.append(...page.head.querySelectorAll(kind));
  }
  const there = new Set([...document.head.querySelectorAll<HTMLLinkElement>("link[rel=modulepreload]")].map(({href}) => href));
  for (const link of page.head.querySelectorAll<HTMLLinkElement>("link[rel=modulepreload]")) {
    const href = new URL(link.getAttribute("href")!, location.href).href;
    if (!there.has(href)) document.head.append(Object.assign(document.createElement("link"), {rel: "modulepreload", href}));
  }
}

/** What a page names from where it stands would be elsewhere, seen from the next. */
function makeAbsolute(element: Element): void {
  const name = element.hasAttribute("src") ? "src" : "href";
  element.setAttribute(name, new URL(element.getAttribute(name)!, location.href).href);
}
