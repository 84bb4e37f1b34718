// What faults under load did to each strategy, as `seckill chaos` measured it.
import { Failed, useLoaded } from '../loaded.js';
import { link, stay } from '../route.js';
import { t } from '../text.js';
import { html, styled } from '../ui.js';
import { useNarrow } from '../guarantees/narrow.js';
import { CellDialog } from './cell.js';
import { columnsOf, filtered, kinds, loadChaos, signs } from './results.js';
import { Cards, Table } from './table.js';
import { words } from './text.js';

await Promise.all([styled('guarantees/screen.css'), styled('chaos/chaos.css')]);

const legend = ['held', 'oversold', 'blocked', 'stopped', 'not tested', 'proves nothing'];

/** @param {{route: import('../route.js').Route}} props */
export function Chaos({ route }) {
  const { value: all, error, again } = useLoaded(loadChaos, []);
  const narrow = useNarrow();
  const w = words();
  if (!all) return error ? html`<${Failed} title=${t.nav.chaos} error=${error} again=${again} />` : html`<p class="hint">${t.nav.loading}</p>`;
  const rows = filtered(all, route.query);
  const shown = cellOf(all, route.query.cell);
  const put = (/** @type {Record<string, string>} */ change) => stay('chaos', '', { ...route.query, ...change });
  const Cells = narrow ? Cards : Table;
  return html`
    <h1>${t.nav.chaos}</h1>
    <p class="intro">${w.what} <a href=${link('guarantees')}>${w.matrix}</a></p>
    <form class="panel filter" onSubmit=${(/** @type {Event} */ e) => e.preventDefault()}>
      <div class="field"><label for="show">${w.show}</label>
        <select id="show" onChange=${(e) => put({ show: e.currentTarget.value })}>
          ${Object.entries(w.shows).map(([key, text]) => html`<option key=${key} value=${key} selected=${key === (route.query.show ?? '')}>${text}</option>`)}
        </select></div>
      <div class="field"><label for="name">${w.name}</label>
        <input id="name" value=${route.query.name ?? ''} onInput=${(e) => put({ name: e.currentTarget.value })} autocomplete="off" spellcheck=${false} /></div>
    </form>
    <div class="answers-key">
      <ul class="legend-line">${legend.map((word) => html`
        <li key=${word}><span class=${`mark ${kinds[word]}`} aria-hidden="true">${signs[word]}</span> ${word === 'oversold' ? `${w.words.oversold}, ${w.words.lost}` : w.words[word]}</li>`)}</ul>
      <p class="hint">${w.legend}</p>
    </div>
    <p class=${rows.length ? 'hint' : 'wrong'} role="status">${w.shown(rows.length, all.rows.length)}${all.left ? ` ${w.left(all.left)}` : ''}</p>
    ${rows.length > 0 && html`<${Cells} rows=${rows} columns=${columnsOf(all)} open=${(strategy, fault) => put({ cell: `${strategy}.${fault}` })} />`}
    <p class="hint">${w.sale(all.settings)}</p>
    <p class="hint">${w.ran(all.begun, all.machine, (all.servers ?? []).join(', '))} ${w.command} <code class="chaos-command">${breakable(all.command)}</code></p>
    ${shown && html`<${CellDialog} key=${route.query.cell} all=${all} ...${shown} close=${() => put({ cell: '' })} />`}`;
}

/**
 * A command that may break after each comma: its lists are long.
 * @param {string} command
 */
const breakable = (command) => command.split(/(?<=,)/).map((part) => html`${part}<wbr />`);

/**
 * The cell that an address names, as in redis-lua.pause_holder.
 * @param {Json.Chaos} all
 */
function cellOf(all, name = '') {
  const [strategy, fault] = name.split('.');
  const cell = all.rows.find((row) => row.strategy === strategy)?.cells[all.faults.indexOf(fault)];
  return cell?.word ? { strategy, fault, cell } : null;
}
