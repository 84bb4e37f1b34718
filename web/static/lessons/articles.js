// What five articles say, beside what the proof and the measurements say. All of
// ours is computed from the matrix and the figures.
import { inWords } from '../guarantees/dialog.js';
import { useLoaded } from '../loaded.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { figure, loadFigures, spread } from './measured.js';
import { Mark } from './mark.js';
import { words as lessonWords } from './text.js';

/** @typedef {{matrix: Json.Matrix, figures: Json.Figures}} Known */

const table = ['redis-lua', 'zk', 'lock-row', 'lock-insert-plain']; // the locks of the table of six rows
const choices = /** @type {Record<string, [string[], 'hot-row' | 'few-buyers']>} */ ({
  choice1: [['redis-counter'], 'hot-row'], choice2: [['lock-table-segmented', 'mysql-counter'], 'few-buyers'], // the article's own lock and counter
  choice3: [['conditional'], 'few-buyers'], choice4: [['redis-counter-mysql'], 'hot-row'],
});

/** @param {{matrix: Json.Matrix | null}} props */
export function Articles({ matrix }) {
  const figures = useLoaded(loadFigures, []).value ?? {};
  if (!matrix) return null;
  const l = lessonWords().articles;
  const known = { matrix, figures };
  const rows = computed(known);
  return html`<div class="articles">${Object.entries(l.says).map(([id, { title, rows: says }], i) => html`
    <details key=${id} open=${i === 0}><summary id=${`article-${id}`}><cite translate=${false}>${title}</cite></summary>
    <div class="scroll" tabindex="0" role="region" aria-labelledby=${`article-${id}`}><table data-article=${id}>
      <thead><tr><th scope="col">${l.about}</th><th scope="col">${l.theirs}</th><th scope="col">${l.ours}</th></tr></thead>
      <tbody>${Object.entries(says).map(([row, [about, theirs]]) => html`
        <tr key=${row} data-row=${row}><th scope="row">${about}</th><td data-label=${l.theirs}>${theirs}</td><td data-label=${l.ours}>${rows[row]}</td></tr>`)}</tbody></table></div></details>`)}
    ${figures.locks && html`<p class="hint">${l.on(figures.locks.begun.slice(0, 10), figures.locks.cpus)}</p>`}</div>`;
}

/**
 * Ours, by row.
 * @param {Known} known @returns {Record<string, unknown>}
 */
function computed({ matrix, figures }) {
  const l = lessonWords().articles;
  const cell = (/** @type {string} */ name, /** @type {string} */ q) => matrix.rows.find((r) => r.strategy === name)?.cells[q] ?? { answer: '' };
  const titled = (/** @type {string} */ id) => t.guarantees.titleOf(matrix.questions.find((q) => q.id === id) ?? { id, title: id });
  const each = (/** @type {string[]} */ names, /** @type {(name: string) => unknown} */ of) => html`<ul>${names.map((name) => html`<li key=${name}><code>${name}</code> ${of(name)}</li>`)}</ul>`;
  const marks = (/** @type {string[]} */ names, /** @type {string[]} */ asked) => html`<ul>${asked.map((q) => html`<li key=${q}>${titled(q)}${t.colon}${names.map((name) => html`<span key=${name} class="asked"><code>${name}</code> <${Mark} cell=${cell(name, q)} /></span> `)}</li>`)}</ul>`;
  const locks = (/** @type {string} */ name, /** @type {string} */ crowd) => figures.locks?.locks[name]?.[crowd];
  const rate = (/** @type {string[]} */ names, /** @type {'1' | '8'} */ crowd) => html`${l.locks[crowd]}${each([...names].sort((a, b) => (locks(b, crowd)?.locks_per_second[0] ?? 0) - (locks(a, crowd)?.locks_per_second[0] ?? 0)),
    (name) => spread(locks(name, crowd)?.locks_per_second))}`;
  const breaks = (/** @type {string} */ name) => matrix.questions.filter((q) => cell(name, q.id).answer === 'breaks').map((q) => t.guarantees.titleOf(q));
  const sold = (/** @type {string} */ name, /** @type {'hot-row' | 'few-buyers'} */ sale) => {
    const run = figures[sale];
    return run?.strategies[name] ? l.sales(spread(run.strategies[name].sales_per_second), run.at_once) : lessonWords().measured.notYet;
  };
  const broken = (/** @type {string} */ name) => (breaks(name).length ? l.breaks(t.list(breaks(name))) : l.holds);
  const { articles: claims } = figures;
  const [short, long] = [claims?.polls[0], claims?.polls.at(-1)];
  const times = (/** @type {number} */ ms) => figure(ms / (claims?.task_ms ?? 1));
  return {
    performance: html`${rate(table, '1')}${rate(table, '8')}`,
    reliability: marks(table, ['dead-holder', 'lease-end', 'node-loss']),
    expiry: marks(table, ['dead-holder']),
    queue: each(table, (name) => `${inWords(cell(name, 'waits').text ?? '')}${l.and}${inWords(cell(name, 'order').text ?? '')}`),
    long: marks(table, ['lease-end']),
    failure: marks(table, ['dead-holder', 'lost-reply']),
    fast: rate(['redis-lua', 'redis-watchdog', 'zk', 'lock-row', 'lock-insert'], '8'),
    safe: marks(['zk', 'redis-lua', 'get-lock'], ['node-loss', 'lease-end', 'late-command']),
    segments: claims && l.times(spread(claims.central_over_segmented)),
    ...Object.fromEntries(Object.entries(choices).map(([row, [names, sale]]) => [row, each(names, (name) => html`<span>${sold(name, sale)}${t.semicolon}${broken(name)}</span>`)])),
    fourteen: marks(['redis-counter'], ['lost-reply', 'dead-holder', 'node-loss', 'cancel']),
    pessimistic: each(['for-update', 'version', 'conditional'], (name) => html`<span>${sold(name, 'few-buyers')}${t.semicolon}${broken(name)}</span>`),
    prefers: each(['zk', 'redis-lua'], broken),
    polling: each(['redis-lua', 'redis-watchdog', 'zk'], (name) => l.commands(figure(locks(name, '8')?.commands[0] ?? 0))),
    quorum: marks(['redlock', 'redis-lua'], ['node-loss', 'lease-end']),
    expire2: marks(['redis-setnx-expire'], ['dead-holder', 'lost-reply']),
    scheme4: each(['redis-lua'], broken),
    lease: claims && html`<ul>${claims.leases.map((s) => html`<li key=${s.ms}>${l.lease(times(s.ms), figure(s.lost_percent[0]))}</li>`)}</ul>`,
    pause: short && long && html`<ul>${[short, long].map((s) => html`<li key=${s.ms}>${l.pause(times(s.ms), figure(s.locks_per_second[0]), figure(s.commands[0]))}</li>`)}</ul>`,
  };
}
