// The current sale, polled, and the time by the server's clock.
import { call } from '../api.js';
import { useEffect, useState } from '../ui.js';

/**
 * @typedef {{sku: number, strategy: string, name: string, initial: number, left: number,
 *   run: number, startsAt: number | null}} Sale startsAt is in milliseconds since 1970
 */

const pace = 1000; // between two polls, in ms
const samples = 8; // of the server's clock

/** @type {{sale: Sale | null, lost: boolean, missing: boolean}} */
let state = { sale: null, lost: false, missing: false };
/** @type {Set<(now: typeof state) => void>} */
const watchers = new Set();
/** @param {Partial<typeof state>} change */
const tell = (change) => {
  state = { ...state, ...change };
  watchers.forEach((look) => look(state));
};

// The offset of the server's clock to this machine's monotonic clock. An answer is
// about half a round trip old, so the fastest of the last few is best.
/** @type {{ahead: number, trip: number}[]} */
let clock = [];
const best = () => clock.reduce((a, b) => (b.trip < a.trip ? b : a));

/** The server's time, in milliseconds since 1970; NaN before the first answer. */
export const serverNow = () => (clock.length ? performance.now() + best().ahead : NaN);

/** The error bound of serverNow, in milliseconds. */
export const clockError = () => (clock.length ? best().trip / 2 : NaN);

async function look() {
  /** @type {Json.Shop} */
  const shop = await call('GET', '/api/lab/v1/shop');
  const sent = performance.now();
  /** @type {Json.SKU} */
  const sku = await call('GET', `/api/v1/skus/${shop.sku_id}`);
  const trip = performance.now() - sent;
  clock = [...clock.slice(1 - samples), { ahead: Date.parse(sku.now) + trip / 2 - performance.now(), trip }];
  const outside = shop.stock === 'row' ? undefined : sku.homes?.[shop.stock];
  return {
    sku: sku.id, strategy: shop.strategy, name: sku.name, initial: sku.initial, run: sku.run,
    left: outside ?? sku.num,
    startsAt: sku.starts_at ? Date.parse(sku.starts_at) : null,
  };
}

let timer = 0;
let turn = 0;

/** Polls now and from then on. Only the latest request counts. */
export async function refresh() {
  clearTimeout(timer);
  const mine = ++turn;
  try {
    const sale = await look();
    if (mine === turn) tell({ sale, lost: false, missing: false });
  } catch (e) {
    if (mine === turn) tell(e.code === 'unknown_sku' ? { sale: null, missing: true, lost: false } : { lost: true });
  }
  if (mine === turn && !document.hidden) timer = setTimeout(refresh, pace);
}

document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });

/** Hook: the current sale. */
export function useSale() {
  const [now, setNow] = useState(state);
  useEffect(() => {
    watchers.add(setNow);
    setNow(state);
    return () => { watchers.delete(setNow); };
  }, []);
  return now;
}

/**
 * Milliseconds until the start; 0 when the sale is on.
 * @param {Sale | null} sale
 */
export const untilStart = (sale) => (sale?.startsAt ? Math.max(0, sale.startsAt - serverNow()) || 0 : 0);

/**
 * Hook: untilStart, updated every second.
 * @param {Sale | null} sale
 */
export function useCountdown(sale) {
  const [, draw] = useState(0);
  const left = untilStart(sale);
  useEffect(() => {
    if (left === 0) return undefined;
    const next = setTimeout(() => draw((n) => n + 1), left % 1000 + 1);
    return () => clearTimeout(next);
  });
  return left;
}
