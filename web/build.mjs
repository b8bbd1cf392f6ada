// Builds the course: Markdown, widgets and what Python exports become a folder of static files.
//   node build.mjs [--lessons FOLDER] [--out FOLDER]
import {mkdirSync, renameSync, rmSync, writeFileSync} from "node:fs";
import path from "node:path";
import {parseArgs} from "node:util";
import {bundle} from "./builder/bundle.mjs";
import {document, homeBody, lessonBody, missingBody, pageBody} from "./builder/template.mjs";
import {exportFromPython} from "./builder/python.mjs";
import {GENERATED, LESSONS, PAGES, SITE} from "./builder/paths.mjs";
import {layOutHunt, layOutPresets} from "./builder/layouts.mjs";
import {loadSchemas} from "./builder/schemas.mjs";
import {loadStrings} from "./builder/strings.mjs";
import {ornament} from "./builder/ornament.mjs";
import {placeHashed, placeIcons, placePython} from "./builder/assets.mjs";
import {BuildError, Problems} from "./builder/problems.mjs";
import {readLessons, readPage} from "./builder/lessons.mjs";
import {Renderer} from "./builder/pages.mjs";

const LANGUAGE = "en";
const PRELOADED = ["source-serif-4-latin-opsz-normal", "inter-latin-wght-normal", "jetbrains-mono-latin-wght-normal"]; // what the first screen is set in
const EXTRA = ["playground", "help"]; // pages beside the lessons

async function main() {
  const {values: options} = parseArgs({options: {lessons: {type: "string"}, out: {type: "string"}}});
  const out = path.resolve(options.out ?? SITE);
  const course = await readCourse(path.resolve(options.lessons ?? path.join(LESSONS, LANGUAGE)));
  const site = `${out}.new-${process.pid}`; // moved to its place when it is whole: a server may be reading the old one
  try {
    await writeSite(site, course);
    rmSync(out, {recursive: true, force: true});
    renameSync(site, out);
  } finally {
    rmSync(site, {recursive: true, force: true});
  }
  console.log(`${course.lessons.length} lessons and ${course.extras.length + 1} pages are in ${path.relative(process.cwd(), out)}`);
}

/** Everything that is said, read and checked: what is wrong is said now, before anything is written. */
async function readCourse(folder) {
  const problems = new Problems();
  mkdirSync(GENERATED, {recursive: true});
  const generated = exportFromPython();
  generated.layouts = await layOutPresets(generated.recordings);
  await layOutHunt(generated.hunt);
  const [schemas, strings] = [await loadSchemas(), await loadStrings(LANGUAGE)];

  const lessons = readLessons(folder, problems);
  const renderer = new Renderer({schemas, generated, problems, lessons, pages: EXTRA});
  for (const lesson of lessons) Object.assign(lesson, renderer.render(lesson, {name: lesson.slug, root: "../../"}));
  const page = (name, root) => {
    const read = readPage(path.join(PAGES, LANGUAGE, `${name}.md`), {title: true, lead: true}, problems);
    return {...read, name, root, ...renderer.render(read, {name, root})};
  };
  const home = page("index", "");
  const extras = EXTRA.map((name) => page(name, "../"));
  problems.settle();
  const listed = lessons.map(({number, slug, plainTitle, minutes, tasks}) => ({number, slug, title: plainTitle, minutes, tasks}));
  writeFileSync(path.join(GENERATED, "course.json"), JSON.stringify(listed));
  return {strings, lessons, home, extras, heights: renderer.heightsCss(), relief: generated.relief};
}

async function writeSite(site, {strings, lessons, home, extras, heights, relief}) {
  const files = await bundle(site, {python: placePython(site)});
  files.heights = placeHashed(site, heights, "heights", "css");
  files.preload = files.fonts.filter((font) => PRELOADED.some((name) => font.includes(name)));
  placeIcons(site, strings);
  const shared = {language: LANGUAGE, strings, lessons, files, relief: (which) => ornament(relief, which)};
  const write = (file, content) => {
    mkdirSync(path.dirname(path.join(site, file)), {recursive: true});
    writeFileSync(path.join(site, file), withoutInlineStyle(file, content));
  };
  write("index.html", document(shared, {...home, body: homeBody(shared, home)}));
  for (const lesson of lessons) {
    const page = {...lesson, name: lesson.slug, root: "../../", lesson, body: lessonBody(shared, lesson)};
    write(`lessons/${lesson.slug}/index.html`, document(shared, page));
  }
  for (const extra of extras) write(`${extra.name}/index.html`, document(shared, {...extra, body: pageBody(shared, extra)}));
  write("404.html", document(shared, {name: "404", root: "", plainTitle: strings.notFound.title, body: missingBody(shared)}));
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
