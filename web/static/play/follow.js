// A schedule that is there to be followed, such as a counterexample: one step at a
// time, back, and back to it from elsewhere.
import { useKeys } from '../keys.js';
import { html } from '../ui.js';
import { words } from './text.js';

/** @param {string} schedule @returns {string[]} its moves */
const movesIn = (schedule) => schedule.match(/[DGQRCWVJK]?n?[a-c]|[LT]/g) ?? [];

/**
 * @param {{game: Json.Game, line: string, move: (choose: (now: Json.Game) => Json.GameMove | undefined) => void, undo: (moves: number) => void}} props
 */
export function Follow({ game, line, move, undo }) {
  const w = words().follow;
  const all = movesIn(line);
  const made = movesIn(game.schedule);
  const common = made.findIndex((m, i) => m !== all[i]);
  const left = common >= 0;
  const over = !left && made.length >= all.length;
  const step = () => move((now) => {
    const so = movesIn(now.schedule);
    return so.every((m, i) => m === all[i]) ? now.moves.find((m) => m.move === all[so.length]) : undefined;
  });
  const rest = () => { for (let n = made.length; n < all.length; n += 1) step(); };
  useKeys((e) => (e.key.toUpperCase() === 'N' && !e.repeat ? step : undefined));
  const off = left || over ? 'true' : undefined;
  return html`
    <section class="panel play-follow" aria-label=${w.title} data-follow=${left ? 'left' : over ? 'over' : made.length}>
      <p><b>${w.title}</b> <span class="hint">${left ? w.left : over ? w.over : w.at(made.length, all.length)}</span></p>
      <div class="play-faults">
        <button type="button" class="offer small" data-do="next-step" aria-keyshortcuts="n" aria-disabled=${off} onClick=${() => off || step()}><kbd>N</kbd> ${w.next}</button>
        <button type="button" class="quiet" data-do="all-steps" aria-disabled=${off} onClick=${() => off || rest()}>${w.all}</button>
        ${left && html`<button type="button" class="quiet" data-do="back-to-line" onClick=${() => undo(made.length - common)}>${w.back}</button>`}
      </div>
    </section>`;
}
