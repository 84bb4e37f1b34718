// One purchase or reservation, from the button to a certain answer.
import { call, Refused } from '../api.js';

/**
 * One attempt to buy. All its requests carry the same idempotency key, so that it
 * buys once, however often it is sent. hold: it reserves for so many seconds; async:
 * an answer when it is accepted is enough at first.
 * @typedef {{key: string, sku: number, user: number, strategy: string, hold?: number, async?: boolean}} Attempt
 * @typedef {{hold?: number, async?: boolean}} Way
 * @typedef {{code: string, order?: Json.Order, reservation?: string, detail?: string, at?: number, took?: number, accepted?: number}} Result
 *   reservation: its id; at: of the press, by the lab's clock; took: until the answer, accepted: until the first of two; all in ms
 */

// TypeScript 4.8 (Debian 12) does not know AbortSignal.timeout.
const Signal = /** @type {typeof AbortSignal & {timeout(ms: number): AbortSignal}} */ (AbortSignal);
/** @param {number} ms */
export const timeout = (ms) => Signal.timeout(ms);

export const patience = 20_000; // ms; longer than the service's own limit
export const lookups = 5;
/** @param {number} ms */
export const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** @param {import('./sale.js').Sale} sale @param {number} user @param {Way} [way] @returns {Attempt} */
export const attempt = (sale, user, way) => ({ key: crypto.randomUUID?.() ?? unique(), sku: sale.sku, user, strategy: sale.strategy, ...way });

// Browsers have randomUUID only with https or on localhost.
const unique = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');

/** Refusals after which certainly nothing was sold. */
const refusals = new Set(['sold_out', 'duplicate', 'busy', 'conflict', 'not_started', 'too_many_units', 'backend_unavailable',
  'strategy_unavailable', 'unknown_sku', 'unknown_strategy', 'invalid', 'forbidden', 'idempotency_mismatch']);

/**
 * Sends an attempt. Sending one again is safe.
 * @param {Attempt} a
 * @returns {Promise<Result>} with code "sold", "reserved", "accepted", that of a refusal, or "unknown"
 */
export async function send(a) {
  try {
    const order = await call('POST', `/api/v1/${a.hold ? 'reservations' : 'seckill'}?strategy=${encodeURIComponent(a.strategy)}`,
      { sku_id: a.sku, user_id: a.user, quantity: 1, ...(a.hold && { expires_in: a.hold }) },
      { headers: { 'Idempotency-Key': a.key, ...(a.async && { Prefer: 'respond-async' }) }, signal: timeout(patience) });
    if (a.hold) return { code: 'reserved', reservation: order.reservation_id };
    return order.status === 'accepted' ? { code: 'accepted' } : { code: 'sold', order };
  } catch (e) {
    if (e instanceof Refused && refusals.has(e.code)) return { code: e.code, detail: e.message };
    return { code: 'unknown', detail: e.message }; // no answer, or an inconclusive one
  }
}

/**
 * Asks once what became of an attempt.
 * @param {Attempt} a
 * @returns {Promise<Result>} "none": it has no order, and nothing is known of it
 */
async function ask(a) {
  const query = new URLSearchParams({ user_id: String(a.user), request_id: a.key, sku_id: String(a.sku) });
  try {
    const { orders, request } = await call('GET', `/api/v1/orders?${query}`);
    if (orders.length > 0) return a.hold ? { code: 'reserved', reservation: orders[0].order_id } : { code: 'sold', order: orders[0] };
    if (request?.status === 'pending') return { code: 'accepted' };
    if (request?.status === 'refused') return { code: request.code, detail: request.detail };
    return { code: request?.status === 'none' ? 'none' : 'unknown' };
  } catch {
    return { code: 'unknown' }; // no answer yet
  }
}

/**
 * Looks an attempt up in the ledger after its answer was lost. A missing order may
 * still appear, so this never says "not sold".
 * @param {Attempt} a
 * @returns {Promise<Result>}
 */
export async function lookUp(a) {
  for (let n = 0; n < lookups; n++) {
    await pause(n && 1000);
    const known = await ask(a);
    if (known.code !== 'none' && known.code !== 'unknown') return known;
  }
  return { code: 'unknown' };
}

const following = { first: 300, next: 1000, most: 30 }; // look-ups, in ms

/**
 * Waits for the final answer of an attempt that was accepted.
 * @param {Attempt} a
 * @returns {Promise<Result>} "accepted": not yet; "forgotten": accepted, and the service knows nothing of it any more
 */
export async function follow(a) {
  let missing = 0;
  for (let n = 0; n < following.most; n++) {
    await pause(n ? following.next : following.first);
    const known = await ask(a);
    missing = known.code === 'none' ? missing + 1 : 0;
    if (missing > 2) return { code: 'forgotten' };
    if (!['accepted', 'unknown', 'none'].includes(known.code)) return known;
  }
  return { code: 'accepted' };
}
