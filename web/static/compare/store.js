// The page's state of comparisons. The event stream keeps the list current;
// results are fetched on demand.
import { call } from '../api.js';
import { news } from '../lab.js';
import { isOn, keep, taken } from '../records.js';
import { useEffect } from '../ui.js';

const path = '/api/lab/v1/comparisons';

/**
 * @typedef {{all: null} | {all: Json.Comparison[]} & Omit<Json.Comparisons, 'comparisons'>} Known
 *   newest first, without results; null: not asked for yet
 * @typedef {Known & {failure: Error | null}} State
 */

const { get, set, use } = keep(/** @type {State} */ ({ all: null, failure: null }));

/**
 * The comparison in progress, if any.
 * @param {Json.Comparison[] | null} all
 */
export const running = (all) => all?.find(isOn) ?? null;

/** Hook: the state. The first use asks the lab. */
export function useComparisons() {
  useEffect(() => { if (!get().all) load(); }, []);
  return use();
}

let changes = 0; // of one that were told: a list that was asked for before is asked for again

export async function load() {
  const before = changes;
  set({ failure: null });
  try {
    const { comparisons, ...rest } = await call('GET', path);
    if (changes !== before) load();
    else set({ all: comparisons, ...rest });
  } catch (error) {
    set({ failure: error });
  }
}

news.addEventListener('connected', () => { if (get().all || get().failure) load(); }); // it may be another lab
news.addEventListener('comparison', (e) => { if (e instanceof CustomEvent) take(e.detail); });

/** @param {Json.Comparison} changed */
function take(changed) {
  changes++;
  const { all } = get();
  if (all) set({ all: taken(all, changed) });
}

/** @param {string} preset @param {object} settings that differ @returns {Promise<Json.Comparison>} */
export async function start(preset, settings) {
  const begun = await call('POST', `${path}?preset=${encodeURIComponent(preset)}`, settings);
  if (!get().all?.some((c) => c.id === begun.id)) take(begun); // an event may have come before the answer
  return begun;
}

/** @param {Json.Comparison} comparison */
export const stop = (comparison) => call('DELETE', `${path}/${comparison.id}`);

/**
 * A comparison with its result.
 * @param {string} id @returns {Promise<Json.Comparison>}
 */
export const whole = (id) => call('GET', `${path}/${encodeURIComponent(id)}`);
