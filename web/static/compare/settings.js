// The settings of a comparison, converted between the form (texts), the address,
// the lab's request and the command line.
import { words } from './text.js';

/** @typedef {keyof Json.Comparisons['defaults']} Name of a number */
/** @typedef {Record<Name, number>} Numbers */
/** @type {Name[]} */
export const numbers = ['stock', 'buyers', 'concurrency', 'quantity', 'repeats', 'turn_ms', 'few'];

/**
 * Builds an object with one value per name.
 * @template T
 * @param {(name: Name) => T} of
 * @returns {Record<Name, T>}
 */
const each = (of) => /** @type {Record<Name, T>} */ (Object.fromEntries(numbers.map((name) => [name, of(name)])));

/** The form's first choice: one strategy of each kind, so that it ends soon. */
const offered = ['naive', 'conditional', 'for-update', 'redis-watchdog', 'redis-counter-mysql'];

/** @typedef {Record<Name, string> & {strategies: string[], crowds: string, seed: string}} Form crowds: numbers by comma */

/** @param {string} text */
const crowdsOf = (text) => text.split(/[\s,，、]+/).filter(Boolean);

/** @param {Record<string, string>} query @param {Numbers} defaults @param {Json.Strategy[]} strategies @returns {Form} */
export function fromQuery(query, defaults, strategies) {
  const here = strategies.filter((s) => s.available).map((s) => s.name);
  const named = query.strategies === undefined ? offered.filter((name) => here.includes(name)) : query.strategies.split(',').filter(Boolean);
  return {
    strategies: named.join() === 'all' ? here : [...new Set(named)],
    seed: query.seed ?? '',
    crowds: query.crowds ?? '',
    ...each((name) => query[name] ?? String(defaults[name])),
  };
}

/** @param {Form | Json.ComparisonSettings} settings @param {Numbers} defaults */
export const toQuery = (settings, defaults) => ({
  strategies: settings.strategies.join(),
  ...Object.fromEntries(numbers.filter((name) => String(settings[name]) !== String(defaults[name])).map((name) => [name, String(settings[name])])),
  crowds: crowdsOf(String(settings.crowds ?? '')).join(),
  seed: settings.seed,
});

/**
 * The names, or "all" if every available strategy is chosen.
 * @param {Form} form @param {Json.Strategy[]} strategies
 */
export function named(form, strategies) {
  const here = strategies.filter((s) => s.available);
  return here.length && here.length === form.strategies.length && here.every((s) => form.strategies.includes(s.name)) ? ['all'] : form.strategies;
}

/**
 * The body of the lab's request.
 * @param {Form} form @param {Json.Strategy[]} strategies @returns {Numbers & {strategies: string[], crowds?: number[], seed?: string}}
 */
export const toSettings = (form, strategies) => ({
  strategies: named(form, strategies),
  ...each((name) => Number(form[name])),
  ...(form.crowds.trim() && { crowds: crowdsOf(form.crowds).map(Number) }),
  ...(form.seed.trim() && { seed: form.seed.trim() }),
});

/** @type {Partial<Numbers>} */
const lowest = { turn_ms: 0, few: 0 };
const mostCrowds = 8;
const mostSeed = 18446744073709551615n;

/** What is wrong, by field. The lab checks the same again.
 * @param {Form} form @param {Record<string, number>} limits @param {Numbers} defaults
 */
