// How many times one strategy is another: a sentence for each pair, with the
// interval that the lab computes from the rounds that both have.
import { Failed, useLoaded } from '../loaded.js';
import { t } from '../text.js';
import { classes, html, useState } from '../ui.js';
import { pairs } from './store.js';
import { words } from './text.js';

const first = 8; // sentences that are shown at once

/** @param {{id: string, result: Json.ComparisonResult}} props */
export function Pairs({ id, result }) {
  const [chosen, setChosen] = useState('');
  const names = result.strategies.filter((e) => e.sales_per_second.median > 0).map((e) => e.strategy);
  const { value: answer, error, again } = useLoaded(() => pairs(id, chosen), [id, chosen]);
  const w = words().pairs;
  if (names.length < 2) return null;
  const all = answer?.pairs ?? [];
  return html`
    <section class="panel pairs" aria-labelledby="pairs-title">
      <h2 id="pairs-title">${w.title}</h2>
      <p class="with"><label for="pairs-with">${w.beside}</label>
        <select id="pairs-with" onChange=${(e) => setChosen(e.currentTarget.value)}>
          <option value="" selected=${!chosen}>${w.fastest(chosen ? '' : answer?.with ?? '')}</option>
          ${names.map((name) => html`<option key=${name} value=${name} selected=${name === chosen}>${name}</option>`)}
        </select></p>
      ${error ? html`<${Failed} error=${error} again=${again} />` : !answer && html`<p class="hint">${t.nav.loading}</p>`}
      ${answer && all.length === 0 && html`<p class="hint">${w.none}</p>`}
      <${Sentences} pairs=${all.slice(0, first)} />
      ${all.length > first && html`<details><summary>${w.more(all.length - first)}</summary><${Sentences} pairs=${all.slice(first)} /></details>`}
      <p class="hint">${w.note(Math.max(0, ...all.map((p) => p.rounds)))}</p>
    </section>`;
}

/** @param {{pairs: Json.Pair[]}} props */
const Sentences = ({ pairs: all }) => html`
  <ul class="sentences">${all.map((p) => html`
    <li key=${p.faster + p.slower} class=${classes(!p.apart && 'alike')} data-apart=${p.apart ? 'yes' : 'no'}>${sentence(p)}</li>`)}</ul>`;

/** @param {Json.Pair} p */
function sentence(p) {
  const w = words().pairs;
  const [one, other] = [p.faster, p.slower].map((name) => html`<code>${name}</code>`);
  const interval = p.high > 0 && html` <span class="interval">(${times(p.low)}–${times(p.high)})</span>`;
  if (p.high > 0 && !p.apart) return html`${w.alike(one, other)}${interval}`;
  return html`${w.is(one, html`<strong>${times(p.times)}</strong>`, other)}${interval}`;
}

/**
 * A ratio with two decimals, a large one with fewer.
 * @param {number} x
 */
const times = (x) => (x < 9.995 ? x.toFixed(2) : x < 99.5 ? x.toFixed(1) : x.toFixed(0));
