// The guarantee matrix, computed on real servers. Cells that break have a
// counterexample to play.
import { useLab } from '../lab.js';
import { link, stay } from '../route.js';
import { t } from '../text.js';
import { classes, count, html, useEffect, useState } from '../ui.js';
import { CellDialog, inWords } from './cell.js';
import { kinds, markOf, signs } from './marks.js';
import { elsewhere, exampleOf, filtered, grouped, loadMatrix } from './matrix.js';
import { say } from './say.js';
import { words } from './text.js';

/** @typedef {{row: Json.Row, question: Json.Question, cell: Json.Cell}} Asked */

const legend = ['all', 'tried', 'breaks', 'n/a', 'failed']; // what was measured stands there in words
const answers = ['holds', 'all', 'tried', 'breaks', 'measured', 'n/a', 'failed'];

/** @param {{route: import('../route.js').Route}} props */
export function Guarantees({ route }) {
  const [matrix, setMatrix] = useState(/** @type {Json.Matrix | null} */ (null));
  const [failure, setFailure] = useState('');
  const [open, setOpen] = useState(/** @type {Asked | null} */ (null));
  useEffect(() => { loadMatrix().then(setMatrix, (error) => setFailure(error.message)); }, []);
  const g = t.guarantees;
  const w = words();
  if (failure) return html`<section class="panel" role="alert"><h1>${g.title}</h1><p class="wrong">${failure}</p></section>`;
  if (!matrix) return html`<p class="hint">${t.nav.loading}</p>`;

  const filter = route.query;
  const rows = filtered(matrix, filter);
  const set = (name) => (e) => stay('guarantees', '', { ...filter, [name]: e.currentTarget.value });
  const families = [...new Set(matrix.rows.map((r) => r.family))];
  return html`
    <h1>${g.title}</h1>
    <p class="intro">${w.what}</p>
    <form class="panel filter" onSubmit=${(e) => e.preventDefault()} aria-label=${w.filter}>
      <${Choice} id="family" label=${w.family} value=${filter.family} onChange=${set('family')}
        options=${families.map((f) => [f, t.families[f] ?? f])} />
      <${Choice} id="question" label=${w.question} value=${filter.question} onChange=${set('question')}
        options=${grouped(matrix.questions).flatMap((part) => part.questions).map((q) => [q.id, g.titleOf(q)])} />
      <${Choice} id="answer" label=${w.answer} value=${filter.answer} onChange=${set('answer')}
        options=${answers.map((a) => [a, g.answers[a]])} />
      <div class="field"><label for="name">${w.name}</label>
        <input id="name" value=${filter.name ?? ''} onInput=${set('name')} autocomplete="off" spellcheck=${false} /></div>
    </form>
    <div class="legend">
      <ul class="legend-line">${legend.map((a) => html`
        <li key=${a}><span class=${`mark ${kinds[a]}`} aria-hidden="true">${signs[a]}</span> ${g.answers[a]}</li>`)}</ul>
      <p class="hint">${w.legend}</p>
    </div>
    <p class="hint" role="status">${w.shown(rows.length, matrix.rows.length)}</p>
    ${rows.length === 0 && html`<p><button type="button" class="offer" onClick=${() => stay('guarantees')}>${w.reset}</button></p>`}
    ${rows.length > 0 && html`<${Table} matrix=${matrix} rows=${rows} families=${families} question=${filter.question} open=${setOpen} />`}
    <p class="hint">${w.computed(matrix.schedules, matrix.seed)} ${[...new Set(matrix.backends.map((b) => b.version || b.name))].join(', ')}</p>
    ${(matrix.also ?? []).map((a) => html`<p key=${a.servers} class="hint">${w.also(a.servers, sum(Object.values(a.asked)), differing(a))}</p>`)}
    ${open && html`<${CellDialog} ...${open} matrix=${matrix} close=${() => setOpen(null)} />`}`;
}

