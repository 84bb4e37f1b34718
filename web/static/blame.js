import { t } from './text.js';

/**
 * What is wrong with a field, in the chosen language. The lab sends a code with
 * its parameters, and an English sentence for codes without a translation.
 * @param {Json.Blame|undefined} blame
 */
export const say = (blame) => blame && (t.blamed[blame.code]?.(blame.params ?? {}) ?? blame.detail ?? blame.code);

/**
 * Whether a text is no seed: a whole number of 64 bits, or nothing.
 * @param {string} text
 */
export const noSeed = (text) => text !== '' && (!/^\d{1,20}$/.test(text) || BigInt(text) > 18446744073709551615n);
