/** A text as the editor will show it, until that has come. */
import {PythonLines} from "../../ui/Python.tsx";

export const Waiting = ({text}: {text: string}) => <pre><PythonLines of={text} /></pre>;
