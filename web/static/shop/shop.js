// The shop's screen for buyers.
import { usePreferences } from '../preferences.js';
import { classes, html, render, useEffect } from '../ui.js';
import { Buyer } from './buyer-form.js';
import { useBuyer } from './buyer.js';
import { Desk } from './desk.js';
import { Frame } from './frame.js';
import { Ledger } from './ledger.js';
import { Orders } from './orders.js';
import { usePurchase } from './purchase-state.js';
import { useReservation } from './reservation-state.js';
import { Reserved } from './reserved.js';
import { Result } from './result.js';
import { Rivals } from './rivals.js';
import { clockError, refresh, useCountdown, useSale } from './sale.js';
import { Story } from './story.js';
import { clockTime, words } from './text.js';

const split = new URLSearchParams(location.search).has('split');

function Shop() {
  usePreferences();
  const { sale, rivals, lost, missing } = useSale();
  const user = useBuyer();
  const purchase = usePurchase(sale, user);
  const reservation = useReservation(sale, user);
  useEffect(() => {
    const { code, reservation: id } = purchase.result ?? {};
    if (code === 'reserved' && id) reservation.made(id);
    else if (code === 'duplicate' && sale?.reserves) reservation.search(); // it may be that of another page
  }, [purchase.result]);
  const w = words();
  return html`
    <${Frame} title=${() => words().title} here=${split ? 'split' : 'shop'}>
      <div role="alert">${lost && html`<p class="lost-connection">${w.lost}</p>`}</div>
      ${sale ? html`<${Product} sale=${sale} rivals=${rivals} user=${user} purchase=${purchase} reservation=${reservation} />`
    : html`<section class="panel product"><p>${missing ? w.nothing : w.loading}</p></section>`}
      ${split && sale && html`<${Ledger} sale=${sale} user=${user} />`}
      <aside class="side">
        <${Buyer} user=${user} />
        ${sale && html`<${Orders} key=${`${user}/${sale.run}`} user=${user} sale=${sale} news=${purchase.result}
          state=${reservation.held?.state} changed=${reservation.look} />`}
      </aside>
    <//>`;
}

/** @typedef {import('./sale.js').Sale} Sale */
/** @typedef {ReturnType<typeof usePurchase>} Purchase */

/** @param {{sale: Sale, rivals: Json.Rivals | null, user: number, purchase: Purchase, reservation: ReturnType<typeof useReservation>}} props */
function Product({ sale, rivals, user, purchase, reservation }) {
  const left = useCountdown(sale);
  const w = words();
  return html`
    <section class="panel product" aria-labelledby="name">
      <${Picture} />
      <div class="words">
        <h1 id="name">${sale.name}</h1>
        <p class="price"><strong>${w.price}</strong> <s aria-label=${w.wasLabel}>${w.was}</s> <span class="hint">${w.priceHint}</span></p>
        ${left > 0 ? html`<${Countdown} left=${left} startsAt=${sale.startsAt} />`
    : sale.left > 0 ? html`<p class="badge good on">${w.on}</p>` : html`<p class="badge bad on">${w.over}</p>`}
        <${Shelf} sale=${sale} />
        <${Reserved} reservation=${reservation} over=${purchase.busy || (purchase.result !== null && purchase.result.code !== 'reserved')} />
        <${Desk} sale=${sale} waits=${left > 0} purchase=${purchase} reservation=${reservation} />
        <p class="hint">${w.onePerPerson} ${w.soldBy} <code>${sale.strategy}</code></p>
        <${Result} purchase=${purchase} />
        <div aria-live="polite"><${Story} sale=${sale} rivals=${rivals} user=${user} result=${purchase.result} /></div>
        <${Rivals} sale=${sale} rivals=${rivals} />
      </div>
    </section>`;
}

/**
 * Days and hours only if there are any.
 * @param {{left: number, startsAt: number}} props
 */
function Countdown({ left, startsAt }) {
  const w = words();
  const seconds = Math.ceil(left / 1000);
  /** @type {[unit: string, n: number][]} */
  const parts = [
    ['days', Math.floor(seconds / 86400)], ['hours', Math.floor(seconds / 3600) % 24],
    ['minutes', Math.floor(seconds / 60) % 60], ['seconds', seconds % 60],
  ];
  const first = Math.min(2, parts.findIndex(([, n]) => n > 0) >>> 0);
  return html`
    <div class="countdown">
      <p id="starts">${w.startsIn}</p>
      <p class="clock" role="timer" aria-labelledby="starts" data-seconds=${seconds}>
        ${parts.slice(first).map(([unit, n]) => html`
          <span key=${unit}><b>${String(n).padStart(2, '0')}</b> <small>${w.units[unit]}</small></span>`)}
      </p>
      <p class="hint">${w.startsAt(clockTime(startsAt), clockError())}</p>
    </div>`;
}

/** @param {{sale: Sale}} props */
function Shelf({ sale }) {
  const w = words();
  const { left, initial } = sale;
  const part = initial > 0 ? Math.min(1, Math.max(0, left / initial)) : 0;
  return html`
    <div class=${classes('shelf', left < 0 && 'negative', left > 0 && part <= 0.1 && 'few')} data-left=${left}>
      <p><strong>${left < 0 ? w.below(left) : left === 0 ? w.gone : w.left(left, initial)}</strong></p>
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
