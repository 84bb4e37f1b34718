// What the page knows of comparisons. The event stream keeps the list current;
// a result is fetched when it is looked at.
import { call } from '../api.js';
import { news } from '../lab.js';
import { useEffect, useState } from '../ui.js';

const path = '/api/lab/v1/comparisons';

/** @typedef {{strategies: string[], stock: number, buyers: number, concurrency: number, quantity: number,
 *   repeats: number, turn_ms: number, few: number, seed: string}} Settings */
/** @typedef {{strategy: string, concurrency: number, rounds: number, verdict: string, breaks: boolean, expected: boolean,
 *   sales_per_second: number, p99_ms: number, not_run?: string}} Standing */
/** @typedef {{id: string, settings: Settings, command: string, state: string, stopped: boolean, started: string, done: number,
 *   total: number, step: string, standings?: Standing[], seconds: number, not_kept?: string, result?: any,
 *   verdicts?: {held: number, caught: number, other: number, not_run: number}}} Comparison */

let state = {
  /** newest first, without results; null: not asked for yet */
  all: /** @type {Comparison[] | null} */ (null),
  limits: null, defaults: null, history: null,
  failure: '',
};

const listeners = new Set();

function set(change) {
  state = { ...state, ...change };
  for (const listener of listeners) listener(state);
}

/** @param {{state: string} | null | undefined} comparison */
export const isOn = (comparison) => comparison?.state === 'running' || comparison?.state === 'stopping';

/** The comparison that is on, if any. */
export const running = (all) => all?.find(isOn) ?? null;

/** The state, in a component. The first to use it asks the lab. */
export function useComparisons() {
  const [now, setNow] = useState(state);
  useEffect(() => {
    listeners.add(setNow);
    if (state.all) setNow(state);
    else load();
    return () => listeners.delete(setNow);
  }, []);
  return now;
}

export async function load() {
  set({ failure: '' });
  try {
    const { comparisons, ...rest } = await call('GET', path);
    set({ all: comparisons, ...rest });
  } catch (error) {
    set({ failure: error.message });
  }
}

news.addEventListener('connected', () => { if (state.all) load(); }); // it may be another lab
news.addEventListener('comparison', ({ detail }) => take(detail));

/** @param {Comparison} changed */
function take(changed) {
  if (!state.all) return;
  const known = state.all.some((c) => c.id === changed.id);
  if (changed.state === 'removed') set({ all: state.all.filter((c) => c.id !== changed.id) });
  else set({ all: known ? state.all.map((c) => (c.id === changed.id ? changed : c)) : [changed, ...state.all] });
}

/** @param {Partial<Settings>} settings @returns {Promise<Comparison>} */
export async function start(settings) {
  const begun = await call('POST', path, settings);
  take(begun);
  return begun;
}

/** Stops one that is on, removes one that has ended. @param {Comparison} comparison */
export const end = async (comparison) => {
  const left = await call('DELETE', `${path}/${comparison.id}`);
  take(left);
  return left;
};

/** @param {string} id @returns {Promise<Comparison>} */
export const whole = (id) => call('GET', `${path}/${encodeURIComponent(id)}`);

export const against = (id, older) => call('GET', `${path}/${encodeURIComponent(id)}/against/${encodeURIComponent(older)}`);

/** Where a form of the result is: report.html, result.json, table.csv, table.md. */
export const file = (id, name) => `${path}/${encodeURIComponent(id)}/${name}`;
