/** What a notebook gives a widget: traits that Python holds too. */
import {useEffect, useState} from "preact/hooks";

export type Model<Traits> = {
  get<Name extends keyof Traits & string>(name: Name): Traits[Name];
  set<Name extends keyof Traits & string>(name: Name, value: Traits[Name]): void;
  save_changes(): void;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
};

/** A trait's value, now and after every change, whoever made it. */
export function useTrait<Traits, Name extends keyof Traits & string>(model: Model<Traits>, name: Name): Traits[Name] {
  const [value, setValue] = useState(() => model.get(name));
  useEffect(() => {
    const follow = () => setValue(() => model.get(name));
    follow(); // it may have changed before anyone listened
    model.on(`change:${name}`, follow);
    return () => model.off(`change:${name}`, follow);
  }, [model, name]);
  return value;
}

/** Set some traits and tell Python, unless they are so already. */
export function tell<Traits>(model: Model<Traits>, values: Partial<Traits>): void {
  const news = (Object.keys(values) as (keyof Traits & string)[]).filter((name) => JSON.stringify(model.get(name)) !== JSON.stringify(values[name]));
  if (!news.length) return;
  for (const name of news) model.set(name, values[name]!);
  model.save_changes();
}

/** Traits that a view moves by itself: what it tells is not told back to it, for it may have gone on meanwhile. */
export function shared<Traits>(model: Model<Traits>, names: (keyof Traits & string)[]) {
  let telling = false;
  return {
    tell: (values: Partial<Traits>): void => {
      telling = true;
      tell(model, values);
      telling = false;
    },
    listen: (callback: () => void): (() => void) => {
      const hear = () => !telling && callback();
      for (const name of names) model.on(`change:${name}`, hear);
      return () => names.forEach((name) => model.off(`change:${name}`, hear));
    },
  };
}
