// The shop: one product, one button, rivals, and the ledger beside it.
import { usePreferences } from '../preferences.js';
import { Header } from '../shell.js';
import { t } from '../text.js';
import { classes, html, render, useLayoutEffect } from '../ui.js';
import { Buyer, useBuyer } from './buyer.js';
import { Ledger, useLedger } from './ledger.js';
import { Next, useStrategies } from './next.js';
import { Orders, Reserved, useOrders } from './orders.js';
import { usePurchase } from './purchase.js';
import { Result } from './result.js';
import { Rivals } from './rivals.js';
import { refresh, until, useSale, useTicking } from './sale.js';
import { Story } from './story.js';
import { words } from './text.js';

/** @typedef {import('./sale.js').Sale} Sale */

function Shop() {
  const { language } = usePreferences();
  const { sale, rivals, joined, lost, missing } = useSale();
  const user = useBuyer();
  const strategies = useStrategies() ?? [];
  const purchase = usePurchase(sale, user);
  const orders = useOrders(sale, user, purchase.result);
  const ledger = useLedger(user);
  const w = words();
  useLayoutEffect(() => { document.title = words().title; }, [language]);
  return html`
    <a class="skip" href="#content">${w.skip}</a>
    <${Header} screen="shop" home="/" />
    <main id="content" tabindex="-1">
      <div role="alert">${lost && html`<p class="lost-connection">${t.lostConnection}</p>`}</div>
      ${sale ? html`
        <section class="panel product" aria-labelledby="name">
          <${Picture} />
          <div class="words">
            <${Product} sale=${sale} purchase=${purchase} orders=${orders} />
            <div aria-live="polite"><${Story} sale=${sale} rivals=${rivals} joined=${joined} ledger=${ledger.ledger} result=${purchase.result} strategies=${strategies} /></div>
            <${Rivals} sale=${sale} rivals=${rivals} />
          </div>
        </section>
        <${Ledger} sale=${sale} user=${user} state=${ledger} />` : html`<section class="panel product"><p>${missing ? w.nothing : w.loading}</p></section>`}
      ${(sale || missing || lost) && html`<div class="side">
        <${Buyer} user=${user} />
        <${Orders} orders=${orders} />
        <${Next} sale=${sale} strategies=${strategies} />
      </div>`}
    </main>`;
}

/** @param {{sale: Sale, purchase: ReturnType<typeof usePurchase>, orders: ReturnType<typeof useOrders>}} props */
function Product({ sale, purchase, orders }) {
  const left = sale.startsAt ? until('database', sale.startsAt) : 0;
  useTicking(left);
  const seconds = Math.ceil(left / 1000);
  const idle = !left && !purchase.busy;
  const bought = purchase.result?.code === 'sold' || purchase.result?.code === 'duplicate';
  const look = sale.left <= 0 || bought ? 'offer' : 'run'; // an offer: it can only be refused
  const w = words();
  return html`
    <h1 id="name">${w.product}</h1>
    <p class="price"><strong>${w.price}</strong> <s aria-label=${w.wasLabel}>${w.was}</s> <span class="hint">${w.priceHint}</span></p>
    ${left ? html`<p class="clock" role="timer" data-seconds=${seconds}>${w.starts} <b>${seconds}</b> ${w.seconds(seconds)}</p>`
    : sale.left > 0 ? html`<p class="badge good on">${w.on}</p>` : html`<p class="badge bad on">${w.over}</p>`}
    <${Shelf} sale=${sale} />
    <${Reserved} orders=${orders} purchase=${purchase} />
    ${!orders.reserved && html`<button type="button" class="${look} buy" aria-disabled=${idle ? undefined : 'true'} onClick=${() => idle && purchase.buy()}>
      ${left ? w.wait : purchase.busy ? w.buying : sale.reserves ? w.reserve : w.buy}</button>`}
    <p class="hint">${w.onePerPerson}${w.soldBy}<code data-strategy>${sale.strategy}</code></p>
    <${Result} purchase=${purchase} />`;
}

/** @param {{sale: Sale}} props */
function Shelf({ sale: { left, initial, unread } }) {
  const w = words();
  const part = initial > 0 ? Math.min(1, Math.max(0, left / initial)) : 0;
  return html`
    <div class=${classes('shelf', left < 0 && 'negative', left > 0 && part <= 0.1 && 'few')} data-left=${left}>
      <p><strong>${left < 0 ? w.below(left) : left === 0 ? w.gone : w.left(left, initial)}</strong></p>
      ${unread && html`<p class="wrong">${w.unread}</p>`}
      <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="all" width="100" height="1" /><rect class="rest" width=${100 * part} height="1" />
      </svg>
    </div>`;
}

const Picture = () => html`
  <svg class="picture" viewBox="0 0 320 240" aria-hidden="true">
    <path class="shade" d="M160 74l84 40v74l-84 40z" />
    <path class="face" d="M160 74L76 114v74l84 40z" />
    <path class="lid" d="M76 114l84-40 84 40-84 40z" />
    <path class="band" d="M112 96.9l84 40v22l-18 8.6v-22l-84-40z" />
    <path class="flash" d="M176 18l-46 66h30l-12 44 50-70h-31z" />
  </svg>`;

render(html`<${Shop} />`, document.body);
refresh();
