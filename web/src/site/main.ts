/** What every page does when it has arrived. The text is there already: nothing here is needed to read it. */
import {watchLanguage} from "./language.ts";
import {wake} from "./hydrate.ts";
import {keepOffline} from "./offline.ts";
import {showNotices} from "./notices.ts";
import {showProgress} from "./marks.ts";
import {showPython} from "./python-status.ts";
import {watchContents} from "./contents.ts";
import {watchTheme} from "./theme-button.ts";

watchTheme();
watchContents();
watchLanguage();
showProgress();
showPython();
showNotices();
wake(document);
keepOffline();

/** For whoever imports this module again: tests, and the curious at the console. */
export {course} from "./marks.ts";
export {python} from "../python/index.ts";
export {store} from "../store/index.ts";
export {progress} from "../store/progress.ts";
