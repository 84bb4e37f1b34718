// What people save as a file: a text, and the page's own look for one that is a page.

/** @param {BlobPart} text @param {string} type @param {string} name */
export function save(text, type, name) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // Firefox reads it later
}

/** The stylesheets of the page as it is; they name no other file. */
export const styles = () => [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText)).join('\n');
