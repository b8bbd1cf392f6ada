/** Engines with a bug drawn at random. The number is in the address, so that a link or a reload brings the same one. */
import {useEffect, useRef, useState} from "preact/hooks";
import {python} from "../../python/index.ts";
import {progress} from "../../store/progress.ts";
import {asleep, useOnceAwake} from "../../waking/index.ts";
import {hunt as words} from "../../strings/en/hunt.ts";
import {Hunted} from "./Hunted.tsx";
import {keepPractice, practice} from "./kept.ts";
import type {Case} from "./material.ts";
import {useReached} from "./reached.ts";
import {Wait} from "./Wait.tsx";

const HASH = /^#practice-(\d{1,9})$/;
const fresh = (): number => 1 + Math.floor(Math.random() * 99_999);
const fromLink = (): number | null => {
  const found = HASH.exec(location.hash);
  return found ? Number(found[1]) : null;
};

export function Practice({id}: {id: string}) {
  const [seed, setSeed] = useOnceAwake(() => (asleep.peek() ? 1 : fromLink() ?? practice.peek()?.seed ?? fresh()));
  const [entry, setEntry] = useState<Case | null>(null);
  const [failed, setFailed] = useState(false);
  const [link, setLink] = useState<{said: string; url?: string}>({said: ""});
  const place = useRef<HTMLDivElement>(null);
  const reached = useReached(place);
  const mended = practice.value?.mended ?? [];
  const wanted = useRef(seed);
  wanted.current = seed;
  const draw = async (of: number) => {
    setFailed(false);
    setEntry(null);
    try {
      const drawn = await python.call<Case>("hunting.draw", {seed: of}, {seconds: 40});
      if (wanted.current === of) setEntry(drawn);
    } catch {
      if (wanted.current === of) setFailed(true);
    }
  };
  useEffect(() => {
    if (!reached) return;
    keepPractice({seed, mended: practice.peek()?.mended ?? []});
    setLink({said: ""});
    void draw(seed);
  }, [seed, reached]);
  useEffect(() => {
    if (fromLink() !== null) place.current!.scrollIntoView();
    const onHash = () => fromLink() !== null && setSeed(fromLink()!);
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  const go = (to: number) => {
    history.replaceState(null, "", `#practice-${to}`);
    setSeed(to);
  };
  const copy = async () => {
    const url = new URL(`#practice-${seed}`, location.href).href;
    try {
      await navigator.clipboard.writeText(url);
      setLink({said: words.practice.copied});
    } catch {
      setLink({said: "", url}); // the browser does not let us: the reader copies it
    }
  };
  const done = () => {
    if (!mended.includes(seed)) keepPractice({seed, mended: [...mended, seed]});
    progress.mark(id);
  };
  return (
    <div class="hunt" ref={place} data-seed={seed}>
      <div class="w-bar">
        <span class="w-name">{words.practice.number(seed)}</span>
        <span class="hunt-count">{words.practice.count(mended.length)}</span>
        <span class="w-tools">
          <span class="said" role="status">{link.said}</span>
          {link.url && <input class="link" readOnly aria-label={words.practice.copyThis} value={link.url} ref={(field) => field?.select()} />}
          <button class="quiet" type="button" onClick={() => void copy()}>{words.practice.link}</button>
          <button class="btn" type="button" data-act="another" onClick={() => go(fresh())}>{words.practice.another}</button>
        </span>
      </div>
      {entry
        ? <Hunted key={entry.name} id={id} entry={entry} label={words.practice.number(seed)} onMended={done} next={{label: words.practice.another, go: () => go(fresh())}} />
        : <Wait failed={failed} onAgain={() => void draw(seed)} />}
    </div>
  );
}
