// What faults under load did to each strategy, as `seckill chaos` measured it, with the
// signs of the proof.
import { Dialog } from '../guarantees/dialog.js';
import { Grid, Ways } from '../guarantees/grid.js';
import { brokenOf, kinds, signs } from '../guarantees/marks.js';
import { loadMatrix } from '../guarantees/matrix.js';
import { isLock } from '../guarantees/rows.js';
import { words as proofWords } from '../guarantees/text.js';
import { address, fromRun } from '../lab/settings.js';
import { longSale } from '../lab/start.js';
import { words as labWords } from '../lab/text.js';
import { useLab } from '../lab.js';
import { Awaited, once, useLoaded } from '../loaded.js';
import { call } from '../api.js';
import { breakable } from '../highlight.js';
import { link, stay } from '../route.js';
import { titleOf } from '../strategies.js';
import { t } from '../text.js';
import { count, html, styled } from '../ui.js';
import { words } from './text.js';

await Promise.all([styled('guarantees/screen.css'), styled('chaos/chaos.css')]);

/** What `seckill chaos` came to, and which strategies are locks. */
const load = once(() => Promise.all([call('GET', '/static/chaos/results.json').then((file) => file.chaos), loadMatrix()]));

/** @type {Record<string, keyof typeof signs>} the proof's answer that a word stands for */
const answers = { held: 'all', oversold: 'breaks', lost: 'breaks', blocked: 'breaks', stopped: 'breaks', 'not tested': 'n/a', 'proves nothing': 'failed', '': 'n/a' };

/** @param {Json.ChaosCell | null} cell */
const broke = (cell) => answers[cell?.word ?? ''] === 'breaks';

/** @param {{route: import('../route.js').Route}} props */
export function Chaos({ route: { query } }) {
  const { value, error, again } = useLoaded(load, []);
  const { strategies } = useLab();
  const w = words();
  if (!value) return html`<${Awaited} title=${t.nav.chaos} error=${error} again=${again} />`;
  const [all, matrix] = /** @type {[Json.Chaos, Json.Matrix]} */ (value);
  const put = (/** @type {Record<string, string>} */ change) => stay('chaos', '', { ...query, ...change });
  const cellOf = (/** @type {string} */ name, /** @type {string} */ fault) => all.rows.find((r) => r.strategy === name)?.cells[all.faults.indexOf(fault)] ?? null;
  const broken = (/** @type {Json.ChaosRow} */ row) => row.cells.filter(broke).length;
  const rows = all.rows.filter((row) => !query.show || row.cells.some((c) => (query.show === 'wrong' ? c?.wrong : broke(c)))).sort((a, b) => broken(a) - broken(b));
  const proven = (/** @type {string} */ name) => matrix.rows.find((r) => r.strategy === name);
  const [name = '', fault = ''] = (query.cell ?? '').split('.');
  const shown = cellOf(name, fault);
  return html`
    <h1 class="hidden">${t.nav.chaos}</h1>
    <p class="intro">${w.what}</p>
    <p class="presets" role="group" aria-label=${w.show}>${Object.entries(w.shows).map(([key, text]) => html`
      <button key=${key} type="button" class="quiet" aria-pressed=${String(key === (query.show ?? ''))} onClick=${() => put({ show: key })}>${text}</button>`)}
      <span class="hint" role="status">${w.shown(rows.length, all.rows.length)}${all.left ? ` ${w.left(all.left)}` : ''}</span></p>
    <ul class="legend-line">${['held', 'oversold', 'not tested', 'proves nothing'].map((word) => html`
      <li key=${word}><span class=${`mark ${kinds[answers[word]]}`} aria-hidden="true">${signs[answers[word]]}</span> ${word === 'oversold' ? w.didNotHold : w.words[word]}</li>`)}</ul>
    <div class="few"><${Grid} label=${t.nav.chaos} held=${(/** @type {string} */ one) => w.held(all.faults.filter((id) => cellOf(one, id)?.word === 'not tested').length)} rows=${rows.map(({ strategy }) => ({ name: strategy, title: titleOf(strategies.find((s) => s.name === strategy) ?? proven(strategy) ?? { title: '' }), lock: isLock(proven(strategy) ?? /** @type {any} */ ({ cells: {} })) }))}
      columns=${all.faults.map((id) => ({ id, title: faultTitle(id), asks: faultHint(id) }))}
      answer=${(/** @type {string} */ row, /** @type {string} */ id) => answerOf(cellOf(row, id), link('chaos', '', { ...query, cell: `${row}.${id}` }))}
      to=${(/** @type {string} */ cell) => link('guarantees', '', { cell })} /></div>
    <p class="hint">${w.sale(all.settings)}${w.ran(all.begun, all.machine, (all.servers ?? []).join(', '))}${w.command}<code class="chaos-command">${breakable(all.command)}</code></p>
    ${shown && broke(shown) && html`<${Sale} key=${query.cell} all=${all} name=${name} fault=${fault} cell=${shown} close=${() => put({ cell: '' })} />`}`;
}

