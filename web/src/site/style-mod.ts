/** The package style-mod, through which CodeMirror writes its styles, less its style element.

The page's content security policy allows no style element; a constructed style sheet is none. Only `mount` differs.
*/
import {StyleModule} from "../../node_modules/style-mod/src/style-mod.js";

type Root = Document | ShadowRoot;
const mounted = new WeakMap<Root, {sheet: CSSStyleSheet; modules: StyleModule[]}>();

function mount(root: Root, wanted: StyleModule | readonly StyleModule[]): void {
  let place = mounted.get(root);
  if (!place) {
    place = {sheet: new CSSStyleSheet(), modules: []};
    mounted.set(root, place);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, place.sheet];
  }
  const modules = [wanted].flat() as StyleModule[];
  if (modules.every((module) => place.modules.includes(module))) return;
  // what is asked for keeps its order, for later rules win
  place.modules = [...place.modules.filter((module) => !modules.includes(module)), ...modules];
  place.sheet.replaceSync(place.modules.map((module) => module.getRules()).join("\n"));
}

StyleModule.mount = mount;
export {StyleModule};
