// A verdict explained: two buyers of a sale that broke, who died with the lock of
// one that is blocked, what one that held has withstood; the counterexample to
// play, and the strategy to run next.
import { exampleOf, loadMatrix } from '../guarantees/matrix.js';
import { start } from '../lab.js';
import { useAction, Wrong } from '../loaded.js';
import { isOn } from '../records.js';
import { go, link } from '../route.js';
import { html, styled, useEffect, useState } from '../ui.js';
import { Blocked } from './blocked.js';
import { words } from './effect.js';
import { Held } from './held.js';
import { another, request } from './settings.js';
import { TwoSigns } from './twosigns.js';
import { Drawing } from './witness.js';

await styled('lab/why.css');

/** The questions whose counterexamples explain a verdict best, in order. */
const tells = /** @type {Record<string, string[]>} */ ({
  oversold: ['oversell', 'lost-update', 'processes', 'lease-end'],
  lost: ['lost-update', 'oversell', 'processes', 'dead-holder', 'lost-reply'],
  blocked: ['dead-holder', 'lost-reply', 'two-faults'],
});

/** @param {{run: Json.Run, lane: Json.Lane, lab: import('../lab.js').State}} props */
export const Why = (props) => html`<${TwoSigns} signs=${props.lane.result?.signs} /><${Because} ...${props} />`;

/** @param {{run: Json.Run, lane: Json.Lane, lab: import('../lab.js').State}} props */
function Because({ run, lane, lab }) {
  const verdict = lane.result?.verdict ?? '';
  const w = words().why;
  const [matrix, setMatrix] = useState(/** @type {Json.Matrix | null} */ (null));
  const { busy, failure, act } = useAction();
  useEffect(() => { loadMatrix().then(setMatrix, () => { /* there is no button then */ }); }, []);
  const row = matrix?.rows.find((r) => r.strategy === lane.strategy);
  if (verdict === 'held') return html`<section class="panel why-it-broke" data-explains="held"><${Held} run=${run} lane=${lane} matrix=${matrix} row=${row} /></section>`;
  const cells = row?.cells ?? {};
  const question = tells[verdict]?.find((q) => exampleOf(cells[q]));
  const repair = lab.strategies.find((s) => s.name === lane.strategy)?.repair;
  const next = lab.strategies.find((s) => s.name === repair && s.available)?.name;
  const witness = lane.result?.audit?.witness;
  if (!tells[verdict] || (verdict !== 'blocked' && !witness && !question && !next)) return null;
  const on = busy || isOn(lab.newest);
  const runNext = () => on || act(async () => {
    await start(request({ ...another(run.settings), strategies: [next ?? ''], repeats: '1' }, []));
    go('lab');
  });
  return html`
    <section class="panel why-it-broke" data-explains=${verdict}>
      ${verdict === 'blocked' && html`<${Blocked} run=${run} lane=${lane} family=${row?.family} />`}
      ${witness && html`<h3>${w.title}</h3><p>${w[witness.kind]?.(witness)}</p><${Drawing} witness=${witness} />`}
      <p class="buttons">
        ${question && html`<a class="offer" href=${link('trace', exampleOf(cells[question]))}>${w.play}</a>`}
        ${next && html`<button type="button" class="offer" aria-disabled=${on ? 'true' : undefined} onClick=${runNext}>${w.run(next)}</button>`}
      </p>
      <${Wrong} failure=${failure} />
    </section>`;
}
