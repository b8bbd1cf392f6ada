import {Component, type ComponentChild, type ComponentType} from "preact";

/** A view that is drawn anew only when one of its properties is another one: most of a graph stays as it is at a step. */
export function memo<Props extends object>(view: (props: Props) => ComponentChild): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const names = Object.keys(next) as (keyof Props)[];
      return names.some((name) => next[name] !== this.props[name]);
    }
    override render(props: Props): ComponentChild {
      return view(props);
    }
  };
}
