// The evidence of a verdict, folded: broken rules with their orders, figures, faults,
// charts, and how to repeat the run.
import { useAction } from '../loaded.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { classes, count, html, ms, useState } from '../ui.js';
import { Charts } from './charts.js';
import { Happened } from './faults.js';
import { Rules } from './rules.js';
import { address, fromRun } from './settings.js';
import { words } from './text.js';
import { Sign } from './verdict.js';
import { missed } from './why.js';

/** @param {{run: Json.Run}} props */
export function Evidence({ run }) {
  const [open, setOpen] = useState(false);
  const several = run.lanes.length > 1;
  return html`
    <details class="evidence" open=${open} onToggle=${(/** @type {any} */ e) => setOpen(e.currentTarget.open)}>
      <summary>${t.verdict.evidence} <span class="hint">${t.verdict.evidenceHint}</span></summary>
      ${open && html`
        ${run.lanes.filter((lane) => lane.result).map((lane) => html`
          <section key=${lane.strategy} class="panel">
            ${several && html`<h3 class="name">${lane.strategy}</h3>`}
            <${Signs} signs=${lane.result?.signs} /><${Rules} result=${lane.result} />
            <${Figures} result=${lane.result} /><${RanOn} result=${lane.result} />
          </section>`)}
        ${run.faults.length > 0 && html`<div class="panel faults"><h3>${t.faults.happened}</h3><${Happened} faults=${run.faults} several=${several} /></div>`}
        <${Charts} lanes=${run.lanes} faults=${run.faults} />
        <${About} run=${run} />`}
    </details>`;
}

const looks = /** @type {Record<string, string>} */ ({ yes: 'held', no: 'oversold', not_known: 'not_valid' });

/**
 * The two questions of a verdict: is the ledger right, and were buyers served? To be
 * served wrongly is no praise.
 * @param {{signs?: Json.Signs}} props
 */
function Signs({ signs }) {
  if (!signs?.right || !signs.served) return null;
  const w = words().signs;
  const one = (/** @type {'right' | 'served'} */ kind, /** @type {Json.YesOrNo} */ sign, /** @type {string} */ look, /** @type {string} */ text) => html`
    <p class="one-sign" data-sign=${kind} data-answer=${sign}><span class=${classes('badge', look)}><${Sign} verdict=${look} />${w.says[kind][sign]}</span> <span>${text}</span></p>`;
  const useless = signs.right === 'no' && signs.served === 'yes';
  return html`
    <div class="two-signs">
      ${one('right', signs.right, looks[signs.right], w.why.right[signs.right])}
      ${one('served', signs.served, useless ? '' : looks[signs.served], signs.short?.length ? missed(signs) : useless ? w.why.useless : w.why.served[signs.served])}
    </div>
    <p class="hint">${w.right}${w.served(signs.limits)}</p>`;
}

/** @param {{result: Json.Result}} props */
function Figures({ result }) {
  const { figures } = t.verdict;
  return html`
    <dl class="facts">
      ${result.audit && html`<div><dt>${figures.orders}</dt><dd>${count(result.audit.orders)}</dd></div>`}
      <div><dt>${figures.rate}</dt><dd>${count(result.requests_per_second)}</dd></div>
      <div><dt>${figures.sales}</dt><dd>${count(result.sales_per_second)}</dd></div>
      <div><dt>${figures.p50}</dt><dd>${ms(result.latency_us.p50 / 1000)}</dd></div>
      <div><dt>${figures.p99}</dt><dd>${ms(result.latency_us.p99 / 1000)}</dd></div>
    </dl>`;
}

/** @param {{result: Json.Result}} props */
function RanOn({ result }) {
  const commands = result.commands ?? [];
  return html`
    <p class="ran-on">
      ${t.verdict.ranOn}${t.colon}${(result.targets[0]?.backends ?? []).map((b, i) => html`
        ${i > 0 && t.comma}<span key=${b.name} class="backend">${b.version || b.name}<span class="tier">${t.aside(b.name + t.comma + (t.machines.tiers[b.tier] ?? b.tier))}</span></span>`)}
      ${commands.length > 0 && html`<br />${t.verdict.commands}${t.colon}${commands
    .map((c) => `${c.backend} ${c.per_purchase.toFixed(1)}`).join(t.comma)}`}
    </p>`;
}

/**
 * The run's settings, and how to repeat it.
 * @param {{run: Json.Run}} props
 */
function About({ run }) {
  const { id, settings: s } = run;
  const { failure, act } = useAction();
  const share = () => act(async () => (await import('./share.js')).share(run));
  return html`
    <p class="hint about-run">${t.about.load(s)} · ${t.about.services(s)} · ${t.about.seed(s.seed, s.strategies.length)}
      <span class="links"> · <a href=${link('lab', '', { ...address({ ...fromRun(s), fault: run.faults[0]?.kind ?? '' }), run: id })}>${t.about.again}</a> · <a href=${link('lab', '', { run: id })}>${t.about.itself}</a>
      ${run.state === 'done' && html` · <button type="button" class="link" onClick=${share}>${t.about.share}</button>`}</span>
      <span role="alert" class="wrong">${failure}</span></p>`;
}
