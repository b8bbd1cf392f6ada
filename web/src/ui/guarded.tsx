/** Around a widget. One that fails says so in its place, and the rest of the page goes on. */
import {Component, type ComponentChild} from "preact";
import {ui as words} from "../strings/en/ui.ts";
import {Icon} from "./icons.tsx";

export class Guard extends Component<{children: ComponentChild}, {error: unknown}> {
  override state = {error: undefined};

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({error});
  }

  override render({children}: {children: ComponentChild}, {error}: {error: unknown}): ComponentChild {
    return error === undefined ? children : <Broken why={words.broken.failed} onAgain={() => this.setState({error: undefined})} />;
  }
}

/** What stands in the place of a widget that is not there. */
export function Broken({why, onAgain}: {why: string; onAgain(): void}) {
  return (
    <div class="broken reply miss" role="alert">
      <p class="reply-h"><Icon name="miss" />{words.broken.title}</p>
      <p>{why}</p>
      <p><button class="btn" type="button" onClick={onAgain}><Icon name="again" />{words.broken.again}</button></p>
    </div>
  );
}
