// Builds the course: Markdown, widgets and what Python exports become a folder of static files.
//   node build.mjs [--lessons FOLDER] [--out FOLDER] [--exported] [--licences] [--dev]
// With --exported, what Python gave the last time is taken as it is: for who changes lessons alone. With --dev, a page reloads
// when the site is built again (see course_dev.py).
import {createHash} from "node:crypto";
import {mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync} from "node:fs";
import path from "node:path";
import {parseArgs} from "node:util";
import {bundle, bundleOffline} from "./builder/bundle.mjs";
import {comparePages} from "./builder/compare.mjs";
import {compareMessages, compareStrings, compareTitles, findEnglish, loadStrings, spokenIn} from "./builder/strings.mjs";
import {document, homeBody, lessonBody, missingBody, pageBody} from "./builder/template.mjs";
import {exported, exportFromPython} from "./builder/python.mjs";
import {GENERATED, LESSONS, PAGES, SITE} from "./builder/paths.mjs";
import {firstCss, loadDrawing} from "./builder/first.mjs";
import {languagesIn} from "./builder/languages.mjs";
import {licencesOf, placeLicences, withLicences} from "./builder/licences.mjs";
import {loadSchemas} from "./builder/schemas.mjs";
import {ornament} from "./builder/ornament.mjs";
import {placeHashed, placeIcons, placeManifest, placePython, placeReload} from "./builder/assets.mjs";
import {BuildError, Problems} from "./builder/problems.mjs";
import {readCourse, readPage} from "./builder/lessons.mjs";
import {drawn, Renderer} from "./builder/pages.mjs";
import {readRecorded} from "./builder/recorded.mjs";
import {readTimes} from "./builder/times.mjs";
import {readNames} from "./builder/names.mjs";
import {readVersions} from "./builder/versions.mjs";

const EXTRA = ["playground", "help"]; // pages beside the lessons
const COPIED = ["katex", "pyodide"]; // packages that are in the site by other ways than the bundler

async function main() {
  const {values: options} = parseArgs({options: {lessons: {type: "string"}, out: {type: "string"}, exported: {type: "boolean"}, licences: {type: "boolean"}, dev: {type: "boolean"}}});
  const out = path.resolve(options.out ?? SITE);
  const read = await readSite(path.resolve(options.lessons ?? LESSONS), options.exported ? exported : exportFromPython);
  const site = `${out}.new-${process.pid}`; // moved to its place when it is whole: a server may be reading the old one
  try {
    await writeSite(site, read, {write: options.licences, dev: options.dev});
    rmSync(out, {recursive: true, force: true});
    renameSync(site, out);
  } finally {
    rmSync(site, {recursive: true, force: true});
  }
  for (const {code, lessons, extras} of read.courses) {
    const own = lessons.filter(({language}) => language === code).length;
    console.log(`${code}: ${own} lessons and ${extras.length + 1} pages are in ${path.relative(process.cwd(), out)}`);
  }
}

/** Everything that is said, read and checked: what is wrong is said now, before anything is written. */
async function readSite(folder, fromPython) {
  const problems = new Problems();
  mkdirSync(GENERATED, {recursive: true});
  const generated = fromPython();
  generated.versions = readVersions();
  generated.recorded = readRecorded();
  generated.times = readTimes();
  generated.names = readNames();
  const schemas = await loadSchemas();
  const courses = [];
  for (const language of languagesIn(folder)) courses.push(await readLanguage(language, courses[0], {generated, schemas, problems}));
  problems.settle(); // what is wrong is said by its line, not by a widget that cannot be drawn
  for (const course of courses) {
    const draw = await loadDrawing(course);
    for (const page of pagesOf(course)) page.html = await drawn(page, draw, problems);
  }
  problems.settle();
  return {courses, first: firstCss(courses.flatMap(pagesOf).map(({html}) => html)), relief: generated.relief};
}

/** A whole course in one language; held against `original`, the course it was translated from. */
async function readLanguage(language, original, {generated, schemas, problems}) {
  const {code, home: folder} = language;
  const words = await loadStrings(code);
  if (original) compareStrings(code, words, original.words, problems);
  if (original) compareMessages(code, words.messages?.messages ?? {}, generated.messages, problems);
  if (original) compareTitles(code, words.presets?.presets.titles ?? {}, [...generated.recordings.presets, ...generated.recordings.tensors], problems);
  problems.settle(); // without its words nothing can be written
  const strings = words.site.site;
  const lessons = readCourse(language, original?.lessons, problems);
  const known = {...generated, recordings: withTitles(generated.recordings, words.presets.presets.titles)};
  const renderer = new Renderer({schemas, strings, generated: known, problems, lessons, pages: EXTRA});
  const place = (root) => ({root, base: root + folder.replace(/[^/]+/g, "..")});
  for (const lesson of lessons.filter((lesson) => lesson.language === code)) {
    const twin = original?.lessons.find(({id}) => id === lesson.id);
    Object.assign(lesson, place("../../"), renderer.render(lesson, {name: lesson.id, twin, ...place("../../")}));
    if (twin) comparePages(lesson, twin, problems);
    if (twin) findEnglish(lesson, schemas, spokenIn(words.messages.messages, generated.messages), problems);
  }
  const page = (name, root) => {
    const read = readPage(path.join(PAGES, code, `${name}.md`), {title: true, lead: true}, problems);
    const made = {...read, name, ...place(root), path: `${folder}${name === "index" ? "" : `${name}/`}`, ...renderer.render(read, {name, ...place(root)})};
    const twin = original && [original.home, ...original.extras].find((page) => page.name === name);
    if (twin) comparePages(made, twin, problems);
    return made;
  };
  const home = page("index", "");
  const extras = EXTRA.map((name) => page(name, "../"));
  const wayFromHome = (lesson) => (lesson.language === code ? lesson.path.slice(folder.length) : `${home.base}${lesson.path}`);
  const listed = lessons.map((lesson) => ({number: lesson.number, slug: lesson.id, path: wayFromHome(lesson), title: lesson.plainTitle, language: lesson.language, minutes: lesson.minutes, tasks: lesson.tasks}));
  writeFileSync(path.join(GENERATED, `course.${code}.json`), JSON.stringify(listed));
  return {code, folder, words, strings, lessons, home, extras};
}

