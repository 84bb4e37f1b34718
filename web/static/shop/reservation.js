// A reservation: read, paid, cancelled. Every call may be sent again.
import { call, Refused } from '../api.js';
import { lookups, patience, pause, timeout } from './purchase.js';

/**
 * A reservation as the shop last told it. Its deadline, by this page's own monotonic
 * clock, is from low to high; endsAt is their middle.
 * @typedef {{id: string, state: Json.ReservationState, until: string, low: number, high: number, endsAt: number}} Held
 * @typedef {{code: string, held?: Held}} Answer code: ok, that of a refusal, or unknown
 */

/** Answers after which the call has certainly changed nothing. */
const refusals = new Set(['expired', 'cancelled', 'paid', 'unknown_order', 'busy', 'conflict', 'backend_unavailable',
  'strategy_unavailable', 'forbidden', 'invalid']);

/**
 * The server's word on what is left was true at some moment of the call. The clocks
 * of buyer and server do not matter.
 * @param {Json.Reservation} r @param {number} sent by performance.now() @returns {Held}
 */
const heldOf = (r, sent) => between({ id: r.reservation_id, state: r.state, until: r.expires_at },
  sent + r.expires_in_ms, performance.now() + r.expires_in_ms);

/** @param {Pick<Held, 'id' | 'state' | 'until'>} r @param {number} low @param {number} high @returns {Held} */
const between = (r, low, high) => ({ ...r, low, high, endsAt: (low + high) / 2 });

/**
 * Two readings say more than one, unless they contradict each other: then this
 * machine was asleep between them.
 * @param {Held | null} before @param {Held} now @returns {Held}
 */
export function sharper(before, now) {
  if (before?.id !== now.id || now.state !== 'reserved') return now;
  const [low, high] = [Math.max(before.low, now.low), Math.min(before.high, now.high)];
  return low <= high ? between(now, low, high) : now;
}

/** @param {string} method @param {string} id @param {string} [does] @returns {Promise<Answer>} */
async function ask(method, id, does = '') {
  const sent = performance.now();
  try {
    const r = await call(method, `/api/v1/reservations/${encodeURIComponent(id)}${does}`, undefined, { signal: timeout(patience) });
    return { code: 'ok', held: heldOf(r, sent) };
  } catch (e) {
    return { code: e instanceof Refused && refusals.has(e.code) ? e.code : 'unknown' };
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
