// The result of a comparison: a sentence, the chart, the table.
import { Failed, useLoaded } from '../loaded.js';
import { t } from '../text.js';
import { count, html, moment } from '../ui.js';
import { Bars } from './bars.js';
import { Crowds } from './crowds.js';
import { Latency } from './latency.js';
import { Pairs } from './pairs.js';
import { whole } from './store.js';
import { Table } from './table.js';
import { words } from './text.js';

/** @typedef {Json.Comparison & Required<Pick<Json.Comparison, 'verdicts'>>} Ended */

/** @param {{summary: Ended}} props */
export function Result({ summary }) {
  const { value: comparison, error, again } = useLoaded(() => whole(summary.id), [summary.id]);
  const w = words();
  const { verdicts } = summary;
  return html`
    <div class=${`banner ${verdicts.other ? 'oversold' : summary.stopped || !(verdicts.held + verdicts.caught) ? '' : 'held'}`} data-outcome>
      <p class="word small">${w.outcome(verdicts)}</p>
      <p>${moment(summary.started)} · ${w.duration(summary.seconds)}${summary.stopped && html` · ${w.wasStopped}`}</p>
    </div>
    ${summary.not_kept && html`<p class="lesson" role="status">${w.notKept} ${t.reason(summary.not_kept)}</p>`}
    ${error && html`<${Failed} error=${error} again=${again} />`}
    ${comparison?.result ? html`<${Measured} id=${summary.id} result=${comparison.result} />` : !error && html`<p class="hint">${t.nav.loading}</p>`}`;
}

/** @param {{id: string, result: Json.ComparisonResult}} props */
function Measured({ id, result }) {
  const w = words();
  return html`
    <${Bars} result=${result} />
    <${Pairs} id=${id} result=${result} />
    <${Table} result=${result} />
    <${Latency} result=${result} />
    <${Crowds} result=${result} />
    ${result.not_run.length > 0 && html`
      <section class="panel rules"><h3>${w.notRun}</h3>
        <ul>${result.not_run.map((n) => html`<li key=${n.strategy}><code>${n.strategy}</code> ${t.reason(n.why)}</li>`)}</ul></section>`}
    ${result.problems.length > 0 && html`
      <section class="panel rules"><h3>${w.problems}</h3><ul lang="en">${result.problems.map((p) => html`<li>${p}</li>`)}</ul></section>`}
    <${RanOn} result=${result} />`;
}

/** @param {{result: Json.ComparisonResult}} props */
function RanOn({ result }) {
  const w = words();
  const { machine } = result;
  return html`
    <section class="panel"><h3>${t.verdict.ranOn}</h3>
      <p class="ran-on">${w.machine(machine.cpus, `${machine.os}/${machine.arch}`)}, ${machine.go}
        ${result.servers.map((b) => html`, <span key=${b.name} class="backend">${b.version || b.name} <span class="tier">(${b.name}, ${t.machines.tiers[b.tier] ?? b.tier})</span></span>`)},
        ${' '}${w.services(result.targets.length)}${result.locks && html`, ${w.locks(result.locks)}`}</p>
      ${result.durability.length > 0 && html`
        <p class="ran-on hint">${result.durability.map((d, i) => html`${i > 0 && ' · '}<code key=${i}>${d.name}=${d.value}</code>`)}</p>`}
      <p class="hint">${w.baselines}: ${result.floors.filter((f) => f.concurrency === result.settings.concurrency).map((f, i) => html`${i > 0 && ' · '}<span key=${f.id}>${w.baselineNames[f.id] ?? f.title} ${
  f.missing ? `(${t.reason(f.missing)})` : w.perSecond(count(f.per_second.median))}</span>`)}</p>
    </section>`;
}
