// Who died with what, what waits for it, and what would free it.
import { t } from '../text.js';
import { html } from '../ui.js';
import { words } from './effect.js';

/** Faults that can leave a lock behind, the likeliest first. */
const leaving = ['kill_holder', 'kill_service', 'cut_holder', 'hang_holder', 'pause_holder', 'pause_service'];

/**
 * The fault of the run after which the lane's sale stood still, if there was one.
 * @param {Json.Run} run @param {Json.Lane} lane
 */
function culprit(run, lane) {
  const own = (/** @type {Json.Fault} */ f) => (f.strategy ?? run.lanes[0].strategy) === lane.strategy || !f.effect?.holder;
  const had = run.faults.filter((f) => leaving.includes(f.kind) && f.effect?.took_effect && f.effect.could_matter && own(f));
  return leaving.flatMap((kind) => had.filter((f) => f.kind === kind))[0];
}

/** @param {{run: Json.Run, lane: Json.Lane, family?: string}} props */
export function Blocked({ run, lane, family = '' }) {
  const w = words().blocked;
  const served = lane.result?.audit?.served;
  const fault = culprit(run, lane);
  if (!served) return null;
  const key = fault?.effect?.holder?.lock_key;
  const parts = [fault ? w.died(fault) : w.unknown, w.waits(served), fault ? (w.frees[family] ?? w.frees.other)(key) : w.lookFor];
  return html`
    <h3>${w.title}</h3>
    <p class="because">${parts.join(words().effects.semicolon)}${t.verdict.stop}</p>
    <p class="hint">${w.over(run.settings)}</p>`;
}
