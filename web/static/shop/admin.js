// The operator's screen: product, stock, start and strategy.
import { call, keepToken } from '../api.js';
import { usePreferences } from '../preferences.js';
import { count, html, render, useEffect, useState } from '../ui.js';
import { Frame } from './frame.js';
import { useLedger } from './ledger.js';
import { refresh, serverNow, useCountdown, useSale } from './sale.js';
import { clockTime, words } from './text.js';

/**
 * @typedef {ReturnType<typeof words>['operator']} Words
 * @typedef {HTMLFormControlsCollection & Record<Exclude<keyof typeof names, 'strategy'>, HTMLInputElement> & {strategy: HTMLSelectElement}} Fields
 */

/** When the sale starts, in ms from now by the server's clock. */
/** @type {Record<string, number>} */
const soon = { now: 0, s10: 10_000, s60: 60_000, s600: 600_000 };

/** The strategy that a link asks for. */
const wished = new URLSearchParams(location.search).get('strategy');

function Admin() {
  usePreferences();
  const { sale, lost } = useSale();
  const [strategies, setStrategies] = useState(/** @type {Json.Strategy[] | null} */ (null));
  const [guarded, setGuarded] = useState(false);
  const w = words();
  useEffect(() => {
    call('GET', '/api/v1/strategies').then((all) => setStrategies(all.strategies), () => setStrategies([]));
    call('GET', '/api/lab/v1/status').then((status) => setGuarded(status.token_needed), () => {});
  }, []);
  return html`
    <${Frame} title=${() => words().operator.title} here="admin">
      <div role="alert">${lost && html`<p class="lost-connection">${w.lost}</p>`}</div>
      <section class="panel sale">
        <h1>${w.operator.title}</h1>
        <p class="hint">${w.operator.intro}</p>
        ${strategies && html`<${Settings} sale=${sale} strategies=${strategies} guarded=${guarded} />`}
      </section>
      ${sale && html`<${Now} sale=${sale} />`}
    <//>`;
}

/** @param {{sale: import('./sale.js').Sale}} props */
function Now({ sale }) {
  useCountdown(sale);
  const w = words().operator;
  const waits = (sale.startsAt ?? 0) > serverNow();
  return html`
    <aside class="side"><section class="panel" aria-labelledby="now">
      <h2 id="now">${w.now}</h2>
      <p>${sale.name}</p>
      <dl class="facts">
        ${sale.reserves ? html`<${Reservations} />` : html`<div><dt>${w.sold}</dt><dd data-sold>${count(sale.initial - sale.left)}</dd></div>`}
        <div><dt>${w.left}</dt><dd data-left>${count(sale.left)}</dd></div>
        <div><dt>${w.starts}</dt><dd>${waits && sale.startsAt ? clockTime(sale.startsAt) : w.atOnce}</dd></div>
        <div><dt>${w.strategyNow}</dt><dd data-strategy>${sale.strategy}</dd></div>
      </dl>
    </section></aside>`;
}

/** What is sold, and what is only reserved: the stock alone does not tell. */
function Reservations() {
  const { ledger } = useLedger('');
  const w = words().operator;
  const said = (/** @type {number | undefined} */ n) => (n === undefined ? '–' : count(n));
  return html`
    <div><dt>${w.sold}</dt><dd data-sold>${said(ledger?.sold)}</dd></div>
    <div><dt>${w.reserved}</dt><dd data-reserved>${said(ledger?.reserved)}</dd></div>
    <div><dt>${w.expired}</dt><dd data-expired>${said(ledger?.expired)}</dd></div>`;
}

/**
 * The errors of a form, by field.
 * @param {Fields} form @param {boolean} guarded
 */
function check(form, guarded) {
  const wrong = /** @type {Record<string, boolean>} */ ({});
  const name = [...form.name.value.trim()].length;
  if (name < 1 || name > 255) wrong.name = true;
  if (!/^[0-9]{1,10}$/.test(form.stock.value.trim()) || Number(form.stock.value) > 1e9) wrong.stock = true;
  if (form.start.value === 'at' && Number.isNaN(Date.parse(form.time.value))) wrong.time = true;
  if (form.strategy.selectedOptions.length === 0 || form.strategy.selectedOptions[0].disabled) wrong.strategy = true;
  if (guarded && form.token.value.trim() === '' && !sessionStorage.getItem('token')) wrong.token = true;
  return wrong;
}

/**
 * RFC 3339 for the server; undefined: now.
 * @param {Fields} form
 */
