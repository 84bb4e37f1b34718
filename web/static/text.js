// The page's texts in the chosen language. t is a live binding: modules that draw
// again use the new texts.

/** @typedef {typeof import('./text/en.js').default} Words */
/** @type {Words} */
export let t;

/** The proof's sentences in the chosen language, by the English ones. English needs none. @type {Record<string, string>} */
export let sentences = {};

/** @param {string} language whose texts are loaded on first use */
export async function speak(language) {
  const proof = language === 'zh' && import('./guarantees/text/proof.zh.js');
  t = (await import(`./text/${language}.js`)).default;
  sentences = proof ? (await proof).default : {};
}
