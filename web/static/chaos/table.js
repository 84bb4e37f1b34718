// The cells: a table, or on a narrow screen a card per strategy.
import { link } from '../route.js';
import { classes, html } from '../ui.js';
import { kinds, signs, titleOf, wordOf } from './results.js';
import { words } from './text.js';

/**
 * @typedef {object} Shown
 * @property {Json.ChaosRow[]} rows
 * @property {{fault: string, i: number}[]} columns
 * @property {(strategy: string, fault: string) => void} open
 */

/** @param {Shown} props */
export const Table = ({ rows, columns, open }) => html`
  <div class="matrix chaos" tabindex="0" role="region" aria-label=${words().cards}>
    <table>
      <thead><tr><th scope="col">${words().strategy}</th>
        ${columns.map(({ fault }) => html`<th key=${fault} scope="col" class="asks" title=${titleOf(fault)}><span>${titleOf(fault)}</span></th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`
        <tr key=${row.strategy}><th scope="row"><a href=${link('lessons', row.strategy)}>${row.strategy}</a></th>
          ${columns.map(({ fault, i }) => html`<td key=${fault}><${Mark} row=${row} fault=${fault} cell=${row.cells[i]} open=${open} /></td>`)}</tr>`)}</tbody>
    </table>
  </div>`;

/** @param {{row: Json.ChaosRow, fault: string, cell: Json.ChaosCell | null, open: Shown['open']}} props */
function Mark({ row, fault, cell, open }) {
  const word = wordOf(cell);
  const w = words();
  if (!cell?.word) return html`<span class="mark void" title=${w.words[word]}>${signs[word]}</span>`;
  return html`<button type="button" class=${classes('mark', kinds[word], cell.wrong && 'broke-promise')} data-cell=${`${row.strategy}.${fault}`}
    aria-label=${`${row.strategy}, ${titleOf(fault)}: ${w.words[word]}${word === 'held' ? ` ${w.seconds(cell.stood ?? 0)}` : ''}${cell.wrong ? `. ${w.wrong}` : ''}`} onClick=${() => open(row.strategy, fault)}>
    <span>${signs[word]}</span>${word === 'held' && html`<small>${(cell.stood ?? 0).toFixed(1)}</small>`}</button>`;
}

const order = ['oversold', 'lost', 'blocked', 'stopped', 'held', 'not tested', 'proves nothing'];

/** @param {Shown} props */
export const Cards = ({ rows, columns, open }) => html`
  <ul class="cards" aria-label=${words().cards}>
    ${rows.map((row) => html`
      <li key=${row.strategy} class="panel"><h2><a href=${link('lessons', row.strategy)}><code>${row.strategy}</code></a></h2>
        <dl>${order.map((word) => ({ word, of: columns.filter(({ i }) => wordOf(row.cells[i]) === word) })).filter(({ of }) => of.length).map(({ word, of }) => html`
          <div key=${word}><dt><span class=${`mark ${kinds[word]}`} aria-hidden="true">${signs[word]}</span> ${words().words[word]}</dt>
            <dd><ul>${of.map(({ fault }) => html`
              <li key=${fault}><button type="button" class="link" data-cell=${`${row.strategy}.${fault}`} onClick=${() => open(row.strategy, fault)}>${titleOf(fault)}</button></li>`)}</ul></dd></div>`)}
        </dl></li>`)}
  </ul>`;
