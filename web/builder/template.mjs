// The HTML around every page. All links are relative, so that the site works under any address.
import {escape} from "./html.mjs";

/** What a page may load: its own files, and WebAssembly for Python. Kept equal to the server's by a test. */
export const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";

const ICONS = {
  brand:
    '<svg class="mark" width="30" height="22" viewBox="0 0 30 22" aria-hidden="true"><path d="M25 11H16M16 11 6 4.5M16 11 6 17.5"/>' +
    '<circle class="full" cx="25" cy="11" r="4"/><circle cx="5" cy="4" r="3"/><circle cx="5" cy="18" r="3"/></svg>',
  theme: '<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" r="7" fill="none" stroke="currentColor" stroke-width="1.6"/><path class="half" d="M9 2a7 7 0 0 1 0 14z" fill="currentColor"/></svg>',
  menu: '<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><path d="M2 4.5h14M2 9h14M2 13.5h9" stroke="currentColor" stroke-width="1.6" fill="none"/></svg>',
};

/** `site` is what the pages of a language share (strings, lessons, files, main, partsOf); `page`: {name, root, base, title, body,
 * alternates, lesson?, sections?}: `root` leads to the language's start page, `base` to the site's root. */
export function document(site, page) {
  const {strings, files} = site;
  const at = (file) => `${page.base || "./"}${file}`;
  const title = page.name === "index" ? strings.name : `${page.plainTitle} · ${strings.name}`;
  return `<!doctype html>
<html lang="${site.language}" data-root="${page.root || "./"}" data-page="${page.name}"${page.lesson ? ` data-lesson="${page.lesson.id}"` : ""}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escape(page.description ?? strings.description)}">
<meta name="referrer" content="no-referrer">
<title>${escape(title)}</title>
<link rel="icon" href="${at("icon.svg")}" type="image/svg+xml">
<link rel="manifest" href="${page.root || "./"}site.webmanifest">${alternateLinks(site, page)}
${files.fonts.map((font) => `<link rel="preload" href="${at(font)}" as="font" type="font/woff2" crossorigin>`).join("\n")}
<link rel="stylesheet" href="${at(files.styles)}">
<link rel="stylesheet" href="${at(files.first)}">
<script src="${at(files.theme)}"></script>${files.reload ? `\n<script src="${at(files.reload)}"></script>` : ""}
<script type="module" src="${at(site.main)}"></script>
${site.partsOf((page.widgets ?? []).map(({kind}) => kind)).filter((file) => file !== site.main).map((file) => `<link rel="modulepreload" href="${at(file)}">`).join("\n")}
</head>
<body>
<a class="skip" href="#main">${strings.skip}</a>
${header(site, page)}
<div class="page${page.name === "index" ? " home" : ""}">
${rail(site, page)}
<main id="main" tabindex="-1">
${page.body}
<noscript><p class="note">${strings.noScript}</p></noscript>
</main>
</div>
</body>
</html>
`;
}

/** The same page in every language that has it, for whoever reads the head of a page. */
function alternateLinks({language}, {alternates = [], self}) {
  const exact = alternates.filter((alternate) => alternate.exact);
  if (!self || exact.length === 0) return "";
  return [{code: language, href: self}, ...exact].map(({code, href}) => `\n<link rel="alternate" hreflang="${code}" href="${href}">`).join("");
}

/** The way to the other languages: to the same place in the same lesson, where it is translated. */
function languageLinks({strings}, {alternates = []}) {
  if (alternates.length === 0) return "";
  const link = ({code, href, strings: theirs, sections, exact}) =>
    `<a href="${href}" hreflang="${code}" lang="${code}" data-language="${code}" data-offer="${escape(theirs.language.offer)}" data-close="${escape(theirs.dismiss)}"` +
    `${exact && sections?.length ? ` data-sections="${sections.join(" ")}"` : ""}${exact ? "" : ` title="${escape(theirs.language.notYet)}"`}>` +
    `<span class="long">${theirs.language.name}</span><span class="short" aria-hidden="true">${code.toUpperCase()}</span></a>`;
  return `<nav class="langs" aria-label="${strings.language.label}">${alternates.map(link).join("")}</nav>\n`;
}

/** A mark on a lesson that is there in another language only. */
const foreign = ({language, strings}, lesson) => (lesson.language === language ? "" : ` <small class="foreign">${strings.language.inEnglish}</small>`);
const inTongue = ({language}, lesson, html) => (lesson.language === language ? `<span>${html}</span>` : `<span lang="${lesson.language}">${html}</span>`);

function header(site, page) {
  const {strings, lessons} = site;
  const here = page.lesson ? lessons.indexOf(page.lesson) : -1;
  const waypoints = lessons.map(({id}, index) => `<li data-lesson="${id}"${index === here ? ' class="here"' : ""}></li>`).join("");
  const place = page.lesson ? `<span class="trail-text"><b>${strings.lesson} ${page.lesson.number}</b> ${strings.ofAll(lessons.at(-1).number)}</span>` : "";
  const links = page.name === "index" ? `<nav class="top-links" aria-label="${strings.more}"><a href="playground/">${strings.stepper}</a><a href="help/">${strings.about}</a></nav>\n` : "";
  return `<header class="top">
<a class="brand" href="${page.root || "./"}" aria-label="${strings.home}">${ICONS.brand}<span>${strings.name}</span></a>
<div class="trail"><ol aria-hidden="true">${waypoints}</ol>${place}</div>
<div class="top-right">
<div class="py" data-python></div>
${links}${languageLinks(site, page)}<button class="icon-btn" type="button" data-theme-button aria-label="${strings.theme.label}">${ICONS.theme}</button>
<button class="icon-btn menu-btn" type="button" data-menu aria-expanded="false" aria-controls="rail">${ICONS.menu}<span>${strings.contents}</span></button>
</div>
</header>`;
}

