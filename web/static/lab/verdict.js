// The verdict, with the evidence for it.
import { useAction } from '../loaded.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { count, html, ms, useEffect, useState } from '../ui.js';
import { address, fromRun } from './settings.js';

const signs = {
  held: 'M5 13l5 5L20 6', // a tick
  oversold: 'M6 6l12 12M18 6L6 18', // a cross
  lost: 'M6 6l12 12M18 6L6 18',
  blocked: 'M9 5v14M15 5v14', // a pause
  not_valid: 'M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1.1-1.5 2.3M12 18.5v.1', // a question
  failed: 'M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1.1-1.5 2.3M12 18.5v.1',
};

/** @param {Json.Run} run @param {Json.Lane} lane @returns {keyof typeof signs | 'preparing' | 'running' | 'stopping'} */
export const verdictOf = (run, lane) => lane.result?.verdict
  ?? (lane.error || run.state === 'done' ? 'failed' : run.state);

export const Sign = ({ verdict }) => signs[verdict] && html`
  <svg class="sign" viewBox="0 0 24 24" aria-hidden="true"><path d=${signs[verdict]} /></svg>`;

/** @param {Json.Run} run @param {Json.Lane} lane */
function sentence(run, lane) {
  const { audit } = lane.result ?? {};
  const verdict = verdictOf(run, lane);
  if (!t.verdict[verdict]) return lane.error ?? run.error ?? '';
  if (!audit && verdict !== 'not_valid') return '';
  const text = t.verdict[verdict](audit, lane.result);
  const stayed = (verdict === 'held' || verdict === 'blocked') && audit && audit.remaining > 0;
  return stayed ? `${text}${t.verdict.gap}${t.verdict.left(audit.remaining, told(lane.result?.counts))}` : text;
}

/**
 * What buyers who got nothing were told, with counts.
 * @param {Record<string, number>} [counts]
 */
const told = (counts = {}) => t.list(Object.entries(counts)
  .filter(([outcome, n]) => n > 0 && outcome !== 'sold')
  .map(([outcome, n]) => t.verdict.told[outcome]?.(n) ?? `${outcome} ${count(n)}`));

/** @param {{run: Json.Run, lane: Json.Lane}} props */
export function Verdict({ run, lane }) {
  const verdict = verdictOf(run, lane);
  return html`
    <div class="banner ${verdict}" data-verdict=${verdict}>
      <p class="word"><${Sign} verdict=${verdict} />${t.verdicts[verdict]}</p>
      <p>${run.lanes.length === 1 && html`<strong>${lane.strategy}</strong> · `}${sentence(run, lane)}</p>
      ${lane.known && html`
        <p class="known">${t.verdict.heldThisTime}${t.verdict.gap}${lane.known.map((k, i) => html`
          ${i > 0 && t.verdict.and}<a key=${k.example} href=${link('trace', k.example)}>${t.verdict.when[k.question] ?? k.example}</a>`)}${t.verdict.stop}</p>`}
    </div>`;
}

/** @param {Json.Run} run @param {Json.Lane} lane */
export const announcement = (run, lane) => t.verdict.announcement(lane.strategy, t.verdicts[verdictOf(run, lane)], sentence(run, lane));

/**
 * A remark on strategies that are broken on purpose.
 * @param {{result: Json.Result}} props
 */
export function Lesson({ result: { strategy, verdict } }) {
  if (!strategy.broken || verdict === 'not_valid') return null;
  const say = verdict === 'held' ? t.verdict.brokenHeld : t.verdict.brokenBroke;
  return html`<p class="lesson">${say(strategy.name)} <a href=${link('lessons', strategy.name)}>${t.verdict.why}</a></p>`;
}

/**
 * Broken rules with their orders, and why a run is not valid: loaded on demand.
 * If that fails because the lab is gone, the judge's messages are shown.
 * @param {{result: Json.Result, open?: number}} props
 */
export function Rules(props) {
  const [loaded, keep] = useState(/** @type {typeof import('./rules.js') | null} */ (null));
  const [failed, fail] = useState(false);
  const lines = [...(props.result.audit?.violations ?? []).map((v) => v.message), ...(props.result.problems ?? [])];
  const broke = lines.length > 0;
  useEffect(() => {
    if (broke) import('./rules.js').then(keep, () => fail(true));
  }, [broke]);
  if (loaded && broke) return html`<${loaded.Rules} ...${props} />`;
  return failed && broke && html`<${Listed} title=${t.verdict.rules} lines=${lines} />`;
}

/**
 * Messages of the lab, in English.
 * @param {{title: string, lines: string[]}} props
 */
const Listed = ({ title, lines }) => html`
  <div class="panel rules">
    <h3>${title}</h3>
    <ul lang="en">${lines.map((line) => html`<li>${line}</li>`)}</ul>
  </div>`;

/** The figures, and what they were measured on. */
export const Facts = ({ result }) => html`
  <div class="panel"><${Figures} result=${result} /><${RanOn} result=${result} /></div>`;

/** @param {{result: Json.Result}} props */
export function Figures({ result }) {
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

/** @param {{result: Json.Result}} props */
function RanOn({ result }) {
  const backends = result.targets[0]?.backends ?? [];
  const commands = result.commands ?? [];
  return html`
    <p class="ran-on">
      ${t.verdict.ranOn}: ${backends.map((b, i) => html`
        ${i > 0 && ', '}<span key=${b.name} class="backend">${b.version || b.name} <span class="tier">(${b.name}, ${t.machines.tiers[b.tier] ?? b.tier})</span></span>`)}
      ${commands.length > 0 && html`<br />${t.verdict.commands}: ${commands
    .map((c) => `${c.backend} ${c.per_purchase.toFixed(1)}`).join(', ')}`}
    </p>`;
}

/**
 * The run's settings, and how to repeat it.
 * @param {{run: Json.Run}} props
 */
export function About({ run }) {
  const { id, settings: s, not_kept: notKept } = run;
  const { failure, act } = useAction();
  const share = () => act(async () => (await import('./share.js')).share(run));
  return html`
    <p class="hint about-run">${t.about.load(s)} · ${t.about.services(s)} · ${t.about.seed(s.seed, s.strategies.length)}
      <span class="links"> · <a href=${link('lab', '', { ...address({ ...fromRun(s), repeats: '1' }), run: id })}>${t.about.again}</a> · <a href=${link('lab', '', { run: id })}>${t.about.itself}</a>
      ${run.state === 'done' && run.lanes[0].command && html` · <button type="button" class="link" onClick=${share}>${t.about.share}</button>`}</span>
      <span role="alert" class="wrong">${failure}</span>
      ${notKept && html`<br />${t.about.notKept(t.reason(notKept))}`}</p>`;
}
