/** Python as HTML, coloured. */
export function python(code: string): string;
