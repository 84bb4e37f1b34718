// What this buyer has in this sale: orders, and the reservation that waits to be
// paid. What the shop says of them is the ledger's word.
import { call, Refused } from '../api.js';
import { Sign } from '../lab/verdict.js';
import { useLoaded, usePolling } from '../loaded.js';
import { html, moment, useEffect, useRef, useState } from '../ui.js';
import { refresh, until, useTicking } from './sale.js';
import { words } from './text.js';

/** @typedef {ReturnType<typeof words>} Words */
/** @typedef {{what: 'pay' | 'cancel', id: string, failed?: boolean, unknown?: boolean, says: (w: Words) => string}} Note of what was done last */

const pace = 1000; // from an answer to the next look at a reservation, in ms: another page may pay, and a sweeper gives back

/** @param {Json.Order} o */
const isReserved = (o) => o.status === 'active' && o.reservation?.state === 'reserved';

/**
 * Hook: the orders, newest first, read again with each news.
 * @param {import('./sale.js').Sale | null} sale @param {number} user @param {unknown} news
 */
export function useOrders(sale, user, news) {
  const load = async () => (sale ? (await call('GET', `/api/v1/orders?sku_id=${sale.sku}&user_id=${user}`)).orders.reverse() : []);
  const { value, error, again } = useLoaded(/** @type {() => Promise<Json.Order[]>} */ (load), [user, sale?.sku, sale?.run]);
  const [doing, setDoing] = useState(/** @type {{what: 'pay' | 'cancel', id: string} | null} */ (null));
  const [note, setNote] = useState(/** @type {Note | null} */ (null));
  const going = useRef(false);
  useEffect(again, [news]);
  const reserved = value?.find(isReserved);
  usePolling(again, reserved ? pace : 0, [value, error]);
  useEffect(() => setNote(null), [user, sale?.run, news]);
  useEffect(() => setNote((last) => (last?.unknown ? null : last)), [reserved?.order_id]); // now it is known

  const act = async (/** @type {'pay' | 'cancel'} */ what, /** @type {Json.Order} */ order) => {
    if (going.current) return; // a second press is part of the first
    going.current = true;
    const id = order.order_id;
    setDoing({ what, id });
    setNote(null);
    try {
      if (what === 'pay') await call('POST', `/api/v1/reservations/${id}/pay`);
      else await call('DELETE', `/api/v1/${isReserved(order) ? 'reservations' : 'orders'}/${id}`);
      if (what === 'cancel') setNote({ what, id, says: (w) => w.wasCancelled });
    } catch (e) {
      const refused = e instanceof Refused && (e.status < 500 || e.status === 503);
      setNote({ what, id, failed: true, unknown: !refused, says: (w) => (e.code === 'expired' ? w.reservation.late : refused ? e.message : w.reservation.unknown[what]) });
    }
    going.current = false;
    setDoing(null);
    again();
    refresh();
  };
  return { all: value, lost: Boolean(error), reserved, doing, note, act };
}

/** @param {{orders: ReturnType<typeof useOrders>}} props */
export function Orders({ orders: { all, lost, reserved, doing, note, act } }) {
  const w = words();
  const said = note?.what === 'cancel' && note.id !== reserved?.order_id ? note : null; // the rest is said beside the reservation
  return html`
    <section class="panel orders" aria-labelledby="orders">
      <h2 id="orders">${w.orders}</h2>
      ${lost && html`<p class="wrong">${w.ordersLost}</p>`}
      ${all?.length === 0 && html`<p class="hint">${w.none}</p>`}
      <ul>
        ${all?.map((o) => {
    const mine = doing?.id === o.order_id;
    return html`
          <li key=${o.order_id} data-status=${isReserved(o) ? 'reserved' : o.status}>
            <div>
              <code>${o.order_id}</code>
              <p class="hint">${moment(o.created_at)} · <code>${o.strategy}</code></p>
            </div>
            <span class="badge ${isReserved(o) ? 'open' : o.status === 'active' ? 'good' : ''}">${isReserved(o) ? w.reserved : w[o.status] ?? o.status}</span>
            ${o.status === 'active' && html`
              <button type="button" class="quiet cancel" aria-label=${w.cancelOrder(o.order_id)} aria-disabled=${mine ? 'true' : undefined}
                onClick=${() => act('cancel', o)}>${mine ? w.cancelling : w.cancel}</button>`}
          </li>`;
  })}
      </ul>
      <p class=${said?.failed ? 'wrong' : 'hint'} role="status">${said?.says(w)}</p>
    </section>`;
}

/** @type {Record<Json.ReservationState, 'good' | 'bad' | 'open'>} */
const looks = { reserved: 'open', paid: 'good', expired: 'bad', cancelled: 'open' };

/**
 * The reservation that is open, or the one that ended before these eyes.
 * @param {{orders: ReturnType<typeof useOrders>, purchase: ReturnType<typeof import('./purchase.js').usePurchase>}} props
 */
export function Reserved({ orders: { all, reserved, doing, note, act }, purchase }) {
  const [seen, setSeen] = useState('');
  const panel = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => { if (reserved) setSeen(reserved.order_id); }, [reserved?.order_id]);
  const over = purchase.busy || (purchase.result && purchase.result.code !== 'reserved'); // another purchase has begun
  const order = reserved ?? (over ? undefined : all?.find((o) => o.order_id === seen));
  const state = order?.reservation?.state;
  useEffect(() => { // the button that was pressed is gone
    if (state && document.activeElement === document.body && (note || purchase.result)) panel.current?.focus();
  }, [order?.order_id, state, purchase.result]); // the list may show it before the answer comes
  const ends = reserved?.reservation?.expires_at;
  const left = ends ? until('database', ends) : 0;
  useTicking(left);
  if (!order || !state) return null;
  const w = words().reservation;
  const seconds = Math.ceil(left / 1000);
  const button = (/** @type {'pay' | 'cancel'} */ what, /** @type {string} */ look) => html`
    <button type="button" class=${look} aria-disabled=${doing ? 'true' : undefined} onClick=${() => act(what, order)}>${doing?.what === what ? w.doing[what] : w[what]}</button>`;
  return html`
    <div class="reservation" data-state=${state} ref=${panel} tabindex="-1">
      <div class="said ${looks[state]}" role="status">
        <p class="word"><${Sign} verdict=${looks[state]} />${w.states[state].title}</p>
        <p>${w.states[state].text}</p>
        ${note?.failed && note.id === order.order_id && html`<p class="note">${note.says(words())}</p>`}
      </div>
      ${reserved && html`
        <p class="clock" role="timer" aria-label=${w.left} data-seconds=${seconds}><b>${seconds}</b> ${w.seconds(seconds)}</p>
        <div class="buttons">${button('pay', 'run pay')} ${button('cancel', 'offer give-back')}</div>`}
    </div>`;
}
