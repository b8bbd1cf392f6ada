// The little that every page needs to be made of text without harm.

const ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"};

export const escape = (text) => String(text).replace(/[&<>"]/g, (letter) => ENTITIES[letter]);

/** Data inside a page, in a script element that is never run: `<` cannot end it. */
export const jsonScript = (value) => `<script type="application/json">${JSON.stringify(value).replace(/</g, "\\u003c")}</script>`;

/** An address without accents: «Así se mide» becomes asi-se-mide. */
export const slugOf = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").replace(/<[^>]+>/g, "").replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
