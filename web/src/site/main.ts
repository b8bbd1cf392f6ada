/** What every page does when it has arrived. The text is there already: nothing here is needed to read it. */
import {arrivals} from "./arrivals.ts";
import {watchLanguage} from "./language.ts";
import {wake} from "./hydrate.ts";
import {keepOffline} from "./offline.ts";
import {messages} from "../strings/en/messages.ts";
import {showNotices} from "./notices.ts";
import {showProgress} from "./marks.ts";
import {showPython} from "./python-status.ts";
import {python} from "../python/index.ts";
import {visitWithin} from "./visit.ts";
import {watchContents} from "./contents.ts";
import {watchTheme} from "./theme-button.ts";

let left: AbortController; // ends what listens for the page that is here now

function arrive(): void {
  left = new AbortController();
  watchContents(left.signal);
  watchLanguage(left.signal);
  arrivals.value++;
  wake(document);
}

function leave(): void {
  left.abort();
  python.leave();
}

python.speak(messages);
watchTheme();
showProgress();
showPython();
showNotices();
arrive();
visitWithin({leave, arrive});
keepOffline();

/** For whoever imports this module again: tests, and the curious at the console. */
export {course} from "./marks.ts";
export {python} from "../python/index.ts";
export {store} from "../store/index.ts";
export {progress} from "../store/progress.ts";
