// Rivals: thousands of buyers who want the same units as this visitor.
import { call } from '../api.js';
import { remember, remembered } from '../preferences.js';
import { isOn } from '../records.js';
import { count, html, useState } from '../ui.js';
import { refresh, useArrival } from './sale.js';
import { words } from './text.js';

const least = 100;
const most = 5000; // the lab checks it again

/** @param {string} text @returns {number | null} */
const howMany = (text) => (/^[0-9]{1,5}$/.test(text.trim()) && Number(text) >= least && Number(text) <= most ? Number(text) : null);

/** @typedef {ReturnType<typeof words>} Words */

/** @param {{sale: import('./sale.js').Sale, rivals: Json.Rivals | null}} props */
export function Rivals({ sale, rivals }) {
  const [text, setText] = useState(remembered('shop.rivals') || '2000');
  const [wrong, setWrong] = useState(false);
  const [state, setState] = useState(/** @type {{busy?: boolean, failed?: (w: Words) => string}} */ ({}));
  const w = words();
  const n = howMany(text);
  const does = async (/** @type {() => Promise<unknown>} */ it) => {
    if (state.busy) return;
    setState({ busy: true });
    try {
      await it();
      await refresh();
      setState({});
    } catch (e) {
      setState({ failed: (w) => w.rivals.refused[e.code] ?? w.rivals.failed(e.message) });
    }
  };
  const submit = (/** @type {Event} */ e) => {
    e.preventDefault();
    setWrong(n === null);
    if (n === null) {
      document.getElementById('rivals')?.focus();
      return;
    }
    remember('shop.rivals', String(n));
    does(() => call('POST', '/api/lab/v1/shop/rivals', { buyers: n }));
  };
  return html`
    <section class="rivals" aria-labelledby="rivals-title">
      <h2 id="rivals-title">${w.rivals.title}</h2>
      ${rivals && isOn(rivals) ? html`<${Coming} rivals=${rivals} reserves=${sale.reserves} stop=${() => does(() => call('DELETE', `/api/lab/v1/runs/${rivals.run}`))} />` : html`
        <form onSubmit=${submit} noValidate>
          <div class="field">
            <label for="rivals">${w.rivals.how}</label>
            <input id="rivals" inputmode="numeric" autocomplete="off" value=${text} onInput=${(e) => setText(e.currentTarget.value)}
              aria-invalid=${wrong && n === null ? 'true' : undefined} aria-describedby="rivals-hint rivals-wrong" />
          </div>
          <button class="offer send" aria-disabled=${state.busy ? 'true' : undefined}>${w.rivals.send(n)}</button>
          <p class="wrong" id="rivals-wrong" role="alert">${wrong && n === null && w.rivals.wrong(least, most)}</p>
          <p class="hint" id="rivals-hint">${sale.left <= 0 ? w.rivals.late : sale.reserves ? w.rivals.hintReserving : w.rivals.hint}</p>
        </form>`}
      <div class="refused" role="alert">${state.failed && html`<p class="wrong">${state.failed(w)}</p>`}</div>
    </section>`;
}

/** @param {{rivals: Json.Rivals, reserves: boolean, stop: () => void}} props */
function Coming({ rivals, reserves, stop }) {
  const left = useArrival(rivals);
  const w = words().rivals;
  return html`
    <div class="coming" data-rivals=${left > 0 ? 'waiting' : 'here'}>
      <p class="shout" role="status">${left > 0 ? w.come(rivals.buyers) : (reserves ? w.hereReserving : w.here)(rivals.buyers)}</p>
      ${left > 0 ? html`<p class="number" role="timer">${count(Math.ceil(left / 1000))}</p>` : html`
        <progress max=${rivals.buyers} value=${rivals.answered} aria-label=${w.answered}></progress>
        <p class="hint">${rivals.answered >= rivals.buyers ? w.judging : w.progress(rivals.answered, rivals.sold)}</p>`}
      <button type="button" class="quiet" onClick=${stop}>${w.stop}</button>
    </div>`;
}
