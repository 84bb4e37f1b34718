// The words of the page, in the language that was chosen. Modules see t change,
// and whoever draws again draws the new words.

export const languages = ['en', 'zh'];
/** @typedef {typeof import('./text/en.js').default} Words */
/** @type {Record<string, Words>} */
const learned = {};

/**
 * A language's words; they are loaded when they are first wanted.
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
