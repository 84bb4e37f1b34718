// The page's texts in the chosen language. t is a live binding: modules that draw
// again use the new texts.

/** @typedef {typeof import('./text/en.js').default} Words */
/** @type {Record<string, Words>} */
const learned = {};

/**
 * A language's texts, loaded on first use.
 * @param {string} language @returns {Promise<Words>}
 */
export const learn = async (language) => {
  learned[language] ??= (await import(`./text/${language}.js`)).default;
  return learned[language];
};

/** @type {Words} */
export let t;

/** @param {string} language */
export const speak = async (language) => { t = await learn(language); };
