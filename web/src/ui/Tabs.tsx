/** A row of tabs. Arrows, Home and End move along it, and the focus goes with the choice. */
import type {ComponentChildren, Ref} from "preact";

export type TabItem = {
  key: string;
  label: ComponentChildren;
  /** Named where a panel says by which tab it is labelled. */
  id?: string;
};

type TabsProps = {label: string; tabs: readonly TabItem[]; at: number; panel: string; onChoose(index: number): void; list?: Ref<HTMLDivElement>};

export function Tabs({label, tabs, at, panel, onChoose, list}: TabsProps) {
  const keys = (event: KeyboardEvent) => {
    const last = tabs.length - 1;
    const to = {ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation(); // arrows mean something else to what the tabs stand in
    onChoose(to);
    (event.currentTarget as HTMLElement).querySelectorAll("button")[to]!.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={keys}>
      {tabs.map(({key, id, label: inside}, index) => (
        <button key={key} id={id} type="button" role="tab" aria-selected={index === at} aria-controls={panel} tabIndex={index === at ? 0 : -1} onClick={() => onChoose(index)}>
          {inside}
        </button>
      ))}
    </div>
  );
}

/** An element's name made from a widget's, which may hold a slash. */
export const panelId = (widget: string): string => `${widget.replace(/[^\w-]/g, "-")}-panel`;
