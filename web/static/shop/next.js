// The next sale: a strategy and a number of units. The lab resets the stock.
import { call } from '../api.js';
import { useAction, useLoaded } from '../loaded.js';
import { sixFirst, titleOf } from '../strategies.js';
import { html } from '../ui.js';
import { putOn, restock } from './sale.js';
import { inShop, words } from './text.js';

/** Hook: all strategies; null until they are known. */
export const useStrategies = () => useLoaded(/** @type {() => Promise<Json.Strategy[]>} */ (() => call('GET', '/api/v1/strategies').then((all) => all.strategies)), []).value;

/** Hook: puts a sale on, and what became of it. */
export function usePutOn() {
  const { busy, failure, act } = useAction(inShop);
  return { busy, failure, begin: (/** @type {string} */ strategy, /** @type {number} */ stock) => act(() => putOn(strategy, stock)) };
}

/** How many units the button adds to the sale that is on. */
const addedUnits = 50;

/** @param {{sale: import('./sale.js').Sale | null, strategies: Json.Strategy[]}} props */
export function Next({ sale, strategies }) {
  const { busy, begin, failure } = usePutOn();
  const added = useAction(inShop);
  const w = words().next;
  const submit = (/** @type {Event & {currentTarget: HTMLFormElement}} */ e) => {
    e.preventDefault();
    const said = new FormData(e.currentTarget);
    begin(String(said.get('strategy')), Number(said.get('stock')));
  };
  return html`
    <form class="panel next" aria-labelledby="next" onSubmit=${submit}>
      <h2 id="next">${w.title}</h2>
      <div class="field"><label for="strategy">${w.strategy}</label>
        <select id="strategy" name="strategy" required>${sixFirst(strategies.filter((s) => s.available)).map((s) => html`
          <option key=${s.name} value=${s.name} selected=${s.name === sale?.strategy}>${s.name} · ${titleOf(s)}${s.broken ? ` – ${w.broken}` : ''}</option>`)}</select></div>
      <div class="field"><label for="stock">${w.stock}</label>
        <input id="stock" name="stock" type="number" required min="1" max="1000000" defaultValue=${String(sale?.initial ?? 100)} /></div>
      <button class="offer" aria-disabled=${busy ? 'true' : undefined}>${busy ? w.putting : w.put}</button>
      <p class="hint">${w.hint}</p>
      ${sale && html`<button type="button" class="offer" data-do="restock" aria-disabled=${added.busy ? 'true' : undefined}
        onClick=${() => added.act(() => restock(sale, addedUnits))}>${added.busy ? w.adding : w.add(addedUnits)}</button>
      <p class="hint">${w.addHint}</p>`}
      <p class="wrong" role="alert">${failure || added.failure}</p>
    </form>`;
}
