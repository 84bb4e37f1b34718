// Rivals: thousands of buyers who want the same units as this visitor.
import { call } from '../api.js';
import { useAction } from '../loaded.js';
import { isOn } from '../records.js';
import { count, html, useLayoutEffect, useRef, useState } from '../ui.js';
import { refresh, until, useTicking } from './sale.js';
import { inShop, words } from './text.js';

const choices = [100, 500, 2000, 5000];
const usual = 2000;

/** @param {{sale: import('./sale.js').Sale, rivals: Json.Run | null}} props */
export function Rivals({ sale, rivals }) {
  const [n, setN] = useState(usual);
  const w = words();
  const { busy, failure, act } = useAction(inShop);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const pressed = useRef(false);
  useLayoutEffect(() => { // the button that was pressed is gone
    if (pressed.current && document.activeElement === document.body) /** @type {HTMLElement | null} */ (box.current?.querySelector('button'))?.focus({ preventScroll: true });
  }, [isOn(rivals)]);
  const does = (/** @type {() => Promise<unknown>} */ it) => {
    pressed.current = true;
    act(() => it().then(refresh));
  };
  const submit = (/** @type {Event} */ e) => {
    e.preventDefault();
    does(() => call('POST', '/api/lab/v1/shop/rivals', { buyers: n }));
  };
  return html`
    <section class="rivals" ref=${box} aria-labelledby="rivals-title">
      <h2 id="rivals-title">${w.rivals.title}</h2>
      ${rivals && isOn(rivals) ? html`<${Coming} rivals=${rivals} stop=${() => does(() => call('DELETE', `/api/lab/v1/runs/${rivals.id}`))} />` : html`
        <form onSubmit=${submit}>
          <div class="field">
            <label for="rivals">${w.rivals.how}</label>
            <select id="rivals" aria-describedby="rivals-hint" onChange=${(e) => setN(Number(e.currentTarget.value))}>
              ${choices.map((c) => html`<option key=${c} value=${c} selected=${c === n}>${count(c)}</option>`)}
            </select>
          </div>
          <button class="offer send" aria-disabled=${busy ? 'true' : undefined}>${w.rivals.send(n)}</button>
          <p class="hint" id="rivals-hint">${sale.left <= 0 ? w.rivals.late : w.rivals.hint}</p>
        </form>`}
      <div class="refused" role="alert">${failure && html`<p class="wrong">${failure}</p>`}</div>
    </section>`;
}

/** @param {{rivals: Json.Run, stop: () => void}} props */
function Coming({ rivals, stop }) {
  const left = until('lab', rivals.comes_at ?? '');
  useTicking(left);
  const w = words().rivals;
  const { buyers = 0 } = rivals.settings;
  const { requests = 0, counts } = rivals.lanes[0].progress ?? {};
  return html`
    <div class="coming" data-rivals=${left > 0 ? 'waiting' : 'here'}>
      <p class="shout" role="status">${(left > 0 ? w.come : w.here)(buyers)}</p>
      ${left > 0 ? html`<p class="number" role="timer">${count(Math.ceil(left / 1000))}</p>` : html`
        <progress max=${buyers} value=${requests} aria-label=${w.answered}></progress>
        <p class="hint">${requests >= buyers ? w.judging : w.progress(requests, counts?.sold ?? 0)}</p>`}
      <button type="button" class="quiet" onClick=${stop}>${w.stop}</button>
    </div>`;
}
