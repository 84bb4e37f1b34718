// What this buyer has bought in this sale.
import { call } from '../api.js';
import { html, useEffect, useState } from '../ui.js';
import { refresh } from './sale.js';
import { clockTime, words } from './text.js';

/** @typedef {ReturnType<typeof words>} Words */

/** @param {Json.Order} o */
const isReserved = (o) => o.status === 'active' && o.reservation?.state === 'reserved';

/** @param {{user: number, sale: import('./sale.js').Sale, news: unknown, state?: string, changed: () => void}} props state: of the reservation */
export function Orders({ user, sale, news, state, changed }) {
  const [orders, setOrders] = useState(/** @type {Json.Order[] | null} */ (null));
  const [lost, setLost] = useState(false);
  const [note, setNote] = useState(/** @type {{under?: string, failed?: boolean, said?: (w: Words) => string} | null} */ (null));
  const w = words();

  const read = async () => {
    try {
      setOrders((await call('GET', `/api/v1/orders?sku_id=${sale.sku}&user_id=${user}`)).orders.reverse());
      setLost(false);
    } catch {
      setLost(true);
    }
  };
  useEffect(() => { read(); }, [news, state]);

  const cancel = async (/** @type {Json.Order} */ order) => {
    setNote({ under: order.order_id });
    try {
      await call('DELETE', `/api/v1/${isReserved(order) ? 'reservations' : 'orders'}/${order.order_id}`);
      setNote({ said: (w) => w.wasCancelled });
    } catch (e) {
      setNote({ failed: true, said: (w) => w.cancelFailed(e.message) });
    }
    read();
    changed();
    refresh();
  };
  return html`
    <section class="panel orders" aria-labelledby="orders">
      <h2 id="orders">${w.orders}</h2>
      ${lost && html`<p class="wrong">${w.ordersLost}</p>`}
      ${orders?.length === 0 && html`<p class="hint">${w.none}</p>`}
      <ul>
        ${orders?.map((o) => html`
          <li key=${o.order_id} data-status=${isReserved(o) ? 'reserved' : o.status}>
            <div>
              <code>${o.order_id}</code>
              <p class="hint">${clockTime(o.created_at)} · <code>${o.strategy}</code></p>
            </div>
            <span class="badge ${isReserved(o) ? 'open' : o.status === 'active' ? 'good' : ''}">${isReserved(o) ? w.reserved : w[o.status] ?? o.status}</span>
            ${o.status === 'active' && html`
              <button type="button" class="quiet cancel" aria-label=${w.cancelOrder(o.order_id)}
                aria-disabled=${note?.under === o.order_id ? 'true' : undefined}
                onClick=${() => note?.under !== o.order_id && cancel(o)}>${note?.under === o.order_id ? w.cancelling : w.cancel}</button>`}
          </li>`)}
      </ul>
      <p class=${note?.failed ? 'wrong' : 'hint'} role="status">${note?.said?.(w)}</p>
    </section>`;
}
