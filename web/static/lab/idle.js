// Before the first run: what to try, and what the four verdicts mean.
import { start } from '../lab.js';
import { useAction, Wrong } from '../loaded.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { Sign } from './verdict.js';

const sale = { stock: 100, buyers: 2000, concurrency: 64 };

/** @param {{lab: import('../lab.js').State}} props */
export function Idle({ lab }) {
  const { failure, act } = useAction();
  const ready = lab.strategies.filter((s) => s.available).map((s) => s.name);
  const offer = (names, hint) => names.every((name) => ready.includes(name)) && html`
    <p><button type="button" class="offer" onClick=${() => act(() => start({ strategies: names, ...sale }))}>
      ${t.idle.run(t.list(names))}</button> <span class="hint">${hint}</span></p>`;
  return html`
    <div class="idle">
      <h2>${t.idle.title}</h2>
      ${ready.length > 0 && html`<p>${t.idle.text}</p>`}
      ${offer(['naive'], t.idle.breaksHint)}
      ${offer(['conditional'], t.idle.holdsHint)}
      ${offer(['naive', 'conditional'], t.idle.bothHint)}
      <${Wrong} failure=${failure} />
      <dl>
        ${['held', 'oversold', 'lost', 'blocked', 'not_valid'].map((v) => html`
          <div key=${v}><dt><span class="badge ${v}"><${Sign} verdict=${v} />${t.verdicts[v]}</span></dt><dd>${t.idle.meaning[v]}</dd></div>`)}
      </dl>
    </div>`;
}