/** The pages of a course that are its own: not the lessons that nobody has translated yet. */
const pagesOf = ({code, lessons, home, extras}) => [home, ...lessons.filter(({language}) => language === code), ...extras];

/** What Python exported, with the presets' titles in the reader's language. */
function withTitles({presets, tensors, ...rest}, titles) {
  const titled = (entries) => entries.map((entry) => ({...entry, title: titles[entry.name] ?? entry.title}));
  return {...rest, presets: titled(presets), tensors: titled(tensors)};
}

async function writeSite(site, {courses, first, relief}, {write, dev}) {
  const files = await bundle(site, {python: placePython(site), languages: courses});
  if (dev) files.reload = placeReload(site);
  files.first = placeHashed(site, first, "first", "css");
  placeIcons(site);
  files.licences = licencesOf([...files.packages, ...COPIED], {write});
  placeLicences(site, files.licences);
  for (const course of courses) writeCourse(site, course, courses.filter((other) => other !== course), files, (which) => ornament(relief, which));
  await writeOffline(site);
}

/** The worker for a course without a network: it keeps every file but Python, which is large and kept when it is used, and the licences. */
async function writeOffline(site) {
  const all = readdirSync(site, {recursive: true}).map((name) => name.split(path.sep).join("/"));
  const kept = all.filter((name) => statSync(path.join(site, name)).isFile() && !/^(pyodide|licences)\/|\.(whl|bin)$/.test(name)).sort();
  const digest = createHash("sha256");
  for (const name of kept) digest.update(`${name}\0`).update(readFileSync(path.join(site, name)));
  await bundleOffline(site, kept.map((name) => name.replace(/(^|\/)index\.html$/, "$1")), digest.digest("hex").slice(0, 12));
}

function writeCourse(site, {code, folder, strings, lessons, home, extras}, others, files, relief) {
  placeManifest(site, {home: folder, base: home.base, language: code, strings});
  const shared = {language: code, strings, lessons, files, relief, ...files.scripts[code]};
  const write = (file, content) => {
    mkdirSync(path.dirname(path.join(site, folder, file)), {recursive: true});
    writeFileSync(path.join(site, folder, file), withoutInlineStyle(file, content));
  };
  /** The page with its counterpart in each other language: `twin` finds it in the course of that language. */
  const linked = (page, twin) => ({
    ...page,
    self: `${page.base}${page.path ?? ""}` || "./",
    alternates: others.map((other) => {
      const found = twin(other);
      const exact = found?.language === undefined || found.language === other.code;
      return {code: other.code, strings: other.strings, exact, href: (exact ? `${page.base}${found.path}` : `${page.base}${other.folder}#lessons`) || "./", sections: found?.sections?.map(({id}) => id)};
    }),
  });
  const start = linked(home, (other) => other.home);
  write("index.html", document(shared, {...start, body: homeBody(shared, start)}));
  for (const lesson of lessons.filter(({language}) => language === code)) {
    const page = linked(lesson, (other) => other.lessons.find(({id}) => id === lesson.id));
    write(`lessons/${lesson.slug}/index.html`, document(shared, {...page, name: lesson.id, lesson, body: lessonBody(shared, lesson)}));
  }
  for (const extra of extras) {
    const page = linked({...extra, html: withLicences(extra.html, files.licences, extra.base)}, (other) => other.extras.find(({name}) => name === extra.name));
    write(`${extra.name}/index.html`, document(shared, {...page, body: pageBody(shared, page)}));
  }
  const missing = {...linked({root: "./", base: home.base || "./"}, (other) => ({path: other.folder})), name: "404", plainTitle: strings.notFound.title};
  write("404.html", document(shared, {...missing, self: undefined, body: missingBody(shared, missing)}));
}

/** The policy forbids it, and a browser would only complain: better here. */
function withoutInlineStyle(file, html) {
  const found = /<[^>]*\sstyle="[^>]*>/.exec(html);
  if (found) throw new BuildError(`${file}: a style on an element, which the content security policy forbids: ${found[0]}`);
  return html;
}

main().catch((error) => {
  console.error(error instanceof BuildError ? error.message : error);
  process.exitCode = 1;
});