function startOf(form) {
  if (form.start.value === 'now') return undefined;
  if (form.start.value === 'at') return new Date(form.time.value).toISOString();
  return new Date(serverNow() + soon[form.start.value]).toISOString();
}

/** @param {{sale: import('./sale.js').Sale | null, strategies: Json.Strategy[], guarded: boolean}} props */
function Settings({ sale, strategies, guarded }) {
  const [wrong, setWrong] = useState(/** @type {Record<string, boolean>} */ ({}));
  const [start, setStart] = useState('now');
  const [state, setState] = useState(/** @type {{busy?: boolean, failed?: boolean, asked?: number, said?: (w: Words) => string}} */ ({}));
  const w = words().operator;

  const submit = async (/** @type {Event & {currentTarget: HTMLFormElement}} */ e) => {
    e.preventDefault();
    if (state.busy) return;
    const form = /** @type {Fields} */ (e.currentTarget.elements);
    const bad = check(form, guarded);
    setWrong(bad);
    setState({});
    const first = /** @type {keyof typeof names | undefined} */ (Object.keys(bad)[0]);
    if (first) {
      form[first].focus();
      return;
    }
    const taken = sale ? sale.initial - sale.left : 0;
    if (taken > 0 && state.asked !== sale?.run) { // ask once for each sale
      setState({ asked: sale?.run, failed: true, said: (w) => w.sure(taken) });
      return;
    }
    setState({ busy: true });
    if (guarded && form.token.value.trim()) keepToken(form.token.value.trim());
    let begun = false;
    try { // the strategy first: sales in between belong to the old sale
      const shop = await call('PUT', '/api/lab/v1/shop', { strategy: form.strategy.value });
      begun = true;
      await call('PUT', `/api/v1/skus/${shop.sku_id}`,
        { name: form.name.value.trim(), stock: Number(form.stock.value), starts_at: startOf(form) });
      setState({ said: (w) => w.done });
    } catch (problem) {
      setState({ failed: true, said: (w) => (begun ? w.half : w.failed)(problem.message) });
    }
    refresh();
  };

  const field = (/** @type {keyof typeof names} */ name, /** @type {unknown} */ input, hint = '') => html`
    <div class="field">
      <label for=${name}>${w[names[name]]}</label>
      ${input}
      ${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
      <p class="wrong" id="${name}-wrong" role="alert">${wrong[name] && w.wrong[name]}</p>
    </div>`;
  const about = (/** @type {string} */ name) => ({
    id: name, name, 'aria-describedby': `${name}-hint ${name}-wrong`, 'aria-invalid': wrong[name] ? 'true' : undefined,
    autocomplete: 'off',
  });
  return html`
    <form class="settings" onSubmit=${submit} noValidate>
      ${field('name', html`<input ...${about('name')} defaultValue=${sale?.name ?? 'demo'} maxlength="255" />`)}
      ${field('stock', html`<input ...${about('stock')} inputmode="numeric" defaultValue=${String(sale?.initial ?? 100)} />`, w.stockHint)}
      ${field('start', html`<select ...${about('start')} onChange=${(e) => setStart(e.currentTarget.value)}>
          ${Object.keys(w.starting).map((when) => html`<option key=${when} value=${when}>${w.starting[when]}</option>`)}
        </select>`)}
      ${start === 'at' && field('time', html`<input type="datetime-local" step="1" ...${about('time')} />`, w.timeHint)}
      ${field('strategy', html`<select ...${about('strategy')}>
          ${strategies.map((s) => html`
            <option key=${s.name} value=${s.name} disabled=${!s.available} selected=${s.name === (wished ?? sale?.strategy)}>
              ${s.name}${s.broken ? ` – ${w.broken}` : ''}${s.available ? '' : ` – ${w.unavailable}`}</option>`)}
        </select>`, w.strategyHint)}
      ${guarded && field('token', html`<input type="password" ...${about('token')} />`, w.tokenHint)}
      <button class="run" aria-disabled=${state.busy ? 'true' : undefined}>${state.busy ? w.putting : state.asked !== undefined ? w.putAnyway : w.put}</button>
      <p class=${state.failed ? 'wrong' : 'hint done'} role="status">${state.said?.(w)}</p>
    </form>`;
}

const names = { name: 'product', stock: 'stock', start: 'start', time: 'time', strategy: 'strategy', token: 'token' };

render(html`<${Admin} />`, document.body);
refresh();
