// One sale: what became of it, its course, its figures and its command.
import { words as labWords } from '../lab/effect.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { count, html, useEffect, useRef } from '../ui.js';
import { Course } from './course.js';
import { hintOf, kinds, signs, titleOf, wordOf } from './results.js';
import { words } from './text.js';

/** @param {{all: Json.Chaos, strategy: string, fault: string, cell: Json.ChaosCell, close: () => void}} props */
export function CellDialog({ all, strategy, fault, cell, close }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => dialog.current.showModal(), []);
  const w = words();
  const word = wordOf(cell);
  return html`
    <dialog ref=${dialog} class="panel cell" aria-labelledby="cell-title" onClose=${close}
      onClick=${(e) => e.target === dialog.current && dialog.current.close()}>
      <h2 id="cell-title"><code>${strategy}</code> · ${titleOf(fault)}</h2>
      <p class="hint">${hintOf(fault)}</p>
      <p><span class=${`mark ${kinds[word]}`} aria-hidden="true">${signs[word]}</span> <strong>${w.words[word]}</strong> ${w.means[word]}</p>
      ${word !== 'held' && cell.said && html`<p class=${cell.wrong ? 'wrong' : 'hint'} lang="en">${cell.said}</p>`}
      ${cell.not && html`<p class="hint">${labWords().effects.why[cell.why] ?? cell.not}</p>`}
      ${word && fault !== 'none' && html`<p class=${cell.wrong ? 'wrong' : 'hint'}>${cell.wrong ? w.wrong : cell.may ? w.may : word === 'held' ? w.promises : ''}</p>`}
      <${Course} cell=${cell} />
      ${cell.units && html`<${Figures} cell=${cell} fault=${fault} />`}
      <p>${w.figures.command}<br /><code class="command">${all.repeat.replace('STRATEGY', strategy).replace('FAULT', fault)}</code></p>
      <div class="buttons">
        <a class="offer" href=${link('lessons', strategy)}>${w.lesson}</a>
        <a class="offer" href=${link('guarantees', '', { name: strategy })}>${w.guarantee}</a>
        <button type="button" class="offer" onClick=${() => dialog.current.close()}>${w.close}</button>
      </div>
    </dialog>`;
}

/** @param {{cell: Json.ChaosCell, fault: string}} props */
function Figures({ cell, fault }) {
  const w = words();
  const f = w.figures;
  const [told, unknown, initial, left, ledger] = cell.units ?? [];
  const rows = /** @type {[string, unknown][]} */ ([
    [f.told, count(told)], [f.unknown, count(unknown)], [f.ledger, f.of(ledger, initial)],
    cell.rules && [f.broken, cell.rules.map((rule) => t.rules[rule] ?? rule).join(', ')],
    [f.stood, w.seconds(cell.stood ?? 0)],
    fault !== 'none' && [f.recovered, cell.recovered === undefined ? w.nothing : w.seconds(cell.recovered)],
    [f.after, f.left(cell.after ?? 0, left)], [f.seed, cell.seed],
  ].filter(Boolean));
  return html`<dl class="chaos-figures">${rows.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
