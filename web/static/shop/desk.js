// The buttons that buy: at once, in two steps, or by a reservation first.
import { remember, remembered } from '../preferences.js';
import { html, useEffect, useRef, useState } from '../ui.js';
import { refresh } from './sale.js';
import { words } from './text.js';

/** For how many seconds a buyer may reserve. */
const terms = [10, 60, 300];
const usualTerm = 60;

/**
 * @param {{sale: import('./sale.js').Sale, waits: boolean, purchase: ReturnType<typeof import('./purchase-state.js').usePurchase>,
 *   reservation: ReturnType<typeof import('./reservation-state.js').useReservation>}} props waits: the sale has not started
 */
export function Desk({ sale, waits, purchase, reservation }) {
  const w = words();
  const [term, setTerm] = useState(terms.find((s) => String(s) === remembered('shop.term')) ?? usualTerm);
  const [early, setEarly] = useState(remembered('shop.async') === 'yes');
  const was = useRef(waits);
  useEffect(() => {
    if (was.current && !waits) refresh(); // at the start, refresh the stock at once
    was.current = waits;
  }, [waits]);
  const { state } = reservation.held ?? {};
  if (state === 'reserved') return null;
  const idle = !waits && !purchase.busy;
  const pointless = sale.left <= 0 || state === 'paid' || purchase.result?.code === 'sold' || purchase.result?.code === 'duplicate'; // it can only be refused
  const button = (/** @type {string} */ name, /** @type {string} */ look, /** @type {string} */ label, /** @type {import('./purchase.js').Way} */ way) => html`
    <button type="button" class=${`${pointless ? 'offer' : look} ${name}`} aria-disabled=${idle ? undefined : 'true'}
      onClick=${() => idle && purchase.buy(way)}>${waits ? w.wait : label}</button>`;
  const busy = (/** @type {boolean} */ mine) => purchase.busy && mine;
  if (sale.reserves) {
    return html`
      <div class="desk">
        <div class="field">
          <label for="term">${w.reservation.term}</label>
          <select id="term" onChange=${(e) => { setTerm(Number(e.currentTarget.value)); remember('shop.term', e.currentTarget.value); }}>
            ${terms.map((s) => html`<option key=${s} value=${s} selected=${s === term}>${w.reservation.terms(s)}</option>`)}
          </select>
        </div>
        ${button('reserve', 'run', busy(Boolean(purchase.attempt?.hold)) ? w.reservation.reserving : w.reservation.reserve, { hold: term })}
        ${button('buy', 'offer', busy(!purchase.attempt?.hold) ? w.buying : w.reservation.buyAtOnce, {})}
      </div>`;
  }
  return html`
    ${button('buy', 'run', purchase.result?.code === 'accepted' && purchase.busy ? w.accepted : purchase.busy ? w.buying : w.buy, { async: sale.accepts && early })}
    ${sale.accepts && html`
      <label class="early"><input id="early" type="checkbox" checked=${early} onChange=${(e) => {
    setEarly(e.currentTarget.checked);
    remember('shop.async', e.currentTarget.checked ? 'yes' : '');
  }} /> <span>${w.early}</span></label>`}`;
}
