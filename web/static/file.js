// What people save as a file: a text, or a page with the look and the language of this one.
import { escape } from './trace/drawing.js';

/** @param {BlobPart} text @param {string} type @param {string} name */
export function save(text, type, name) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // Firefox reads it later
}

/** The stylesheets of the page as it is; they name no other file. */
const styles = () => [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText)).join('\n');

/**
 * A page that needs no network, with a title over its body.
 * @param {string} title @param {string} head what its head has besides, as HTML @param {string} body as HTML
 */
export const pageOf = (title, head, body) => `<!doctype html>
<html lang="${document.documentElement.lang}" data-theme="${document.documentElement.dataset.theme}"><head><meta charset="utf-8"><title>${escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${styles()}</style>${head}</head>
<body><main><h1>${escape(title)}</h1>${body}</main></body></html>
`;
