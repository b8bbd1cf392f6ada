/** Brings the code editor into a component, and takes it away with it. */
import type {RefObject} from "preact";
import {useLayoutEffect, useRef, useState} from "preact/hooks";
import type {Editor, Options} from "./editor.ts";

/**
 * The editor in `place`, as soon as its code has arrived; what stands there until then is the component's to draw.
 * The newest options count, on arrival and later: a learner may have gone on meanwhile.
 */
export function useEditor(place: RefObject<HTMLElement | null>, options: Options): Editor | undefined {
  const [editor, setEditor] = useState<Editor>();
  const newest = useRef(options);
  newest.current = options;
  // Not useEffect: what that gives back is called a frame after the element has gone, and the editor may arrive between.
  useLayoutEffect(() => {
    let made: Editor | undefined;
    void import("./editor.ts").then(({edit}) => {
      const parent = place.current;
      if (!parent) return; // the component has gone
      const wasWriting = parent.contains(document.activeElement);
      made = edit(parent, {...newest.current, onChange: (text) => newest.current.onChange(text), onRun: () => newest.current.onRun()});
      if (wasWriting) made.focus();
      setEditor(made);
    });
    return () => made?.destroy();
  }, []);
  return editor;
}
