// The result of a comparison: the answer first, then the table and the charts.
import { Copy } from '../copy.js';
import { words as labWords } from '../lab/text.js';
import { Awaited, useLoaded } from '../loaded.js';
import { t } from '../text.js';
import { html, moment } from '../ui.js';
import { Badge, Served, kindOf } from './badge.js';
import { Charts } from './charts.js';
import { whole } from './store.js';
import { apart, interval, Table, times } from './table.js';
import { words } from './text.js';

/** @typedef {Json.Comparison & Required<Pick<Json.Comparison, 'verdicts'>>} Ended */

/** @param {{summary: Ended}} props */
export function Result({ summary }) {
  const { value, error, again } = useLoaded(() => whole(summary.id), [summary.id]);
  const w = words();
  const result = value?.result;
  return html`
    <div class=${`banner ${summary.verdicts.other ? 'oversold' : summary.stopped || !(summary.verdicts.held + summary.verdicts.caught) ? '' : 'held'}`} data-outcome>
      ${result && html`<${Answer} result=${result} />`}
      <p>${w.outcome(summary.verdicts)} · ${moment(summary.started)} · ${w.duration(summary.seconds)}${summary.stopped && html` · ${w.wasStopped}`}</p>
    </div>
    ${(error || !result) && html`<${Awaited} error=${error} again=${again} />`}
    ${result && html`<${Measured} result=${result} of=${summary} />`}`;
}

/** @param {Json.ComparisonResult} result */
const own = ({ entries, settings }) => entries.filter((e) => !e.baseline && !e.keyless && e.concurrency === settings.concurrency);

/**
 * The question that was asked: which is faster, and by how much; with the verdicts.
 * @param {{result: Json.ComparisonResult}} props
 */
function Answer({ result }) {
  const w = words();
  const { by } = result.settings;
  const right = own(result).filter((e) => kindOf(e) === 'held' && e.figures[by]).sort((a, b) => b.figures[by][0] - a.figures[by][0]);
  const base = right.find((e) => e.strategy === result.relative_to);
  const other = base === right[0] ? right[1] : right[0]; // than that
  return html`
    ${base && other?.factor && html`<p class="word small">${sentence(other, base, other.factor, by)}</p>`}
    ${base && right[0].proof_breaks && html`<p>${w.answer.breaks(html`<code>${right[0].strategy}</code>`, html`<code>${right[0].proof_breaks}</code>`)}</p>`}
    ${own(result).length <= 4 && html`<ul class="answers">${[...right, ...own(result).filter((e) => !right.includes(e))].map((e) => html`
      <li key=${e.strategy}><code>${e.strategy}</code> <${Badge} entry=${e} /> <${Served} entry=${e} />${e.over > 0 && ` ${w.over(e.over)}`}</li>`)}</ul>`}`;
}

/** @param {Json.Entry} e @param {Json.Entry} base @param {Json.Factor} f @param {string} by */
function sentence(e, base, f, by) {
  const w = words().answer;
  const [one, other] = [html`<code>${e.strategy}</code>`, html`<code>${base.strategy}</code>`];
  if (f.high > 0 && !apart(f)) return html`${w.alike(one, other)} <small class="interval">(${interval(f)})</small>`;
  if (f.times >= 1) return html`${w[by](one, times(f.times), other)} ${f.high > 0 && html`<small class="interval">(${interval(f)})</small>`}`;
  const inverse = { ...f, times: 1 / f.times, low: f.high && 1 / f.high, high: f.low && 1 / f.low };
  return html`${w[by](other, times(inverse.times), one)} ${f.high > 0 && html`<small class="interval">(${interval(inverse)})</small>`}`;
}

/** @param {{result: Json.ComparisonResult, of: Json.Comparison}} props */
function Measured({ result, of }) {
  const w = words();
  const entries = result.entries.filter((e) => e.concurrency === result.settings.concurrency);
  const findings = result.entries.filter((e) => e.violations.length + e.reasons.length > 0);
  return html`
    ${entries.length > 0 && html`<section class="panel" aria-labelledby="table-title">
      <h2 id="table-title">${w.table}</h2>
      <${Table} entries=${entries} relativeTo=${result.relative_to} />
      <p class="hint">${w.tableNote(result.settings.rounds)}</p>
    </section>`}
    <${Charts} result=${result} />
    ${findings.length > 0 && html`
      <section class="panel rules"><h3>${w.found}</h3>
        <ul>${findings.map((e) => html`<li key=${e.strategy + e.concurrency + e.keyless}><code>${e.strategy}</code>${e.keyless && w.keyless} ${[...e.violations.map((v) => (t.rules[v.rule] ?? v.message) + t.stop), ...e.reasons.map(labWords().problem)].join(' ')}</li>`)}</ul></section>`}
    ${result.not_run.length > 0 && html`
      <section class="panel rules"><h3>${w.notRun}</h3>
        <ul>${result.not_run.map((n) => html`<li key=${n.strategy}><code>${n.strategy}</code> ${t.reason(n.why)}</li>`)}</ul></section>`}
    ${result.problems.length > 0 && html`
      <section class="panel rules"><h3>${w.problems}</h3><ul lang="en">${result.problems.map((p) => html`<li>${p}</li>`)}</ul></section>`}
    <${RanOn} result=${result} of=${of} />`;
}

/** @param {{result: Json.ComparisonResult, of: Json.Comparison}} props */
function RanOn({ result, of: { command, services_settings: settings } }) {
  const w = words();
  const { machine } = result;
  return html`
    <section class="panel"><h3>${t.verdict.ranOn}</h3>
      <p class="ran-on">${w.machine(machine.cpus, `${machine.os}/${machine.arch}`)}${t.comma}${machine.go}
        ${result.servers.map((b) => html`${t.comma}<span key=${b.name} class="backend">${b.version || b.name}<span class="tier">${t.aside(b.name + t.comma + (t.machines.tiers[b.tier] ?? b.tier))}</span></span>`)}${t.comma}${t.about.services({ ...settings, services: result.targets?.length ?? 0 })}</p>
      <p class="hint">${w.sameCommand}</p>
      <pre tabindex="0" class="command"><code>${command.split(/ (?=--)/).map((flag) => html`<span>${flag}</span> `)}</code></pre>
      <p class="buttons"><${Copy} text=${command} label=${w.copyCommand} /></p>
    </section>`;
}
