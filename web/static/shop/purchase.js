// One purchase, from the button to a certain answer.
import { call, Refused } from '../api.js';

/**
 * One attempt to buy. All its requests carry the same idempotency key, so that it
 * buys once, however often it is sent.
 * @typedef {{key: string, sku: number, user: number, strategy: string}} Attempt
 * @typedef {{code: string, order?: Json.Order, detail?: string, at?: number, took?: number}} Result at: of the press, by the lab's clock; both in ms
 */

// TypeScript 4.8 (Debian 12) does not know AbortSignal.timeout.
const Signal = /** @type {typeof AbortSignal & {timeout(ms: number): AbortSignal}} */ (AbortSignal);

const patience = 20_000; // ms; longer than the service's own limit
const lookups = 5;
/** @param {number} ms */
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** @param {import('./sale.js').Sale} sale @param {number} user @returns {Attempt} */
export const attempt = (sale, user) => ({ key: crypto.randomUUID?.() ?? unique(), sku: sale.sku, user, strategy: sale.strategy });

// Browsers have randomUUID only with https or on localhost.
const unique = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');

/** Refusals after which certainly nothing was sold. */
const refusals = new Set(['sold_out', 'duplicate', 'busy', 'rate_limited', 'conflict', 'not_started', 'too_many_units', 'backend_unavailable',
  'strategy_unavailable', 'unknown_sku', 'unknown_strategy', 'invalid', 'forbidden', 'idempotency_mismatch']);

/**
 * Sends an attempt. Sending one again is safe.
 * @param {Attempt} a
 * @returns {Promise<Result>} with code "sold", that of a refusal, or "unknown"
 */
export async function send(a) {
  try {
    const order = await call('POST', `/api/v1/seckill?strategy=${encodeURIComponent(a.strategy)}`,
      { sku_id: a.sku, user_id: a.user, quantity: 1 },
      { headers: { 'Idempotency-Key': a.key }, signal: Signal.timeout(patience) });
    return { code: 'sold', order };
  } catch (e) {
    if (e instanceof Refused && refusals.has(e.code)) return { code: e.code, detail: e.message };
    return { code: 'unknown', detail: e.message }; // no answer, or an inconclusive one
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
    try {
      const query = new URLSearchParams({ user_id: String(a.user), request_id: a.key });
      const { orders } = await call('GET', `/api/v1/orders?${query}`);
      if (orders.length > 0) return { code: 'sold', order: orders[0] };
    } catch { /* no answer yet */ }
  }
  return { code: 'unknown' };
}
