// The settings of a sale, converted between the form (texts as typed), the
// address, a run, and the lab's request.
import { noSeed } from '../blame.js';

/** @typedef {{strategies: string[], profile: string} & Record<string, any>} Form */

/** The profiles, and the numbers that each needs. */
export const profiles = {
  closed: ['buyers', 'concurrency'], spike: ['buyers'], constant: ['rate', 'duration'],
};
const sale = ['stock', 'quantity'];
/** Settings of the service processes; empty: unchanged. */
export const services = ['services', 'lease_ms', 'wait_ms', 'poll_ms'];

/** @type {Form} */
export const defaults = {
  strategies: ['conditional'], stock: '100', quantity: '1', profile: 'closed', buyers: '2000', concurrency: '64',
  rate: '1000', duration: '5', seed: '', services: '', lease_ms: '', wait_ms: '', poll_ms: '',
  fault: '', // that happens early in the sale; not a field of the request
};

/**
 * What cannot be sent, by field. The lab checks everything else.
 * @param {Form} form @param {Json.Status['limits']} limits none until the lab has sent them
 */
export function findWrong(form, limits) {
  const wrong = /** @type {Record<string, Json.Blame>} */ ({});
  if (!form.strategies.length) wrong.strategies = { code: 'none' };
  if (noSeed(form.seed.trim())) wrong.seed = { code: 'seed' };
  for (const name of [...sale, ...(profiles[form.profile] ?? []), ...services]) {
    const { min, max } = limits[name] ?? { min: 0, max: Infinity };
    const typed = form[name].trim();
    if (!typed && services.includes(name)) continue;
    if (!/^\d+$/.test(typed) || Number(typed) < min || Number(typed) > max) {
      wrong[name] = { code: 'range', params: { min, max } };
    }
  }
  return wrong;
}

/**
 * The body of the request.
 * @param {Form} form
 */
export function request(form) {
  const given = (from, names) => Object.fromEntries(names.filter((name) => from[name].trim()).map((name) => [name, Number(from[name])]));
  const { duration, ...numbers } = given(form, [...sale, ...profiles[form.profile], ...services]);
  return {
    strategies: form.strategies, profile: form.profile, ...numbers, ...(duration && { duration_ns: duration * 1e9 }),
    ...(form.seed.trim() && { seed: form.seed.trim() }),
  };
}

/**
 * The query of an address with these settings.
 * @param {Form} form
 */
export const address = (form) => ({
  strategies: form.strategies.join(','), profile: form.profile,
  ...Object.fromEntries([...sale, ...profiles[form.profile], 'seed', ...services, 'fault'].map((name) => [name, form[name].trim()])),
});

/**
 * The form of an address; null without settings.
 * @returns {Form|null}
 */
export function fromAddress(query) {
  const known = Object.keys(defaults).filter((name) => name in query);
  if (!known.length) return null;
  const list = (text = '') => text.split(',').filter(Boolean);
  const form = { ...defaults, ...Object.fromEntries(known.map((name) => [name, query[name]])) };
  return {
    ...form,
    profile: form.profile in profiles ? form.profile : defaults.profile,
    strategies: 'strategies' in query ? [...new Set(list(query.strategies))] : defaults.strategies,
  };
}

/**
 * The form that would repeat a run.
 * @param {Json.Settings} settings @returns {Form}
 */
export function fromRun(settings) {
  const text = (value, otherwise) => (value === undefined || value === 0 ? otherwise : String(value));
  return {
    ...Object.fromEntries(Object.keys(defaults).map((name) => [name, text(settings[name], defaults[name])])),
    strategies: settings.strategies, profile: settings.profile, duration: text((settings.duration_ns ?? 0) / 1e9, defaults.duration),
  };
}

/**
 * The same sale, without what the lab chooses itself.
 * @param {Json.Settings} settings @returns {Form}
 */
export const another = (settings) => ({
  ...fromRun(settings), seed: '', ...Object.fromEntries(services.map((name) => [name, ''])),
});
