/** How many pages this document has shown: whoever marks something on a page does it again when another arrives. */
import {signal} from "@preact/signals";

export const arrivals = signal(0);
