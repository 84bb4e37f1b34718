// The sale that is on and the rivals in it, polled.
import { call } from '../api.js';
import { isOn, keep } from '../records.js';
import { useEffect, useState } from '../ui.js';

/**
 * unread: the counter of its stock cannot be read, and left is what was last known; reserves: what its strategy can.
 * @typedef {{sku: number, strategy: string, initial: number, left: number, unread: boolean, run: number, startsAt: string | null, reserves: boolean}} Sale
 */
/**
 * joined: the run of the sale that the rivals joined; lost: the shop does not answer; missing: nothing is on sale.
 * @typedef {{sale: Sale | null, rivals: Json.Run | null, joined: number, lost: boolean, missing: boolean}} State
 */

const pace = { quiet: 1000, busy: 300 }; // between two polls, in ms

const { get, set, use } = keep(/** @type {State} */ ({ sale: null, rivals: null, joined: 0, lost: false, missing: false }));

/** Hook: the state. */
export const useSale = use;

/** How far the clocks of the lab and of its database are ahead of performance.now(), in ms. */
const ahead = { lab: NaN, database: NaN };

/**
 * Milliseconds until a moment by one of these clocks, so that the browser's own does not
 * matter; 0 when it has come, or before the clock is known.
 * @param {keyof typeof ahead} clock @param {string} moment
 */
export const until = (clock, moment) => Math.max(0, Date.parse(moment) - ahead[clock] - performance.now()) || 0;

async function look() {
  /** @type {Json.Shop} */
  const shop = await call('GET', '/api/lab/v1/shop');
  ahead.lab = Date.parse(shop.now) - performance.now();
  /** @type {Json.SKU} */
  const sku = await call('GET', `/api/v1/skus/${shop.sku_id}`);
  ahead.database = Date.parse(sku.now) - performance.now();
  const left = shop.stock === 'row' ? sku.num : sku.stock_stores?.[shop.stock];
  const last = get().sale;
  const sale = {
    sku: sku.id, strategy: shop.strategy, initial: sku.initial, left: left ?? (last?.run === sku.run ? last.left : sku.num), unread: left === undefined,
    run: sku.run, startsAt: sku.starts_at, reserves: shop.reserves,
  };
  return { sale, rivals: shop.rivals, joined: shop.joined };
}

let timer = 0;
let turn = 0;

/** Polls now and from then on. Only the latest request counts. */
export async function refresh() {
  clearTimeout(timer);
  const mine = ++turn;
  try {
    const seen = await look();
    if (mine === turn) set({ ...seen, lost: false, missing: false });
  } catch (e) {
    if (mine === turn) set(e.code === 'unknown_sku' ? { sale: null, missing: true, lost: false } : { lost: true });
  }
  if (mine === turn && !document.hidden) timer = setTimeout(refresh, isOn(get().rivals) ? pace.busy : pace.quiet);
}

document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });

/**
 * Puts the next sale on: the strategy first, because purchases in between belong to
 * the sale that ends.
 * @param {string} strategy @param {number} stock
 */
export async function putOn(strategy, stock) {
  const { sku_id: sku } = await call('PUT', '/api/lab/v1/shop', { strategy });
  await call('PUT', `/api/v1/skus/${sku}`, { stock });
  await refresh();
}

/** A key. Browsers have randomUUID only with https or on localhost. */
export const unique = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');

/** The key of a restock whose outcome is not known: pressed again, the button adds these units once. */
let restockKey = '';

/** Adds units to the sale that is on. @param {Sale} sale @param {number} units */
export async function restock(sale, units) {
  restockKey ||= unique();
  try {
    await call('POST', `/api/v1/skus/${sale.sku}/restock?strategy=${sale.strategy}`, { units }, { headers: { 'Idempotency-Key': restockKey } });
    restockKey = '';
  } catch (e) {
    if (e.status < 500 && e.code !== 'in_progress') restockKey = ''; // nothing was added
    throw e;
  } finally {
    await refresh();
  }
}

/**
 * Hook: draws again whenever a second of what is left has passed.
 * @param {number} left in milliseconds
 */
export function useTicking(left) {
  const [, draw] = useState(0);
  useEffect(() => {
    if (left === 0) return undefined;
    const next = setTimeout(() => draw((n) => n + 1), left % 1000 + 1);
    return () => clearTimeout(next);
  });
}
