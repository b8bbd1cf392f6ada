import {useLayoutEffect, useRef, useState} from "preact/hooks";
import type {RefObject} from "preact";

/** How wide an element is, now and whenever that changes: plots are drawn at one to one, never scaled. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const ref = useRef<T | null>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current!;
    const look = () => setWidth(Math.floor(element.clientWidth));
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