export function findWrong(form, limits, defaults) {
  const wrong = /** @type {Record<string, Json.Blame>} */ ({});
  if (!form.strategies.length) wrong.strategies = { code: 'none' };
  for (const name of numbers) {
    const [min, max] = [lowest[name] ?? 1, limits[name] ?? limits.concurrency];
    const text = form[name].trim();
    if (!/^\d+$/.test(text) || Number(text) < min || Number(text) > max) wrong[name] = { code: 'range', params: { min, max } };
  }
  const crowds = crowdsOf(form.crowds);
  if (crowds.length > mostCrowds || new Set(crowds.map(Number)).size < crowds.length
    || crowds.some((n) => !/^\d+$/.test(n) || Number(n) < 1 || Number(n) > limits.concurrency)) {
    wrong.crowds = { code: 'crowds', params: { max: limits.concurrency, most: mostCrowds } };
  }
  const seed = form.seed.trim();
  if (seed && (!/^\d{1,20}$/.test(seed) || BigInt(seed) > mostSeed)) wrong.seed = { code: 'seed' };
  if (Object.keys(wrong).length) return wrong;
  const [stock, buyers, concurrency, quantity, , , few] = numbers.map((name) => Number(form[name]));
  if (quantity > stock) wrong.quantity = { code: 'too_much', params: { stock } };
  else if (buyers * quantity <= stock) wrong.buyers = { code: 'no_demand', params: { least: Math.floor(stock / quantity) } };
  else if (few >= concurrency && few !== defaults.few) wrong.few = { code: 'few', params: { concurrency } };
  return wrong;
}

/**
 * A blame in words of comparisons, in the chosen language; blame.js knows the rest.
 * @param {Json.Blame | undefined} blame
 */
export function worded(blame) {
  const say = blame && words().wrong[blame.code];
  return say ? { code: '', detail: say(blame.params ?? {}) } : blame;
}

/**
 * The same on the command line.
 * @param {Form} form @param {Json.Strategy[]} strategies
 */
export function command(form, strategies) {
  const s = toSettings(form, strategies);
  return `seckill compare --strategies ${s.strategies.join()} --stock ${s.stock} --buyers ${s.buyers} --concurrency ${s.concurrency}`
    + ` --quantity ${s.quantity} --repeats ${s.repeats} --turn ${duration(s.turn_ms)} --few ${s.few}${s.crowds ? ` --crowds ${s.crowds.join()}` : ''}${s.seed ? ` --seed ${s.seed}` : ''}`;
}

/**
 * Formats milliseconds as a Go duration.
 * @param {number} ms
 */
function duration(ms) {
  if (ms === 0 || ms >= 60_000) {
    const [m, s] = [Math.floor(ms / 60_000), (ms % 60_000) / 1000];
    return m ? `${m}m${s}s` : '0s';
  }
  return ms < 1000 ? `${ms}ms` : `${ms / 1000}s`;
}

const baselines = 4;
/** @type {Name[]} */
const alike = ['stock', 'buyers', 'concurrency', 'quantity', 'turn_ms']; // settings that determine the duration

/** Seconds that a comparison will take, from and to; measured: as one with such a sale did.
 * @param {Form} form @param {Json.Strategy[]} strategies @param {Json.Comparison[]} all
 */
export function estimate(form, strategies, all) {
  const s = toSettings(form, strategies);
  const turn = s.turn_ms / 1000;
  const turns = s.repeats * form.strategies.length;
  const bare = s.repeats * baselines * (1 + (s.crowds ?? []).length) * Math.min(Math.max(turn, 0.2), 2) * 1.6;
  const like = all.find((c) => c.state === 'done' && !c.stopped && c.done > 0
    && alike.every((name) => c.settings[name] === s[name]) && String(c.settings.crowds ?? '') === String(s.crowds ?? '')
    && named(form, strategies).join() === c.settings.strategies.join());
  if (like) {
    const seconds = (like.seconds / like.settings.repeats) * s.repeats;
    return { from: seconds, to: seconds, measured: true };
  }
  // Slow locks answer some hundred requests per second, one statement some
  // thousand. A reset, a small warm-up sale and an audit come on top.
  const crowds = [s.concurrency, ...(s.crowds ?? []).filter((n) => n !== s.concurrency)];
  const sale = (/** @type {number} */ rate) => crowds.reduce((sum, n) => sum + 0.25 + (1.5 * n) / rate + Math.max(turn, s.buyers / rate), 0);
  return { from: bare + turns * sale(4000), to: bare + turns * sale(300) * 1.3, measured: false };
}
