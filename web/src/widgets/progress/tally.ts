/** Counting what is done. No browser in here. */
export type Lesson = {number: number; slug: string; title: string; language?: string; tasks: {id: string; widget: string}[]};
export type Tally = Record<string, {done: number; all: number}>;

/** How many tasks of each kind there are in a lesson, and how many are done; kinds in the order they come. */
export function tally({tasks}: Lesson, done: Record<string, unknown>): Tally {
  const counts: Tally = {};
  for (const {id, widget} of tasks) {
    const count = (counts[widget] ??= {done: 0, all: 0});
    count.all++;
    if (id in done) count.done++;
  }
  return counts;
}
