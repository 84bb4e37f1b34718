// The page's state of the lab, kept current by one event stream. The page never
// computes what the lab can tell it, so that all tabs and reloads agree.
import { call } from './api.js';
import { isOn, keep, taken } from './records.js';
import { isSite } from './source.js';
import { t } from './text.js';

/**
 * @typedef {object} State
 * @property {boolean | null} connected null: not yet; false: lost, retrying
 * @property {Json.Status | null} status
 * @property {Json.Strategy[]} strategies
 * @property {boolean} answered whether it is known which there are
 * @property {Json.Run[]} runs newest first, without their points
 * @property {Json.Run | null} newest the newest run with its points
 */

const { get, set, use } = keep(/** @type {State} */ ({ connected: null, status: null, strategies: [], answered: false, runs: [], newest: null }));

/** Hook: the state. */
export const useLab = use;

/** Events for other modules: `begun`, of a run, `comparison`, with its detail, and
 * `connected`, after which everything may have changed. */
export const news = new EventTarget();

/** @param {object} settings @returns {Promise<Json.Run>} */
export const start = (settings) => call('POST', '/api/lab/v1/runs', settings);
/** @param {Json.Run} run */
export const stop = (run) => call('DELETE', `/api/lab/v1/runs/${run.id}`);
/**
 * Injects a fault into a run in progress.
 * @param {Json.Run} run @param {Partial<Json.PlannedFault>} fault
 */
export const inject = (run, fault) => call('POST', `/api/lab/v1/runs/${run.id}/faults`, fault);

/**
 * Starts a run and plans a fault for its second second.
 * @param {object} settings @param {string} kind of the fault
 */
export async function startWithFault(settings, kind) {
  const run = await start(settings);
  await inject(run, { kind, at_ms: 1000 });
}

/** @param {string} id @returns {Promise<Json.Run>} */
export const whole = (id) => call('GET', `/api/lab/v1/runs/${encodeURIComponent(id)}`);

/** @type {EventSource | undefined} */
let stream;

/**
 * Connects, and reconnects as long as the page is open. Called again when it is hidden
 * or shown: a browser has six connections to a lab for all its tabs, and a stream in
 * each would leave none for the seventh.
 */
export function connect() {
  stream?.close();
  if (isSite || document.hidden) return;
  const events = new EventSource('/api/lab/v1/events');
  stream = events;
  events.addEventListener('hello', (e) => welcome(JSON.parse(e.data)));
  events.addEventListener('run', (e) => changed(JSON.parse(e.data)));
  events.addEventListener('lab', refresh);
  events.addEventListener('comparison', (e) => news.dispatchEvent(new CustomEvent('comparison', { detail: JSON.parse(e.data) })));
  events.onerror = () => {
    set({ connected: false });
    if (events.readyState !== EventSource.CLOSED) return; // the browser reconnects by itself
    setTimeout(connect, 2000);
  };
}

/** @param {{runs: Json.Run[]}} hello */
function welcome({ runs }) {
  const still = (/** @type {Json.Run|null} */ run) => (runs.some((r) => r.id === run?.id) ? run : null); // it may be another lab
  set({ connected: true, runs, newest: still(get().newest) });
  refresh();
  news.dispatchEvent(new Event('connected'));
}

let wanted = false; // the list of strategies is most of what there is to load, and the first view does without

/** Has the strategies loaded, and kept current from then on. */
export function wantStrategies() {
  if (wanted) return;
  wanted = true;
  refresh();
}

/** What is said where there are no strategies to choose from. */
export const noStrategies = () => (get().answered ? t.form.noStrategies : t.nav.loading);

let turn = 0;

/** Fetches what no event reports: the servers and strategies. Only the latest request counts. */
async function refresh() {
  const mine = ++turn;
  const [status, known] = await Promise.allSettled([
    call('GET', '/api/lab/v1/status'), wanted ? call('GET', '/api/v1/strategies') : Promise.reject(),
  ]);
  if (mine !== turn) return;
  if (status.status === 'fulfilled') set({ status: status.value });
  if (known.status === 'fulfilled') set({ strategies: known.value.strategies });
  if (wanted) set({ answered: true });
}

/** @param {Json.Run} run */
function changed(run) {
  const { runs, newest } = get();
  const summary = { ...run, lanes: run.lanes.map(({ points, ...lane }) => lane) };
  const isNew = !runs.some((r) => r.id === run.id);
  set({ newest: run, runs: taken(runs, summary) });
  if (isNew) news.dispatchEvent(new Event('begun'));
  if (isOn(newest) && !isOn(run)) refresh(); // a service may have died in it
}
