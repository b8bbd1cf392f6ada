/** The words of Python's sentences in a language, by the English ones, which are their ids. */
export type Dictionary = Record<string, string>;
export function said(json: string, dictionary: Dictionary): unknown;
