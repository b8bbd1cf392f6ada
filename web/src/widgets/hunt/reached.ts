/** Whether a reader has come near an element: nobody waits for Python who has not. */
import type {RefObject} from "preact";
import {useEffect, useState} from "preact/hooks";

export function useReached(element: RefObject<HTMLElement | null>): boolean {
  const [reached, setReached] = useState(false);
  useEffect(() => {
    const near = new IntersectionObserver(([found]) => found!.isIntersecting && (near.disconnect(), setReached(true)), {rootMargin: "200px"});
    near.observe(element.current!);
    return () => near.disconnect();
  }, []);
  return reached;
}
