// A reservation: the time that is left, paying, cancelling, and how it ended.
import { html, useEffect, useRef } from '../ui.js';
import { Sign } from './result.js';
import { useTicking } from './sale.js';
import { clockTime, words } from './text.js';

/** @type {Record<Json.ReservationState, 'good' | 'bad' | 'open'>} */
const looks = { reserved: 'open', paid: 'good', expired: 'bad', cancelled: 'open' };

/** Screen readers hear of the countdown so many seconds before its end, and no oftener. */
const milestones = [10, 30, 60];

/**
 * @param {{reservation: ReturnType<typeof import('./reservation-state.js').useReservation>, over: boolean}} props over: another
 *   purchase has begun since it ended
 */
export function Reserved({ reservation: { held: known, doing, looking, said, acted, pay, cancel }, over }) {
  const held = over && known?.state !== 'reserved' ? null : known;
  const open = held?.state === 'reserved';
  const panel = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => { // the button that was pressed is gone
    if (acted && document.activeElement === document.body) panel.current?.focus();
  }, [held?.state, held?.id]);
  const left = open ? Math.max(0, held.endsAt - performance.now()) : 0;
  useTicking(left);
  const w = words().reservation;
  const seconds = Math.ceil(left / 1000);
  const next = milestones.find((n) => seconds <= n);
  const note = over && !open ? '' : looking ? w.looking : w.said[said]?.() ?? '';
  return html`
    <div class="reservation" data-state=${held?.state} data-said=${said} ref=${panel} tabindex="-1">
      <div role="status">
        ${held ? html`
          <div class="said ${looks[held.state]}">
            <p class="word"><${Sign} look=${looks[held.state]} />${w.states[held.state].title}</p>
            <p>${w.states[held.state].text}</p>
            ${note && html`<p class="note">${note}</p>`}
            ${held.state === 'paid' && html`<p>${words().order} <code>${held.id}</code></p>`}
          </div>` : note && html`<div class="said open"><p class="note">${note}</p></div>`}
      </div>
      ${open && html`
        <div class="until">
          <p class="clock" role="timer" aria-label=${w.left} data-seconds=${seconds}>
            <b>${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}</b></p>
          <p class="hint">${left > 0 ? w.until(clockTime(held.until)) : w.due}</p>
        </div>
        <div class="buttons">
          <button type="button" class="run pay" aria-disabled=${doing ? 'true' : undefined} onClick=${pay}>${doing === 'pay' ? w.paying : w.pay}</button>
          <button type="button" class="offer give-back" aria-disabled=${doing ? 'true' : undefined} onClick=${cancel}>${doing === 'cancel' ? w.cancelling : w.cancel}</button>
        </div>`}
      <p class="hidden" aria-live="polite">${open && left > 0 && next ? w.soon(next) : ''}</p>
    </div>`;
}
