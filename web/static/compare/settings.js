// The settings of a comparison, converted between the form (texts), the address
// and the lab's request. Presets and ranges are the lab's.
import { noSeed } from '../blame.js';

/** Numbers of the form. */
export const numbers = /** @type {const} */ (['stock', 'buyers', 'concurrency', 'skus', 'zipf', 'quantity', 'rounds', 'turn']);
/** @typedef {typeof numbers[number]} Name */
/** @typedef {Record<Name | 'preset' | 'crowds' | 'seed' | 'keys', string> & {strategies: string[]}} Form turn: milliseconds; crowds: numbers by comma; keys: on, or empty */

/** All but the strategies, which are chosen elsewhere. */
const texts = /** @type {const} */ ([...numbers, 'crowds', 'seed', 'keys']);

/** @param {string} text */
const crowdsOf = (text) => text.split(/[\s,，、]+/).filter(Boolean);

/**
 * The texts of a comparison's settings.
 * @param {Json.CompareSettings} s @returns {Form}
 */
export const toForm = (s) => ({
  preset: s.preset, strategies: s.strategies, crowds: (s.crowds ?? []).join(', '), seed: '', keys: s.keys ? 'on' : '',
  .../** @type {Record<Name, string>} */ (Object.fromEntries(numbers.map((name) => [name, String(name === 'turn' ? s.turn_ns / 1e6 : s[name] ?? 0)]))),
});

/** @param {Json.Preset[]} presets @param {string} [name] */
export const presetOf = (presets, name) => presets.find((p) => p.name === name) ?? presets[0];

/** @param {Record<string, string>} query @param {Json.Preset[]} presets @param {Json.Strategy[]} strategies @returns {Form} */
export function fromQuery(query, presets, strategies) {
  const here = strategies.filter((s) => s.available).map((s) => s.name);
  const form = toForm(presetOf(presets, query.preset));
  const named = query.strategies === undefined ? form.strategies.filter((name) => here.includes(name)) : query.strategies.split(',').filter(Boolean);
  for (const name of texts) form[name] = query[name] ?? form[name];
  return { ...form, strategies: named.join() === 'all' ? here : [...new Set(named)] };
}

/** @param {Form} form @param {Json.Preset[]} presets */
export function toQuery(form, presets) {
  const usual = toForm(presetOf(presets, form.preset));
  const changed = texts.filter((name) => form[name] !== usual[name]);
  return {
    preset: form.preset === presets[0].name ? '' : form.preset,
    strategies: form.strategies.join(),
    ...Object.fromEntries(changed.map((name) => [name, form[name]])),
  };
}

/**
 * The names, or "all" if every available strategy is chosen.
 * @param {Form} form @param {Json.Strategy[]} strategies
 */
export function named(form, strategies) {
  const here = strategies.filter((s) => s.available);
  return here.length && here.length === form.strategies.length && here.every((s) => form.strategies.includes(s.name)) ? ['all'] : form.strategies;
}

/**
 * The body of the lab's request: what differs from the preset.
 * @param {Form} form @param {Json.Strategy[]} strategies @param {Json.Preset[]} presets
 */
export function toRequest(form, strategies, presets) {
  const usual = toForm(presetOf(presets, form.preset));
  const changed = numbers.filter((name) => form[name].trim() !== usual[name]);
  return {
    strategies: named(form, strategies),
    ...Object.fromEntries(changed.map((name) => (name === 'turn' ? ['turn_ns', 1e6 * Number(form.turn)] : [name, Number(form[name])]))),
    ...(form.crowds.trim() && { crowds: crowdsOf(form.crowds).map(Number) }),
    ...(form.keys && { keys: true }),
    ...(form.seed.trim() && { seed: form.seed.trim() }),
  };
}

/**
 * What is wrong, by field; the lab finds the rest.
 * @param {Form} form @param {Record<string, {min: number, max: number}>} ranges
 */
export function findWrong(form, ranges) {
  const wrong = /** @type {Record<string, Json.Blame>} */ ({});
  if (!form.strategies.length) wrong.strategies = { code: 'none' };
  const check = (/** @type {string} */ name, /** @type {string} */ text, /** @type {number} */ unit) => {
    const { min, max } = ranges[name];
    const whole = name === 'zipf' ? /^\d+(\.\d+)?$/ : /^\d+$/;
    if (!whole.test(text) || Number(text) < min * unit || Number(text) > max * unit) wrong[name] = { code: 'range', params: { min: min * unit, max: max * unit } };
  };
  for (const name of numbers) check(name, form[name].trim(), name === 'turn' ? 1000 : 1);
  for (const text of crowdsOf(form.crowds)) check('crowds', text, 1);
  if (noSeed(form.seed.trim())) wrong.seed = { code: 'seed' };
  return wrong;
}
