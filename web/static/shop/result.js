// The result of a purchase.
import { Sign } from '../lab/verdict.js';
import { html } from '../ui.js';
import { words } from './text.js';

/** @type {Record<string, string>} */
const kinds = { conflict: 'busy', backend_unavailable: 'unavailable', strategy_unavailable: 'unavailable' };
/** @type {Record<string, string>} */
const looks = { sold: 'good', looking: 'open', unknown: 'open', busy: 'open', unavailable: 'open', not_started: 'open' };

/** @param {{purchase: ReturnType<typeof import('./purchase.js').usePurchase>}} props */
export function Result({ purchase: { result, buy, busy } }) {
  const w = words();
  if (!result || result.code === 'reserved') return html`<div class="answer" role="status" data-code=${result?.code}></div>`; // Reserved says it
  const kind = kinds[result.code] ?? result.code;
  const said = w.results[kind] ?? w.results.refused;
  const look = looks[kind] ?? 'bad';
  return html`
    <div class="answer" role="status" data-code=${result.code}>
      <div class="said ${look}">
        <p class="word"><${Sign} verdict=${look} />${said.title}</p>
        <p>${said.text}</p>
        ${!w.results[kind] && result.detail && html`<p>${result.detail}</p>`}
        ${result.code === 'unknown' && !busy && html`<p><button type="button" class="offer" onClick=${buy}>${w.ask}</button></p>`}
      </div>
    </div>`;
}
