// The history of comparisons, including earlier labs.
import { breakable } from '../highlight.js';
import { isOn } from '../records.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { classes, html, moment } from '../ui.js';
import { toForm, toQuery } from './settings.js';
import { words } from './text.js';

/** @param {{comparisons: import('./form.js').Ready, shown?: string, look: () => void}} props */
export function List({ comparisons, shown, look }) {
  const { all, history, presets } = comparisons;
  const w = words();
  return html`
    <section class="panel list" aria-labelledby="list-title">
      <h2 id="list-title">${w.list.title}</h2>
      ${all.length === 0 ? html`<p class="hint">${w.list.empty}</p>` : html`
        <div class="scroll" tabindex="0" role="region" aria-label=${w.list.verdicts}>
          <table class="history">
            <thead><tr>
              ${['started', 'strategies', 'sale', 'rounds', 'verdicts', 'took'].map((name) => html`<th key=${name} scope="col">${w.list[name]}</th>`)}
              <th scope="col"><span class="hidden">${w.list.reuse}</span></th>
            </tr></thead>
            <tbody>${all.map((c) => html`
              <${Row} key=${c.id} c=${c} shown=${c.id === shown} look=${look}
                query=${toQuery({ ...toForm(c.settings), seed: c.settings.seed }, presets)} />`)}</tbody>
          </table>
        </div>`}
      <p class="hint">${breakable(history.folder ? w.list.kept(history.folder, history.most) : w.list.notKept)}</p>
    </section>`;
}

/** @param {{c: Json.Comparison, shown: boolean, look: () => void, query: Record<string, string>}} props */
function Row({ c, shown, look, query }) {
  const w = words();
  const s = c.settings;
  const time = moment(c.started);
  const on = isOn(c);
  return html`
    <tr class=${classes(shown && 'shown')} aria-current=${shown ? 'true' : undefined}>
      <td><a href=${link('compare', c.id)} onClick=${look}>${time}</a></td>
      <td class="wrapping" title=${t.list(s.strategies)}>${w.list.names(s.strategies)}</td>
      <td class="wrapping">${w.list.saleOf(s)}</td>
      <td>${w.list.roundsOf(s.rounds, s.turn_ns / 1e6)}</td>
      <td>${on ? w.list.on : html`<${Counts} verdicts=${c.verdicts} />${c.stopped && ` ${w.list.stopped}`}`}</td>
      <td>${on ? '' : w.duration(c.seconds)}</td>
      <td class="row-buttons">
        <a class="quiet" href=${link('compare', '', query)}>${w.list.reuse}</a>
      </td>
    </tr>`;
}

/** @param {{verdicts: NonNullable<Json.Comparison['verdicts']>}} props */
function Counts({ verdicts: v }) {
  const w = words();
  return html`
    ${v.held > 0 && html`<span class="badge held">${w.list.held(v.held)}</span> `}
    ${v.caught > 0 && html`<span class="badge caught">${w.list.caught(v.caught)}</span> `}
    ${v.other > 0 && html`<span class="badge oversold">${w.list.other(v.other)}</span> `}
    ${v.not_run > 0 && html`<span class="badge">${w.list.notRun(v.not_run)}</span>`}`;
}
