// What the page knows of the lab. One event stream keeps it current; the page
// never computes anything that the lab could tell it, so that every tab and
// every reload shows the same.
import { call } from './api.js';
import { useEffect, useState } from './ui.js';

let state = {
  /** null: not yet; false: lost, and trying again */
  connected: /** @type {boolean|null} */ (null),
  status: null, // GET /status
  strategies: /** @type {any[]} */ ([]),
  runs: /** @type {any[]} */ ([]), // newest first, without their course
  newest: null, // the newest run with its course
  chosen: null, // an older run that is looked at instead
};

const listeners = new Set();

function set(change) {
  state = { ...state, ...change };
  for (const listener of listeners) listener(state);
}

/** The state, in a component. */
export function useLab() {
  const [now, setNow] = useState(state);
  useEffect(() => {
    listeners.add(setNow);
    setNow(state); // it may have changed since the first drawing
    return () => listeners.delete(setNow);
  }, []);
  return now;
}

/** @param {{state: string}|null} run */
export const isOn = (run) => run?.state === 'running' || run?.state === 'stopping';

export const start = (settings) => call('POST', '/api/lab/v1/runs', settings);
export const stop = (run) => call('DELETE', `/api/lab/v1/runs/${run.id}`);

/** Look at a run of the history; null: at the newest again. */
export async function choose(id) {
  const newest = id === null || id === state.newest?.id;
  set({ chosen: newest ? null : await call('GET', `/api/lab/v1/runs/${id}`) });
}

/** Connects, and connects again for as long as the page is open. */
export function connect() {
  const events = new EventSource('/api/lab/v1/events');
  events.addEventListener('hello', (e) => welcome(JSON.parse(e.data)));
  events.addEventListener('run', (e) => changed(JSON.parse(e.data)));
  events.addEventListener('snapshot', (e) => advance(JSON.parse(e.data)));
  events.addEventListener('lab', refresh);
  events.onerror = () => {
    set({ connected: false });
    if (events.readyState !== EventSource.CLOSED) return; // the browser tries again itself
    setTimeout(connect, 2000);
  };
}

function welcome({ runs }) {
  const still = (run) => (runs.some((r) => r.id === run?.id) ? run : null); // it may be another lab
  set({ connected: true, runs, newest: still(state.newest), chosen: still(state.chosen) });
  refresh();
}

/** Asks for what no event tells: what the lab runs on. */
export async function refresh() {
  const [status, known] = await Promise.allSettled([
    call('GET', '/api/lab/v1/status'), call('GET', '/api/v1/strategies'),
  ]);
  set({
    status: status.value ?? state.status,
    strategies: known.value?.strategies ?? state.strategies,
  });
}

function changed(run) {
  const { points, ...summary } = run;
  const others = state.runs.filter((r) => r.id !== run.id);
  const isNew = others.length === state.runs.length;
  set({
    newest: { ...run, points: points ?? [] },
    runs: [summary, ...others],
    chosen: isNew ? null : state.chosen,
  });
  if (!isOn(run)) refresh(); // a service may have died in it
}

function advance({ from, points = [], ...run }) {
  const before = state.newest?.id === run.id ? state.newest.points : [];
  set({ newest: { ...run, points: [...before.slice(0, from), ...points] } });
}
