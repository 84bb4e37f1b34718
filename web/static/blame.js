import { t } from './text.js';

/**
 * What is wrong with a field, in the language chosen: the lab gives a code and
 * what it is about, and a sentence of its own for codes that nobody translated.
 * @param {Json.Blame|undefined} blame
 */
export const say = (blame) => blame && (t.blamed[blame.code]?.(blame.params ?? {}) ?? blame.detail ?? blame.code);