function rail(site, page) {
  const {strings, lessons} = site;
  const entry = (lesson) => {
    const here = lesson === page.lesson;
    const inside = here && page.sections?.length ? `<ol class="sub">${page.sections.map(({id, title}) => `<li><a href="#${id}">${title}</a></li>`).join("")}</ol>` : "";
    return `<li data-lesson="${lesson.id}"${here ? ' class="here"' : ""}><a href="${page.base}${lesson.path}"${tongue(site, lesson)}${here ? ' aria-current="page"' : ""}><span class="n">${lesson.number}</span><span>${inTongue(site, lesson, lesson.titleHtml)}${foreign(site, lesson)}</span></a>${inside}</li>`;
  };
  const extra = (name, title) => `<li><a href="${page.root}${name}/"${page.name === name ? ' aria-current="page"' : ""}>${title}</a></li>`;
  return `<nav class="rail" id="rail" aria-label="${strings.contents}">
<ol>${lessons.map(entry).join("\n")}</ol>
<ul class="rail-more">${extra("playground", strings.stepper)}${extra("help", strings.about)}</ul>
<p class="rail-note" data-kept>${strings.progressStays}</p>
</nav>`;
}

const tongue = ({language}, lesson) => (lesson.language === language ? "" : ` hreflang="${lesson.language}"`);

/** A lesson's own page, inside the document. */
export function lessonBody(site, lesson) {
  const {strings, lessons, relief} = site;
  const at = lessons.indexOf(lesson);
  const fact = (name, html) => (html ? `<div><dt>${name}</dt><dd>${html}</dd></div>` : "");
  const facts = lesson.needsHtml || lesson.teachesHtml ? `<dl class="facts">${fact(strings.needs, lesson.needsHtml)}${fact(strings.teaches, lesson.teachesHtml)}</dl>` : "";
  return `<article class="lesson">
<header class="title">${relief(at)}
<p class="kicker">${strings.lesson} ${lesson.number} <span>${strings.minutes(lesson.minutes)}</span></p>
<h1>${lesson.titleHtml}</h1>
<p class="lead">${lesson.leadHtml}</p>
${facts}</header>
${lesson.html}
${pager(site, lesson, lessons[at - 1], lessons[at + 1])}
</article>`;
}

function pager(site, here, before, after) {
  const {strings} = site;
  const way = (lesson) => (lesson.language === here.language ? `../${lesson.slug}/` : `${here.base}${lesson.path}`);
  const link = (lesson, kind) =>
    lesson
      ? `<a class="${kind}" rel="${kind}" href="${way(lesson)}"${tongue(site, lesson)}><small>${strings.lesson} ${lesson.number}${lesson.language === here.language ? "" : `, ${strings.language.inEnglish}`}</small>${inTongue(site, lesson, lesson.titleHtml)}</a>`
      : kind === "next" ? `<a class="next" href="../../"><small>${strings.lastOne}</small><span>${strings.overview}</span></a>` : "<span></span>";
  return `<nav class="pager" aria-label="${strings.lessons}">${link(before, "prev")}${link(after, "next")}</nav>`;
}

/** A page beside the lessons. */
export const pageBody = (site, page) => `<article class="lesson">
<header class="title short"><h1>${page.titleHtml}</h1><p class="lead">${page.leadHtml}</p></header>
${page.html}
</article>`;

/** The title page: what this is, where to begin, every lesson. */
export function homeBody(site, page) {
  const {strings, lessons, relief} = site;
  const first = lessons[0];
  const entry = (lesson) => `<li data-lesson="${lesson.id}"><a href="${page.base}${lesson.path}"${tongue(site, lesson)}><span class="n">${lesson.number}</span><span class="what"><b>${inTongue(site, lesson, lesson.titleHtml)}${foreign(site, lesson)}</b>${inTongue(site, lesson, lesson.leadHtml)}</span><span class="mins">${strings.shortMinutes(lesson.minutes)}</span></a></li>`;
  return `<div class="hero">${relief(0)}
<p class="kicker">${strings.kicker(lessons.length)}</p>
<h1>${page.titleHtml}</h1>
<p class="lead">${page.leadHtml}</p>
<p class="begin"><a class="btn primary" data-begin href="${page.base}${first.path}">${strings.begin}</a><a class="btn" href="playground/">${strings.openStepper}</a></p>
</div>
<section class="overview" aria-labelledby="lessons"><h2 id="lessons">${strings.lessons}</h2>
<ol class="lesson-list">${lessons.map(entry).join("\n")}</ol>
<p class="rail-note" data-kept>${strings.progressStays}</p></section>
<article class="lesson">
${page.html}
</article>`;
}

export const missingBody = ({strings, relief}, {alternates}) => `<div class="hero missing">${relief(3)}
<p class="kicker">404</p><h1>${strings.notFound.title}</h1>
<p class="lead">${strings.notFound.text}</p>
<p class="begin"><a class="btn primary" href="./">${strings.notFound.start}</a></p>
${alternates.map(({code, href, strings: theirs}) => `<p lang="${code}">${theirs.notFound.title}. <a href="${href}" hreflang="${code}">${theirs.notFound.start}</a></p>`).join("\n")}</div>`;
