/** From the page as the build drew it to the page that works.

The build draws each widget as it is at first: nobody has worked with it, no address says more, no width is known. The first
drawing in the browser must be the same, for Preact takes over what stands there and compares nothing. As long as that goes on
the page is asleep; what only a browser knows (the learner's work, Python, the address, the width) counts when it wakes up.
*/
import {batch, signal} from "@preact/signals";
import {useLayoutEffect, useRef, useState} from "preact/hooks";

/** Whether this is the first drawing; always in the build. Who reads it while drawing draws again when it changes. */
export const asleep = signal(typeof document === "undefined");

/** Take over what the build drew. */
export function whileAsleep(draw: () => void): void {
  batch(() => {
    asleep.value = true;
    try {
      draw();
    } finally {
      asleep.value = false;
    }
  });
}

/** A state that depends on what only a browser knows: `initial` is asked once more when the page wakes up. */
export function useOnceAwake<T>(initial: () => T): [T, (state: T) => void] {
  const [state, setState] = useState(initial);
  const slept = useRef(asleep.peek());
  const now = asleep.value;
  useLayoutEffect(() => {
    if (!slept.current || now) return;
    slept.current = false;
    setState(initial());
  }, [now]);
  return [state, setState];
}
