// Earlier runs, one row per strategy. Strategies of one run stay together.
import { isOn } from '../records.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { classes, count, html, moment, ms } from '../ui.js';
import { Sign, verdictOf } from './verdict.js';

/** @param {{lab: import('../lab.js').State, shown: Json.Run | null, query: Record<string, string>}} props */
export function History({ lab, shown, query }) {
  return html`
    <details class="panel runs">
      <summary id="history-title">${t.history.title} <span class="hint">${count(lab.runs.length)}</span></summary>
        <div class="scroll" tabindex="0" role="region" aria-labelledby="history-title">
          <table class="history">
            <thead><tr>
              <th scope="col">${t.history.verdict}</th><th scope="col">${t.history.strategy}</th>
              ${['sold', 'left', 'rate', 'p99'].map((name) => html`
                <th key=${name} scope="col" class="n">${t.history[name]}</th>`)}
              <th scope="col" class="n">${t.history.stock}</th><th scope="col">${t.history.load}</th><th scope="col">${t.history.time}</th>
            </tr></thead>
            ${lab.runs.map((run) => html`<${Rows} key=${run.id} run=${run} shown=${run.id === shown?.id} href=${link('lab', '', { ...query, run: run.id })} />`)}
          </table>
        </div>
    </details>`;
}

/** @param {{run: Json.Run, shown: boolean, href: string}} props */
const Rows = ({ run, shown, href }) => html`
  <tbody class=${classes(shown && 'shown')} aria-current=${shown ? 'true' : undefined} data-run=${run.id}>
    ${run.lanes.map((lane, i) => html`<${Row} key=${lane.strategy} run=${run} lane=${lane} first=${i === 0} href=${href} />`)}
  </tbody>`;

const known = (value, show = count) => (value === undefined ? '–' : show(value));

/** @param {{run: Json.Run, lane: Json.Lane, first: boolean, href: string}} props */
function Row({ run, lane, first, href }) {
  const { settings } = run;
  const { audit } = lane.result ?? {};
  const verdict = verdictOf(run, lane);
  const time = moment(run.started);
  return html`
    <tr>
      <td><span class="badge ${verdict}"><${Sign} verdict=${verdict} />${t.verdicts[verdict]}</span></td>
      <td>${isOn(run) ? lane.strategy : html`
        <a href=${href} aria-label=${t.history.show(lane.strategy, time)}>${lane.strategy}</a>`}</td>
      <td class="n">${known(audit?.sold)}</td>
      <td class="n">${known(audit?.remaining)}</td>
      <td class="n">${known(lane.result?.requests_per_second)}</td>
      <td class="n">${known(lane.result?.latency_us.p99, (us) => ms(us / 1000))}</td>
      ${first && html`
        <td class="n" rowspan=${run.lanes.length}>${count(settings.stock)}</td>
        <td rowspan=${run.lanes.length}>${t.about.load(settings)}${[...new Set(run.faults.filter((f) => f.state !== 'failed').map((f) => f.kind))].map((kind) => ` · ${t.faults.kinds[kind] ?? kind}`)}</td>
        <td rowspan=${run.lanes.length}>${time}</td>`}
    </tr>`;
}
