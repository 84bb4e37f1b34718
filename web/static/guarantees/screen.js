// The guarantee matrix, computed on real servers. Cells that break have a
// counterexample to play.
import { Failed, useLoaded } from '../loaded.js';
import { link, stay } from '../route.js';
import { t } from '../text.js';
import { html, styled } from '../ui.js';
import { Cards } from './cards.js';
import { CellDialog } from './cell.js';
import { Chosen, Differences } from './compare.js';
import { Filter, Left } from './filter.js';
import { kinds, signs } from './marks.js';
import { loadMatrix } from './matrix.js';
import { useNarrow } from './narrow.js';
import { Reading } from './reading.js';
import { filtered, listed } from './rows.js';
import { Table } from './table.js';
import { words } from './text.js';

await styled('guarantees/screen.css');

const legend = ['all', 'tried', 'breaks', 'n/a', 'failed']; // what was measured stands there in words
/** @param {{route: import('../route.js').Route}} props */
export function Guarantees({ route }) {
  const { value: matrix, error, again } = useLoaded(loadMatrix, []);
  const g = t.guarantees;
  const w = words();
  if (!matrix) return error ? html`<${Failed} title=${g.title} error=${error} again=${again} />` : html`<p class="hint">${t.nav.loading}</p>`;
  const open = cellOf(matrix, route.query.cell);
  const show = (/** @type {string} */ cell) => stay('guarantees', '', { ...route.query, cell });
  return html`
    <h1>${g.title}</h1>
    <p class="intro">${w.what}</p>
    <p class="to-chooser"><a class="offer" href=${link('choose')}>${w.choose}</a> <a class="offer" href=${link('chaos')}>${t.nav.chaos}</a></p>
    <${Filter} matrix=${matrix} query=${route.query} />
    <div class="answers-key">
      <ul class="legend-line">${legend.map((a) => html`
        <li key=${a}><span class=${`mark ${kinds[a]}`} aria-hidden="true">${signs[a]}</span> ${g.answers[a]}</li>`)}</ul>
      <p class="hint">${w.legend}</p>
    </div>
    <${Rows} matrix=${matrix} query=${route.query} open=${({ row, question }) => show(`${row.strategy}.${question.id}`)} />
    <p class="hint">${w.computed(matrix.schedules, matrix.seed)} ${[...new Set(matrix.backends.map((b) => b.version || b.name))].join(', ')}</p>
    ${(matrix.also ?? []).map((a) => html`<p key=${a.servers} class="hint">${w.also(a.servers, sum(Object.values(a.asked)), differing(a))}</p>`)}
    ${open && html`<${CellDialog} key=${route.query.cell} ...${open} matrix=${matrix} close=${() => show('')} />`}`;
}

/**
 * The cell that an address names, as in redis-lua.lease-end.
 * @param {Json.Matrix} matrix @param {string | undefined} name
 */
function cellOf(matrix, name = '') {
  const row = matrix.rows.find((r) => name.startsWith(`${r.strategy}.`));
  const question = matrix.questions.find((q) => name === `${row?.strategy}.${q.id}`);
  return row && question && { row, question, cell: row.cells[question.id] ?? { answer: '' } };
}

/**
 * The rows that the filter leaves, or the differences of those that are chosen.
 * @param {{matrix: Json.Matrix, query: Record<string, string>, open: (asked: import('./table.js').Asked) => void}} props
 */
function Rows({ matrix, query, open }) {
  const isNarrow = useNarrow();
  const named = listed(query.rows);
  const chosen = matrix.rows.filter((r) => named.includes(r.strategy)).map((r) => r.strategy);
  const comparing = Boolean(query.diff) && chosen.length > 1;
  const rows = filtered(matrix, query);
  const choose = (/** @type {string} */ name) => stay('guarantees', '', {
    ...query, rows: (named.includes(name) ? named.filter((n) => n !== name) : [...named, name]).join(),
  });
  const shown = { matrix, rows, chosen, choose, open, asked: [...listed(query.must), query.question] };
  const Matrix = isNarrow ? Cards : Table;
  return html`
    ${!comparing && html`<${Left} matrix=${matrix} query=${query} left=${rows.length} />`}
    <${Chosen} query=${query} chosen=${chosen} unknown=${named.filter((n) => !chosen.includes(n))} comparing=${comparing} />
    ${(comparing || rows.length > 0) && html`<${Reading} matrix=${matrix}>
      ${comparing ? html`<${Differences} matrix=${matrix} rows=${matrix.rows.filter((r) => chosen.includes(r.strategy))} open=${open} />` : html`<${Matrix} ...${shown} />`}
    <//>`}`;
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((all, n) => all + n, 0);

/** @param {Json.Also} also */
const differing = ({ differs }) => sum(Object.values(differs ?? {}).map((cells) => Object.keys(cells).length));
