// Five questions that lead to strategies. The answers live in the address.
import { Failed, useLoaded } from '../loaded.js';
import { loadMatrix } from '../guarantees/matrix.js';
import { useLab } from '../lab.js';
import { loadFigures } from '../lessons/measured.js';
import { link, stay } from '../route.js';
import { t } from '../text.js';
import { count, html, styled } from '../ui.js';
import { addressOf, answersOf, choose, failures, having, rates, stocks } from './choose.js';
import { Results } from './results.js';
import { words } from './text.js';

await Promise.all([styled('guarantees/screen.css'), styled('choose/choose.css')]);

const load = () => Promise.all([loadMatrix(), loadFigures()]);

/** @param {{route: import('../route.js').Route}} props */
export function Chooser({ route }) {
  const { value, error, again } = useLoaded(load, []);
  const lab = useLab();
  const w = words();
  if (!value) return error ? html`<${Failed} title=${w.title} error=${error} again=${again} />` : html`<p class="hint">${t.nav.loading}</p>`;
  const [matrix, figures] = value;
  const answers = answersOf(route.query);
  return html`
    <h1>${w.title}</h1>
    <p class="intro">${w.what} <a href=${link('guarantees')}>${w.matrix}</a></p>
    <div class="choosing">
      <${Questions} answers=${answers} />
      ${lab.strategies.length
    ? html`<${Results} answers=${answers} choice=${choose(answers, lab.strategies, matrix, figures)} all=${lab.strategies} matrix=${matrix} figures=${figures} />`
    : html`<p class="panel" role="status">${lab.status ? t.form.noStrategies : t.nav.loading}</p>`}
    </div>`;
}

/** @param {{answers: import('./choose.js').Answers}} props */
function Questions({ answers }) {
  const w = words();
  const put = (/** @type {Partial<import('./choose.js').Answers>} */ change) => stay('choose', '', addressOf({ ...answers, ...change }));
  const toggled = (/** @type {string[]} */ list, /** @type {string} */ one) => (list.includes(one) ? list.filter((x) => x !== one) : [...list, one]);
  return html`
    <form class="panel questions" onSubmit=${(e) => e.preventDefault()}>
      <${Question} name="stock" options=${stocks.map((n) => ({ id: n, text: count(n), on: n === answers.stock, set: () => put({ stock: n }) }))} />
      <${Question} name="rate" options=${rates.map((n) => ({ id: n, text: w.rate(n), on: n === answers.rate, set: () => put({ rate: n }) }))} />
      <${Question} name="have" many options=${having.map((s) => ({ id: s, text: w.have[s], on: answers.have.includes(s), set: () => put({ have: toggled(answers.have, s) }) }))} />
      <${Question} name="fails" many options=${failures.map((q) => ({ id: q, text: w.fails[q], on: answers.fails.includes(q), set: () => put({ fails: toggled(answers.fails, q) }) }))} />
      <${Question} name="order" options=${[false, true].map((yes) => ({ id: yes, text: w.order[yes ? 'yes' : 'no'], on: yes === answers.order, set: () => put({ order: yes }) }))} />
      <p class="hint">${w.copy}</p>
      <p><button type="button" class="offer small" onClick=${() => stay('choose')}>${w.reset}</button></p>
    </form>`;
}

/** @param {{name: string, many?: boolean, options: {id: any, text: string, on: boolean, set: () => void}[]}} props */
const Question = ({ name, many = false, options }) => html`
  <fieldset aria-describedby=${`${name}-hint`}>
    <legend>${words().questions[name]}</legend>
    <div class=${many ? 'many' : 'one'}>
      ${options.map(({ id, text, on, set }) => html`
        <label key=${id}><input type=${many ? 'checkbox' : 'radio'} name=${name} value=${String(id)} checked=${on} onChange=${set} /> ${text}</label>`)}
    </div>
    <p class="hint" id=${`${name}-hint`}>${words().hints[name]}</p>
  </fieldset>`;
