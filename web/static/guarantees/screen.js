// The guarantee matrix. Nobody filled it in: every answer was computed on real
// servers, and what breaks has a counterexample that can be played.
import { link, stay } from '../route.js';
import { t } from '../text.js';
import { classes, html, useEffect, useState } from '../ui.js';
import { CellDialog } from './cell.js';
import { kinds, signs } from './marks.js';
import { exampleOf, filtered, loadMatrix } from './matrix.js';

/** @typedef {{row: Json.Row, question: Json.Question, cell: Json.Cell}} Asked */

const answers = ['holds', 'breaks', 'measured', 'n/a', 'failed'];

/** @param {{route: import('../route.js').Route}} props */
export function Guarantees({ route }) {
  const [matrix, setMatrix] = useState(/** @type {Json.Matrix | null} */ (null));
  const [failure, setFailure] = useState('');
  const [open, setOpen] = useState(/** @type {Asked | null} */ (null));
  useEffect(() => { loadMatrix().then(setMatrix, (error) => setFailure(error.message)); }, []);
  const g = t.guarantees;
  if (failure) return html`<section class="panel" role="alert"><h1>${g.title}</h1><p class="wrong">${failure}</p></section>`;
  if (!matrix) return html`<p class="hint">${t.nav.loading}</p>`;

  const filter = route.query;
  const rows = filtered(matrix, filter);
  const set = (name) => (e) => stay('guarantees', '', { ...filter, [name]: e.currentTarget.value });
  const families = [...new Set(matrix.rows.map((r) => r.family))];
  return html`
    <h1>${g.title}</h1>
    <p class="intro">${g.what}</p>
    <form class="panel filter" onSubmit=${(e) => e.preventDefault()} aria-label=${g.filter}>
      <${Choice} id="family" label=${g.family} value=${filter.family} onChange=${set('family')}
        options=${families.map((f) => [f, t.families[f] ?? f])} />
      <${Choice} id="question" label=${g.question} value=${filter.question} onChange=${set('question')}
        options=${matrix.questions.map((q) => [q.id, g.titleOf(q)])} />
      <${Choice} id="answer" label=${g.answer} value=${filter.answer} onChange=${set('answer')}
        options=${answers.map((a) => [a, g.answers[a]])} />
      <div class="field"><label for="name">${g.name}</label>
        <input id="name" value=${filter.name ?? ''} onInput=${set('name')} autocomplete="off" spellcheck=${false} /></div>
    </form>
    <p class="hint" role="status">${g.shown(rows.length, matrix.rows.length)}</p>
    ${rows.length > 0 && html`<${Table} matrix=${matrix} rows=${rows} families=${families} question=${filter.question} open=${setOpen} />`}
    <ul class="legend-line">${answers.map((a) => html`
      <li key=${a}><span class=${`mark ${kinds[a]}`} aria-hidden="true">${signs[a]}</span> ${g.answers[a]}</li>`)}</ul>
    <p class="hint">${g.computed(matrix.took, matrix.budget, matrix.seed)} ${matrix.backends.map((b) => b.version || b.name).join(', ')}</p>
    ${open && html`<${CellDialog} ...${open} close=${() => setOpen(null)} />`}`;
}

const Choice = ({ id, label, value = '', onChange, options }) => html`
  <div class="field"><label for=${id}>${label}</label>
    <select id=${id} onChange=${onChange}>
      <option value="" selected=${!value}>${t.guarantees.any}</option>
      ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}
    </select></div>`;

/** @param {{matrix: Json.Matrix, rows: Json.Row[], families: string[], question?: string, open: (asked: Asked) => void}} props */
function Table({ matrix, rows, families, question, open }) {
  return html`
    <div class="matrix" tabindex="0" role="region" aria-label=${t.guarantees.title}>
      <table>
        <thead><tr>
          <th scope="col">${t.history.strategy}</th>
          ${matrix.questions.map((q) => html`
            <th key=${q.id} scope="col" class=${classes('asks', q.id === question && 'chosen')} title=${t.guarantees.asksOf(q)}>
              <span>${t.guarantees.titleOf(q)}</span></th>`)}
        </tr></thead>
        ${families.filter((f) => rows.some((r) => r.family === f)).map((f) => html`
          <tbody key=${f}>
            <tr class="family"><th colspan=${matrix.questions.length + 1} scope="rowgroup"><span>${t.families[f] ?? f}</span></th></tr>
            ${rows.filter((r) => r.family === f).map((row) => html`
              <tr key=${row.strategy}>
                <th scope="row" title=${row.title}><a href=${link('lessons', row.strategy)}>${row.strategy}</a></th>
                ${matrix.questions.map((q) => html`
                  <td key=${q.id} class=${classes(q.id === question && 'chosen')}><${Mark} row=${row} question=${q} open=${open} /></td>`)}
              </tr>`)}
          </tbody>`)}
      </table>
    </div>`;
}

/** What breaks is played at a click; everything else says how it was found out. */
function Mark({ row, question, open }) {
  const cell = row.cells[question.id] ?? { answer: '' };
  const g = t.guarantees;
  const label = `${row.strategy}, ${g.titleOf(question)}: ${g.answers[cell.answer]}`;
  const look = { class: `mark ${kinds[cell.answer]}`, 'aria-label': label, title: cell.text };
  const example = exampleOf(cell);
  if (example) return html`<a ...${look} href=${link('trace', example)} title=${`${cell.text} · ${g.play}`}>${signs[cell.answer]}</a>`;
  return html`<button type="button" ...${look} onClick=${() => open({ row, question, cell })}>${signs[cell.answer] ?? '?'}</button>`;
}
