// The ledger beside the shop, live.
import { call } from '../api.js';
import { useLoaded, usePolling } from '../loaded.js';
import { classes, count, html, moment, useEffect } from '../ui.js';
import { words } from './text.js';

const pace = 500; // from an answer to the next reading, in ms; the lab reads no oftener

/**
 * Hook: the ledger.
 * @param {number} user with this one's own order
 */
export function useLedger(user) {
  const { value, error, again } = useLoaded(/** @type {() => Promise<Json.ShopLedger>} */ (() => call('GET', `/api/lab/v1/shop/ledger?user_id=${user}`)), []);
  useEffect(again, [user]);
  usePolling(again, pace, [value, error]);
  const yours = value?.yours?.user_id === user ? value.yours : undefined; // it may still be another buyer's
  return { ledger: value && { ...value, yours }, lost: Boolean(error) };
}

/** @param {{sale: import('./sale.js').Sale, user: number, state: ReturnType<typeof useLedger>}} props */
export function Ledger({ sale, user, state: { ledger, lost } }) {
  const w = words().ledger;
  const extra = ledger ? ledger.sold + ledger.reserved - ledger.initial : 0;
  const reserves = sale.reserves || (ledger?.reserved ?? 0) > 0;
  return html`
    <section class="panel ledger" aria-labelledby="ledger">
      <h2 id="ledger">${w.title}</h2>
      <div role="alert">${lost && html`<p class="wrong">${w.lost}</p>`}</div>
      <dl class="figures">
        <div class=${classes(sale.left < 0 && 'bad')}><dt>${w.left}</dt><dd data-ledger-left>${count(sale.left)}</dd></div>
        ${reserves && html`<div><dt>${w.reserved}</dt><dd data-ledger-reserved>${ledger ? count(ledger.reserved) : '–'}</dd></div>`}
        <div class=${classes(extra > 0 && 'bad')}><dt>${w.sold}</dt><dd data-ledger-sold>${ledger ? count(ledger.sold) : '–'}</dd></div>
        <div class=${classes(ledger && ledger.twice > 0 && 'bad')}><dt>${w.twice}</dt>
          <dd data-ledger-twice>${ledger?.holders_known ? count(ledger.twice) : '–'}</dd></div>
      </dl>
      <p class=${extra > 0 ? 'wrong' : 'hint'} role="status">${extra > 0 ? w.tooMany(extra) : ledger && !ledger.holders_known ? w.givenBack : w.intro}</p>
      ${ledger && html`
        <div class="scroll stream" tabindex="0" role="region" aria-label=${w.orders}>
          <table>
            <thead><tr><th scope="col" class="n">${w.place}</th><th scope="col" class="n">${w.remaining}</th>
              <th scope="col">${w.holders}</th><th scope="col" class="n">${w.user}</th></tr></thead>
            <tbody>${ledger.latest.map((o) => html`<${Row} key=${o.place} order=${o} mine=${o.user_id === user} />`)}</tbody>
          </table>
          ${ledger.latest.length === 0 && html`<p class="hint">${w.none}</p>`}
        </div>`}
    </section>`;
}

/** @param {{order: Json.ShopOrder, mine: boolean}} props */
function Row({ order: o, mine }) {
  const w = words();
  const wrong = o.holders > 1 || o.remaining < 0;
  return html`
    <tr class=${classes(wrong && 'bad', mine && 'mine', o.reservation === 'reserved' && o.status === 'active' && 'waits')} title=${moment(o.at)}>
      <td class="n">${count(o.place)}</td>
      <td class="n">${count(o.remaining)}</td>
      <td>${o.status !== 'active' ? w[o.status] ?? o.status : o.holders > 1 ? w.ledger.shared(o.remaining + o.quantity, o.holders)
    : o.remaining < 0 ? w.ledger.never : o.reservation === 'reserved' ? w.reserved : o.reservation === 'paid' ? w.paid : o.holders === 1 ? '✓' : ''}</td>
      <td class="n">${mine ? w.ledger.you : o.user_id}${o.quantity > 1 && ` × ${count(o.quantity)}`}</td>
    </tr>`;
}
