// A reservation: read, paid, cancelled. Every call may be sent again.
import { call, Refused } from '../api.js';
import { lookups, patience, pause, timeout } from './purchase.js';

/**
 * A reservation as the shop last told it; endsAt is its deadline by this page's
 * own monotonic clock, reckoned from the time that the server says is left.
 * @typedef {{id: string, state: Json.ReservationState, until: string, endsAt: number}} Held
 * @typedef {{code: string, held?: Held, detail?: string}} Answer code: ok, that of a refusal, or unknown
 */

/** Answers after which the call has certainly changed nothing. */
const refusals = new Set(['expired', 'cancelled', 'paid', 'unknown_order', 'busy', 'rate_limited', 'conflict', 'backend_unavailable',
  'strategy_unavailable', 'forbidden', 'unauthenticated', 'invalid']);

/**
 * The deadline is counted from the middle of the call: an answer is about half a
 * round trip old. The clocks of buyer and server do not matter.
 * @param {Json.Reservation} r @param {number} sent by performance.now() @returns {Held}
 */
export const heldOf = (r, sent) => ({
  id: r.reservation_id, state: r.state, until: r.expires_at, endsAt: (sent + performance.now()) / 2 + r.expires_in_ms,
});

/** @param {string} method @param {string} id @param {string} [does] @returns {Promise<Answer>} */
async function ask(method, id, does = '') {
  const sent = performance.now();
  try {
    const r = await call(method, `/api/v1/reservations/${encodeURIComponent(id)}${does}`, undefined, { signal: timeout(patience) });
    return { code: 'ok', held: heldOf(r, sent) };
  } catch (e) {
    return { code: e instanceof Refused && refusals.has(e.code) ? e.code : 'unknown', detail: e.message };
  }
}

/** @param {string} id */
export const read = (id) => ask('GET', id);

/**
 * Pays or cancels. An answer that was lost is looked up; while the reservation is
 * still as it was, the call may yet arrive, so that is unknown.
 * @param {'pay' | 'cancel'} what @param {string} id @param {() => void} looking
 * @returns {Promise<Answer>}
 */
export async function settle(what, id, looking) {
  const answer = await (what === 'pay' ? ask('POST', id, '/pay') : ask('DELETE', id));
  if (answer.code !== 'unknown') return answer;
  looking();
  for (let n = 0; n < lookups; n++) {
    await pause(n && 1000);
    const now = await read(id);
    if (now.code === 'unknown_order' || (now.held && now.held.state !== 'reserved')) return now;
  }
  return answer;
}

/**
 * The reservation that a buyer holds in a sale, by the ledger: another page of
 * theirs may have made it.
 * @param {number} user @param {number} sku @returns {Promise<string | undefined>} its id
 */
export async function find(user, sku) {
  try {
    const { orders } = await call('GET', `/api/v1/orders?sku_id=${sku}&user_id=${user}`);
    return orders.find((/** @type {Json.Order} */ o) => o.status === 'active' && o.reservation?.state === 'reserved')?.order_id;
  } catch {
    return undefined; // the page says that the shop does not answer
  }
}
