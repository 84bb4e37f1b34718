// The page's texts in the chosen language. t is a live binding: modules that draw
// again use the new texts.

/** @typedef {typeof import('./text/en.js').default} Words */
/** @type {Words} */
export let t;

/** The proof's sentences in the chosen language, by the English ones. English needs none. @type {Record<string, string>} */
export let sentences = {};

/** @param {string} language whose texts are loaded on first use */
export const load = (language) => Promise.all([import(`./text/${language}.js`), language === 'zh' ? import('./guarantees/text/proof.zh.js') : { default: {} }]);

/** @param {string} language */
export async function speak(language) {
  [{ default: t }, { default: sentences }] = await load(language);
}
