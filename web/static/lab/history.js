import { choose, isOn } from '../lab.js';
import { t } from '../text.js';
import { classes, count, html, ms } from '../ui.js';
import { Sign, verdictOf } from './verdict.js';

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

export function History({ lab, shown }) {
  return html`
    <section class="panel" aria-labelledby="history-title">
      <h2 id="history-title">${t.history.title}</h2>
      ${lab.runs.length === 0 ? html`<p class="hint">${t.history.empty}</p>` : html`
        <div class="scroll" tabindex="0" role="region" aria-labelledby="history-title">
          <table class="history">
            <thead><tr>
              <th scope="col">${t.history.verdict}</th><th scope="col">${t.history.strategy}</th>
              ${['stock', 'buyers', 'atATime', 'sold', 'left', 'rate', 'p99'].map((name) => html`
                <th key=${name} scope="col" class="n">${t.history[name]}</th>`)}
              <th scope="col">${t.history.time}</th>
            </tr></thead>
            <tbody>${lab.runs.map((run) => html`<${Row} key=${run.id} run=${run} shown=${run.id === shown?.id} />`)}</tbody>
          </table>
        </div>`}
    </section>`;
}

function Row({ run, shown }) {
  const { settings, result } = run;
  const audit = result?.audit;
  const verdict = verdictOf(run);
  const time = clock.format(new Date(run.started));
  const known = (value, show = count) => (value === undefined ? '–' : show(value));
  return html`
    <tr class=${classes(shown && 'shown')} aria-current=${shown ? 'true' : undefined}>
      <td><span class="badge ${verdict}"><${Sign} verdict=${verdict} />${t.verdicts[verdict]}</span></td>
      <td>${isOn(run) ? settings.strategy : html`
        <button type="button" class="link" aria-label=${t.history.show(settings.strategy, time)}
          onClick=${() => choose(run.id)}>${settings.strategy}</button>`}</td>
      <td class="n">${count(settings.stock)}</td>
      <td class="n">${count(settings.buyers)}</td>
      <td class="n">${count(settings.concurrency)}</td>
      <td class="n">${known(audit?.sold)}</td>
      <td class="n">${known(audit?.remaining)}</td>
      <td class="n">${known(result?.requests_per_second)}</td>
      <td class="n">${known(result?.latency_us.p99, (us) => ms(us / 1000))}</td>
      <td>${time}</td>
    </tr>`;
}
