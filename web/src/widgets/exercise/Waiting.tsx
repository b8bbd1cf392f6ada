/** Code as it stands where the editor will be, until that has arrived. */
import {Python} from "../../ui/Python.tsx";

export const Waiting = ({text}: {text: string}) => <pre>{text.split("\n").map((line, i) => <code key={i}><Python of={line} />{"\n"}</code>)}</pre>;