/** @param {Json.ChaosCell | null} cell @param {string} href @returns {import('../guarantees/grid.js').Answer} */
function answerOf(cell, href) {
  const w = words();
  const word = cell?.word ?? '';
  const answer = answers[word];
  return {
    sign: signs[answer], kind: kinds[answer], says: `${w.words[word]}${cell?.wrong ? `${t.semicolon}${w.wrong}` : ''}`, href: broke(cell) ? href : undefined,
    what: broke(cell) ? (word === 'blocked' || word === 'stopped' ? w.stuck : proofWords().about[brokenOf(cell?.rules?.[0])]) : undefined,
  };
}

/** @param {string} fault @returns {string} */
const faultTitle = (fault) => (fault === 'none' ? words().control : t.faults.kinds[fault] ?? fault);

/** @param {string} fault @returns {string} */
const faultHint = (fault) => (fault === 'none' ? words().controlHint : labWords().faults.hints[fault] ?? '');

/**
 * One sale that did not hold: what became of it, its course, its figures and its command.
 * @param {{all: Json.Chaos, name: string, fault: string, cell: Json.ChaosCell, close: () => void}} props
 */
function Sale({ all, name, fault, cell, close }) {
  const w = words();
  const f = w.figures;
  const word = cell.word ?? '';
  const [told, unknown, initial, left, ledger] = cell.units ?? [];
  const rows = /** @type {[string, unknown][]} */ ([
    [f.told, count(told)], [f.unknown, count(unknown)], [f.ledger, f.of(ledger, initial)],
    cell.rules && [f.broken, cell.rules.map((rule) => t.rules[rule] ?? rule).join(' · ')],
    [f.stood, w.seconds(cell.stood ?? 0)],
    [f.after, f.left(cell.after ?? 0, left)],
  ].filter(Boolean));
  return html`
    <${Dialog} title=${html`<code>${name}</code> · ${faultTitle(fault)}`} close=${close}
      ways=${html`<${Ways} name=${name} sale=${fault === 'none' ? undefined : address({ ...fromRun(/** @type {any} */ ({ strategies: [name], ...longSale })), fault })} /><a class="offer small" href=${link('guarantees', '', { cell: name })}>${w.guarantee}</a>`}>
      <p class="hint">${faultHint(fault)}</p>
      <p><span class=${`mark ${kinds[answers[word]]}`} aria-hidden="true">${signs[answers[word]]}</span> <strong>${w.words[word]}</strong> ${w.means[word]}</p>
      ${cell.said && t.code === 'en' && html`<p class=${cell.wrong ? 'wrong' : 'hint'}>${cell.said}</p>`}
      ${fault !== 'none' && html`<p class=${cell.wrong ? 'wrong' : 'hint'}>${cell.wrong ? w.wrong : cell.may ? w.may : ''}</p>`}
      <${Course} cell=${cell} />
      <dl class="chaos-figures">${rows.map(([title, value]) => html`<div key=${title}><dt>${title}</dt><dd>${value}</dd></div>`)}</dl>
      <p>${f.command}<br /><code class="command">${all.repeat.replace('STRATEGY', name).replace('FAULT', fault)}</code></p>
    <//>`;
}

const [width, height] = [600, 130];

/**
 * The course of a sale: sold, and without an answer, with the fault as a band.
 * @param {{cell: Json.ChaosCell}} props
 */
function Course({ cell }) {
  const points = cell.course ?? [];
  if (points.length < 2) return null;
  const w = words();
  const [end, sold, trouble] = points[points.length - 1];
  const most = Math.max(1, sold, trouble);
  const x = (/** @type {number} */ tenths) => (Math.min(tenths, end) / end) * width;
  const line = (/** @type {number} */ of) => points.map((p) => `${x(p[0]).toFixed(0)},${(height - (p[of] / most) * height).toFixed(0)}`).join(' ');
  const [from, until] = cell.fault ?? [0, 0];
  return html`
    <figure class="chaos-course">
      <figcaption class="hint">${w.course}${t.colon}<span class="key-sold">${w.sold}</span>${t.comma}<span class="key-trouble">${w.trouble}</span>${cell.fault && html`${t.comma}<span class="key-band">${w.band}</span>`}</figcaption>
      <svg viewBox=${`-2 -4 ${width + 4} ${height + 24}`} role="img" aria-label=${w.says(sold, trouble, end / 10)}>
        <rect class="frame" x="0" y="0" width=${width} height=${height} />
        ${cell.fault && from <= end && html`<rect class="band" x=${x(from)} y="0" width=${Math.max(3, x(until) - x(from))} height=${height} />`}
        <polyline class="sold" points=${line(1)} /><polyline class="trouble" points=${line(2)} />
        <text x="0" y=${height + 16}>0</text><text x=${width} y=${height + 16} text-anchor="end">${w.seconds(end / 10)}</text>
        <text x="4" y="14">${most}</text>
      </svg>
    </figure>`;
}
