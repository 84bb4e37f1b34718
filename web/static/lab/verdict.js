// The verdict that nobody can miss, and everything it rests on.
import { t } from '../text.js';
import { count, html, ms } from '../ui.js';

const signs = {
  held: 'M5 13l5 5L20 6', // a tick
  oversold: 'M6 6l12 12M18 6L6 18', // a cross
  lost: 'M6 6l12 12M18 6L6 18',
  not_valid: 'M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1.1-1.5 2.3M12 18.5v.1', // a question
  failed: 'M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1.1-1.5 2.3M12 18.5v.1',
};

/** @returns {keyof signs | 'running' | 'stopping'} */
export const verdictOf = (run) => run.result?.verdict ?? run.state;

export const Sign = ({ verdict }) => signs[verdict] && html`
  <svg class="sign" viewBox="0 0 24 24" aria-hidden="true"><path d=${signs[verdict]} /></svg>`;

function sentence(run) {
  const audit = run.result?.audit;
  const verdict = verdictOf(run);
  if (!t.verdict[verdict]) return run.error ?? '';
  if (!audit && verdict !== 'not_valid') return '';
  const text = t.verdict[verdict](audit, run.result.requests);
  return verdict === 'held' && audit.remaining > 0 ? `${text} ${t.verdict.left(audit.remaining)}` : text;
}

export function Verdict({ run }) {
  const verdict = verdictOf(run);
  return html`
    <div class="banner ${verdict}" data-verdict=${verdict}>
      <p class="word"><${Sign} verdict=${verdict} />${t.verdicts[verdict]}</p>
      <p><strong>${run.settings.strategy}</strong> · ${sentence(run)}</p>
    </div>`;
}

Verdict.announcement = (run) => t.verdict.announcement(t.verdicts[verdictOf(run)], sentence(run));

/** What broke, with the very orders, and what to make of it. */
export function Findings({ result }) {
  return result && html`
    <${Rules} violations=${result.audit?.violations ?? []} />
    <${Problems} problems=${result.problems ?? []} />
    <${Lesson} result=${result} />`;
}

function Lesson({ result: { strategy, verdict } }) {
  if (!strategy.broken || verdict === 'not_valid') return null;
  const say = verdict === 'held' ? t.verdict.brokenHeld : t.verdict.brokenBroke;
  return html`<p class="lesson">${say(strategy.name)}</p>`;
}

const Rules = ({ violations }) => violations.length > 0 && html`
  <div class="panel rules">
    <h3>${t.verdict.rules}</h3>
    <ul>
      ${violations.map((v) => html`
        <li key=${v.rule}>
          <p><strong>${t.rules[v.rule] ?? v.rule}</strong> <code>${v.rule}</code></p>
          <p>${v.message}</p>
          ${v.examples && html`
            <ul class="examples">
              ${v.examples.map((e) => html`<li><code>${e}</code></li>`)}
              ${v.count > v.examples.length && html`<li>${t.verdict.more(v.count - v.examples.length)}</li>`}
            </ul>`}
        </li>`)}
    </ul>
  </div>`;

const Problems = ({ problems }) => problems.length > 0 && html`
  <div class="panel rules">
    <h3>${t.verdict.problems}</h3>
    <ul>${problems.map((p) => html`<li>${p}</li>`)}</ul>
  </div>`;

/** The figures, and what they were measured on: neither means much alone. */
export function Facts({ result }) {
  return result && html`
    <div class="panel">
      <${Figures} result=${result} />
      <${RanOn} result=${result} />
    </div>`;
}

function Figures({ result }) {
  const { figures } = t.verdict;
  return html`
    <dl class="facts">
      ${result.audit && html`<div><dt>${figures.orders}</dt><dd>${count(result.audit.orders)}</dd></div>`}
      <div><dt>${figures.rate}</dt><dd>${count(result.requests_per_second)}</dd></div>
      <div><dt>${figures.sales}</dt><dd>${count(result.sales_per_second)}</dd></div>
      <div><dt>${figures.p50}</dt><dd>${ms(result.latency_us.p50 / 1000)}</dd></div>
      <div><dt>${figures.p99}</dt><dd>${ms(result.latency_us.p99 / 1000)}</dd></div>
      <div><dt>${figures.seconds}</dt><dd>${t.verdict.took(result.seconds)}</dd></div>
    </dl>`;
}

function RanOn({ result }) {
  const backends = result.targets[0]?.backends ?? [];
  return html`
    <p class="ran-on">
      ${t.verdict.ranOn}: ${backends.map((b, i) => html`
        ${i > 0 && ', '}<span key=${b.name} class="backend">${b.version || b.name} <span class="tier">(${b.name}, ${t.machines.tiers[b.tier] ?? b.tier})</span></span>`)}
      ${result.commands?.length > 0 && html`<br />${t.verdict.commands}: ${result.commands
    .map((c) => `${c.backend} ${c.per_purchase.toFixed(1)}`).join(', ')}`}
    </p>`;
}
