/** Python in the page, coloured as in the lessons: never HTML, only text in spans. */
import {tokens} from "../../builder/tokens.mjs";

export function Python({of}: {of: string}) {
  return <>{tokens(of).map(({kind, text}, index) => {
    switch (kind) {
      case "keyword": return <b key={index}>{text}</b>;
      case "plain": return text;
      case "note": return <span key={index} class="c-note">{text}</span>;
      case "text": return <span key={index} class="c-text">{text}</span>;
      default: return <span key={index} class={kind}>{text}</span>;
    }
  })}</>;
}
