// The page's texts in the chosen language. t is a live binding: modules that draw
// again use the new texts.

/** @typedef {typeof import('./text/en.js').default} Words */
/** @type {Words} */
export let t;

/** @param {string} language whose texts are loaded on first use */
export const speak = async (language) => { t = (await import(`./text/${language}.js`)).default; };
