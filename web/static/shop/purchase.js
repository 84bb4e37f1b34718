// One purchase or reservation, from the button to a certain answer.
import { call, Refused } from '../api.js';
import { recalled, remember } from '../preferences.js';
import { useEffect, useRef, useState } from '../ui.js';
import { buyer } from './buyer.js';
import { refresh, unique } from './sale.js';

/**
 * All requests of an attempt carry the same idempotency key, so that it buys once,
 * however often it is sent. hold: it reserves for so many seconds; run: of the sale.
 * @typedef {{key: string, sku: number, run: number, user: number, strategy: string, hold: number}} Attempt
 */
/**
 * code: sold, reserved, that of a refusal, looking or unknown; took: until the answer, in ms.
 * @typedef {{code: string, order?: string, detail?: string, took?: number}} Result
 */
/** @typedef {{busy: boolean, result: Result | null, attempt: Attempt | null}} Purchase */

/** For how many seconds a buyer reserves: time to think, and short enough to see it expire. */
const hold = 20;

// TypeScript 4.8 (Debian 12) does not know AbortSignal.timeout.
const Signal = /** @type {typeof AbortSignal & {timeout(ms: number): AbortSignal}} */ (AbortSignal);
const patience = 20_000; // ms; longer than the service's own limit
const lookups = 5;

/** What the service tells a copy only if its key has no order, and is getting none. */
const final = new Set(['sold_out', 'duplicate', 'busy', 'conflict', 'idempotency_mismatch']);

/**
 * Whether after this answer certainly nothing was sold.
 * @param {unknown} e @param {boolean} copy of a request whose outcome is not known
 */
const settles = (e, copy) => e instanceof Refused && (final.has(e.code) || (!copy && e.code !== 'in_progress' && (e.status < 500 || e.status === 503)));

/** @param {Attempt} a @param {string} order @returns {Result} */
const got = (a, order) => ({ code: a.hold ? 'reserved' : 'sold', order });

/**
 * Sends an attempt. Sending one again is safe.
 * @param {Attempt} a @param {boolean} copy @returns {Promise<Result>}
 */
async function send(a, copy) {
  try {
    const order = await call('POST', `/api/v1/${a.hold ? 'reservations' : 'seckill'}?strategy=${encodeURIComponent(a.strategy)}`,
      { sku_id: a.sku, user_id: a.user, quantity: 1, ...(a.hold && { expires_in: a.hold }) },
      { headers: { 'Idempotency-Key': a.key }, signal: Signal.timeout(patience) });
    return got(a, order.reservation_id ?? order.order_id);
  } catch (e) {
    if (settles(e, copy)) return { code: e.code, detail: e.message };
    return { code: 'unknown', detail: e.message }; // no answer, or an inconclusive one
  }
}

/**
 * Looks an attempt up in the ledger after its answer was lost. A missing order may
 * still appear, so this never says "not sold".
 * @param {Attempt} a @returns {Promise<Result>}
 */
async function lookUp(a) {
  const query = new URLSearchParams({ user_id: String(a.user), request_id: a.key, sku_id: String(a.sku) });
  for (let n = 0; n < lookups; n++) {
    if (n) await new Promise((done) => { setTimeout(done, 1000); });
    const found = await call('GET', `/api/v1/orders?${query}`).catch(() => ({ orders: [] })); // no answer yet
    if (found.orders.length > 0) return got(a, found.orders[0].order_id);
  }
  return { code: 'unknown' };
}

// An attempt is stored until its outcome is known, so that a reload or a crash
// does not lose it.
/** @param {number} user */
const place = (user) => `shop.attempt.${user}`;

/** @type {Purchase} */
const nothing = { busy: false, result: null, attempt: null };

/**
 * Hook: the purchase in progress, or the last one.
 * @param {import('./sale.js').Sale | null} sale @param {number} user
 */
export function usePurchase(sale, user) {
  const [state, setState] = useState(nothing);
  const going = useRef(/** @type {Map<number, Purchase>} */ (new Map())); // what is under way, by buyer: one at a time

  const show = (/** @type {Attempt} */ a, /** @type {boolean} */ busy, /** @type {Result | null} */ result) => { // only to its own buyer
    const now = { busy, result, attempt: a };
    if (busy) going.current.set(a.user, now);
    else going.current.delete(a.user);
    if (a.user === buyer()) setState(now);
  };
  const finish = (/** @type {Attempt} */ a, /** @type {Result} */ result) => {
    const ended = result.code === 'unknown' && run.current !== a.run; // its sale: no order of it counts any more
    if (ended || result.code !== 'unknown') remember(place(a.user), '');
    show(a, false, ended ? null : result);
    refresh();
  };
  const look = async (/** @type {Attempt} */ a) => {
    show(a, true, { code: 'looking' });
    finish(a, await lookUp(a));
  };
  const go = async (/** @type {Attempt} */ a, copy = false) => {
    if (going.current.has(a.user)) return; // a second press is part of the first
    show(a, true, null);
    remember(place(a.user), JSON.stringify(a));
    const pressed = performance.now();
    const result = await send(a, copy);
    if (result.code === 'unknown') await look(a);
    else finish(a, { ...result, took: performance.now() - pressed });
  };

  const run = useRef(sale?.run);
  useEffect(() => { // another buyer, or another sale: the ledger says whether an order of it came of what is not known
    run.current = sale?.run;
    if (!sale) return;
    const left = /** @type {Attempt | null} */ (recalled(place(user), null));
    const now = going.current.get(user);
    if (!now && left?.user === user) look(left);
    else setState(now ?? nothing);
  }, [user, sale?.run]);

  return {
    ...state,
    buy: () => {
      if (state.attempt && state.result?.code === 'unknown') go(state.attempt, true); // asked again, with its key
      else if (sale) go({ key: unique(), sku: sale.sku, run: sale.run, user, strategy: sale.strategy, hold: sale.reserves ? hold : 0 });
    },
  };
}
