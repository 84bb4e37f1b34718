// The current sale, polled, and the time by the server's clock.
import { call } from '../api.js';
import { isOn } from '../records.js';
import { useEffect, useState } from '../ui.js';

/**
 * @typedef {{sku: number, strategy: string, name: string, initial: number, left: number,
 *   run: number, startsAt: number | null, reserves: boolean, accepts: boolean}} Sale startsAt is in milliseconds since 1970; reserves,
 *   accepts: what its strategy can
 */

const pace = { quiet: 1000, busy: 300 }; // between two polls, in ms
const samples = 8; // of the server's clock

/** @type {{sale: Sale | null, rivals: Json.Rivals | null, lost: boolean, missing: boolean}} */
let state = { sale: null, rivals: null, lost: false, missing: false };
/** @type {Set<(now: typeof state) => void>} */
const watchers = new Set();
/** @param {Partial<typeof state>} change */
const tell = (change) => {
  state = { ...state, ...change };
  watchers.forEach((look) => look(state));
};

// The offset of another machine's clock to this one's monotonic clock. An answer is
// about half a round trip old, so the fastest of the last few is best.
function distant() {
  /** @type {{ahead: number, trip: number}[]} */
  let seen = [];
  const best = () => seen.reduce((a, b) => (b.trip < a.trip ? b : a));
  return {
    /** @param {string} now @param {number} sent by this machine's clock */
    hear(now, sent) {
      const trip = performance.now() - sent;
      seen = [...seen.slice(1 - samples), { ahead: Date.parse(now) + trip / 2 - performance.now(), trip }];
    },
    now: () => (seen.length ? performance.now() + best().ahead : NaN),
    error: () => (seen.length ? best().trip / 2 : NaN),
  };
}
const ofSale = distant();
const ofLab = distant();

/** The server's time, in milliseconds since 1970; NaN before the first answer. */
export const serverNow = ofSale.now;

/** The error bound of serverNow, in milliseconds. */
export const clockError = ofSale.error;

/** The lab's time, by which rivals come. */
export const labNow = ofLab.now;

async function look() {
  const asked = performance.now();
  /** @type {Json.Shop} */
  const shop = await call('GET', '/api/lab/v1/shop');
  ofLab.hear(shop.now, asked);
  const sent = performance.now();
  /** @type {Json.SKU} */
  const sku = await call('GET', `/api/v1/skus/${shop.sku_id}`);
  ofSale.hear(sku.now, sent);
  const outside = shop.stock === 'row' ? undefined : sku.homes?.[shop.stock];
  const sale = {
    sku: sku.id, strategy: shop.strategy, name: sku.name, initial: sku.initial, run: sku.run,
    left: outside ?? sku.num,
    startsAt: sku.starts_at ? Date.parse(sku.starts_at) : null,
    reserves: shop.reserves, accepts: shop.accepts,
  };
  return { sale, rivals: shop.rivals };
}

let timer = 0;
let turn = 0;

/** Polls now and from then on. Only the latest request counts. */
export async function refresh() {
  clearTimeout(timer);
  const mine = ++turn;
  try {
    const seen = await look();
    if (mine === turn) tell({ ...seen, lost: false, missing: false });
  } catch (e) {
    if (mine === turn) tell(e.code === 'unknown_sku' ? { sale: null, missing: true, lost: false } : { lost: true });
  }
  if (mine === turn && !document.hidden) timer = setTimeout(refresh, isOn(state.rivals) ? pace.busy : pace.quiet);
}

document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });

/** Hook: the current sale, and the rivals in it. */
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
export const useCountdown = (sale) => useTicking(untilStart(sale));

/**
 * Hook: until the rivals come, updated every second; 0 when they are there.
 * @param {Json.Rivals | null} rivals
 */
export const useArrival = (rivals) => useTicking(isOn(rivals) && rivals ? Math.max(0, Date.parse(rivals.comes_at) - labNow()) || 0 : 0);

/**
 * Hook: draws again whenever a second of it has passed.
 * @param {number} left in milliseconds
 */
export function useTicking(left) {
  const [, draw] = useState(0);
  useEffect(() => {
    if (left === 0) return undefined;
    const next = setTimeout(() => draw((n) => n + 1), left % 1000 + 1);
    return () => clearTimeout(next);
  });
  return left;
}
