// The proof: the matrix, computed on real servers. A cell that breaks leads to its
// counterexample, a strategy to all its answers.
import { useLab } from '../lab.js';
import { Awaited, useLoaded } from '../loaded.js';
import { link, stay } from '../route.js';
import { titleOf as titleIn } from '../strategies.js';
import { t } from '../text.js';
import { html, styled } from '../ui.js';
import { inWords, RowDialog } from './dialog.js';
import { Grid } from './grid.js';
import { brokenOf, kinds, markOf, signs } from './marks.js';
import { exampleOf, findingsOf, loadMatrix } from './matrix.js';
import { filtered, grouped, isLock, listed, presets } from './rows.js';
import { say } from './say.js';
import { words } from './text.js';

await styled('guarantees/screen.css');

const legend = ['all', 'tried', 'breaks', 'n/a', 'failed']; // what was measured stands there in words

/** @param {{route: import('../route.js').Route}} props */
export function Guarantees({ route: { query } }) {
  const { value: matrix, error, again } = useLoaded(loadMatrix, []);
  const { strategies } = useLab();
  const titleOf = (/** @type {Json.Row} */ row) => titleIn(strategies.find((s) => s.name === row.strategy) ?? row); // the matrix has the English ones
  const w = words();
  if (!matrix) return html`<${Awaited} title=${t.nav.guarantees} error=${error} again=${again} />`;
  const rows = filtered(matrix, query, titleOf);
  const must = listed(query.must);
  const all = query.columns === 'all';
  const parts = grouped(matrix.questions);
  const put = (/** @type {Record<string, string>} */ change) => stay('guarantees', '', { ...query, ...change });
  const [name = '', question = ''] = (query.cell ?? '').split('.');
  const open = matrix.rows.find((r) => r.strategy === name);
  return html`
    <h1 class="hidden">${t.nav.guarantees}</h1>
    <p class="intro">${w.what}</p>
    <div class="presets" role="group" aria-label=${w.presetsLabel}>
      ${presets.map((q) => html`
        <button key=${q} type="button" class="quiet" aria-pressed=${String(must.includes(q))} onClick=${() => put({ must: (must.includes(q) ? must.filter((one) => one !== q) : [...must, q]).join() })}>${w.presets[q]}</button>`)}
      <input id="name" class="quiet" aria-label=${w.name} placeholder=${w.name} value=${query.name ?? ''} onInput=${(e) => put({ name: e.currentTarget.value })} autocomplete="off" spellcheck=${false} />
      <button type="button" class="quiet" id="columns" aria-pressed=${String(all)} onClick=${() => put({ columns: all ? '' : 'all' })}>${w.columns(matrix.questions.length)}</button>
      <span class=${rows.length ? 'hint' : 'wrong'} role="status">${w.shown(rows.length, matrix.rows.length)}</span>
    </div>
    <ul class="legend-line">${legend.map((a) => html`
      <li key=${a}><span class=${`mark ${kinds[a]}`} aria-hidden="true">${signs[a]}</span> ${t.guarantees.answers[a]}${a === 'breaks' && html` <span class="hint">${w.broke}</span>`}</li>`)}</ul>
    ${rows.length > 0 && html`<${Grid} label=${t.nav.guarantees} firstOnly=${!all} rows=${rows.map((r) => ({ name: r.strategy, title: titleOf(r), lock: isLock(r) }))}
      groups=${parts.map((p) => ({ title: w.groups[p.group], columns: p.questions.length }))}
      columns=${parts.flatMap((p) => p.questions.map((q, i) => ({ id: q.id, title: t.guarantees.titleOf(q), asks: w.asksOf(q), begins: all && i === 0, chosen: must.includes(q.id), first: q.choosing || must.includes(q.id) })))}
      answer=${(/** @type {string} */ row, /** @type {string} */ id) => answerOf(matrix, row, id)} to=${(/** @type {string} */ cell) => link('guarantees', '', { ...query, cell })} />`}
    <p class="hint">${w.computed(matrix.schedules, matrix.seed)} ${[...new Set(matrix.backends.map((b) => b.version || b.name))].join(t.comma)}${t.stop}</p>
    ${open && html`<${RowDialog} key=${query.cell} matrix=${matrix} row=${open} title=${titleOf(open)} question=${question} close=${() => put({ cell: '' })} />`}`;
}

/** @param {Json.Matrix} matrix @param {string} name @param {string} id @returns {import('./grid.js').Answer} */
function answerOf(matrix, name, id) {
  const cell = matrix.rows.find((r) => r.strategy === name)?.cells[id] ?? { answer: '' };
  const mark = markOf(cell);
  const text = !cell.text || cell.rule ? '' : mark === 'measured' ? inWords(cell.text) : say(cell.text);
  const broken = findingsOf(cell).map((f) => `${t.rules[f.rule ?? ''] ?? f.rule}${t.colon}${say(f.text ?? '')}`);
  return {
    sign: signs[mark] ?? '?', kind: kinds[mark], seen: mark === 'measured' ? inWords(cell.text ?? '', 1) : undefined,
    says: [t.guarantees.says(cell), ...broken, text].filter(Boolean).join(t.semicolon),
    what: mark === 'breaks' ? words().about[brokenOf(cell.rule)] : undefined,
    href: exampleOf(cell) ? link('trace', exampleOf(cell)) : undefined,
  };
}