const Choice = ({ id, label, value = '', onChange, options }) => html`
  <div class="field"><label for=${id}>${label}</label>
    <select id=${id} onChange=${onChange}>
      <option value="" selected=${!value}>${words().any}</option>
      ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}
    </select></div>`;

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((all, n) => all + n, 0);

/** @param {Json.Also} also */
const differing = ({ differs }) => sum(Object.values(differs ?? {}).map((cells) => Object.keys(cells).length));

/** @param {{matrix: Json.Matrix, rows: Json.Row[], families: string[], question?: string, open: (asked: Asked) => void}} props */
function Table({ matrix, rows, families, question, open }) {
  const parts = grouped(matrix.questions);
  const { strategies } = useLab();
  const titleOf = (/** @type {Json.Row} */ row) => strategies.find((s) => s.name === row.strategy)?.titles?.[t.code] ?? row.title;
  const columns = parts.flatMap((part) => part.questions.map((q, i) => ({ q, begins: i === 0 })));
  return html`
    <div class="matrix" tabindex="0" role="region" aria-label=${t.guarantees.title}>
      <table>
        <thead>
          <tr class="groups">
            <th rowspan="2" scope="col">${t.history.strategy}</th>
            ${parts.map(({ group, questions }) => html`
              <th key=${group} class="begins" colspan=${questions.length} scope="colgroup"><span>${words().groups[group]}</span></th>`)}
          </tr>
          <tr>${columns.map(({ q, begins }) => html`
            <th key=${q.id} scope="col" class=${classes('asks', begins && 'begins', q.id === question && 'chosen')} title=${words().asksOf(q)}>
              <span>${t.guarantees.titleOf(q)}</span></th>`)}
          </tr>
        </thead>
        ${families.filter((f) => rows.some((r) => r.family === f)).map((f) => html`
          <tbody key=${f}>
            <tr class="family"><th colspan=${columns.length + 1} scope="rowgroup"><span>${t.families[f] ?? f}</span></th></tr>
            ${rows.filter((r) => r.family === f).map((row) => html`
              <tr key=${row.strategy}>
                <th scope="row" title=${titleOf(row)}><a href=${link('lessons', row.strategy)}>${row.strategy}</a></th>
                ${columns.map(({ q, begins }) => html`
                  <td key=${q.id} class=${classes(begins && 'begins', q.id === question && 'chosen')}>
                    <${Mark} row=${row} question=${q} open=${open} differs=${elsewhere(matrix, row.strategy, q.id).length > 0} /></td>`)}
              </tr>`)}
          </tbody>`)}
      </table>
    </div>`;
}

/** A click plays the counterexample, or explains how the answer was found. */
function Mark({ row, question, open, differs }) {
  const cell = row.cells[question.id] ?? { answer: '' };
  const g = t.guarantees;
  const w = words();
  const mark = markOf(cell);
  const seen = mark === 'measured' ? [inWords(cell.text ?? '', 1), inWords(cell.text ?? '')] : null;
  const label = `${row.strategy}, ${g.titleOf(question)}: ${seen ? `${seen[0]} (${seen[1]})` : g.says(cell)}${differs ? `; ${w.differs}` : ''}`;
  const look = { class: `mark ${kinds[mark]}`, 'aria-label': label, title: seen ? seen[1] : say(cell.text ?? '') };
  const sign = html`<span>${seen ? seen[0] : signs[mark] ?? '?'}${differs && html`<sup>≠</sup>`}</span>
    ${cell.answer === 'holds' && cell.orders > 0 && html`<small>${count(cell.orders)}</small>`}`;
  const example = exampleOf(cell);
  if (example && !differs) return html`<a ...${look} href=${link('trace', example)} title=${`${say(cell.text ?? '')} · ${w.play}`}>${sign}</a>`;
  return html`<button type="button" ...${look} onClick=${() => open({ row, question, cell })}>${sign}</button>`;
}
