// How a game ended: what was sold, what the judge says, and what the level says
// of it.
import { link } from '../route.js';
import { t } from '../text.js';
import { classes, html, useEffect, useRef } from '../ui.js';
import { translated } from './say.js';
import { textOf } from './levels.js';
import { words } from './text.js';

/** @param {{game: Json.Game, level?: Json.Level, next?: Json.Level}} props */
export function Ending({ game, level, next }) {
  const { verdict, grade } = game;
  const w = words();
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = Boolean(verdict || grade);
  useEffect(() => { if (shown) box.current?.scrollIntoView({ block: 'nearest' }); }, [shown, grade?.won]);
  return html`
    <section ref=${box} class="play-ending" role="status">
      ${verdict && html`<div class=${classes('banner', verdict.broken ? 'oversold' : 'held')} data-broken=${String(verdict.broken)}>
        <h2>${w.sold(verdict)}</h2>
        <p>${w.left(verdict)}</p>
        ${verdict.problems.length > 0 && html`<h3>${w.judge}</h3>
          <ul>${verdict.problems.map((p, i) => html`<li key=${i}><strong>${t.rules[p.rule] ?? p.rule}</strong><br /><${Said} text=${p.message} /></li>`)}</ul>`}
        <h3>${w.toldTitle}</h3>
        <ul class="answers">${game.buyers.filter((b) => b.told).map((b) => html`<li key=${b.name}><b>${b.name}</b>${t.colon}<${Said} text=${b.told ?? ''} /></li>`)}</ul>
      </div>`}
      ${grade && html`<${Graded} game=${game} grade=${grade} level=${level} next=${next} />`}
    </section>`;
}

/** @param {{text: string}} props */
function Said({ text }) {
  const { said, foreign } = translated(text);
  return html`<span translate=${foreign ? 'no' : undefined}>${said}</span>`;
}

/** @param {{game: Json.Game, grade: Json.GameGrade, level?: Json.Level, next?: Json.Level}} props */
function Graded({ game, grade, level, next }) {
  const w = words();
  const { won, said_impossible: said, best_moves: best = 0 } = grade;
  return html`
    <div class=${classes('panel graded', won ? 'won' : 'lost')} data-won=${String(won)}>
      <h2>${won ? `✓ ${w.won}` : said ? w.wrongImpossible : w.notWon}</h2>
      ${won && said && html`<p>${w.rightImpossible(grade.searched ?? 0)}</p>`}
      ${won && level && html`<p>${textOf(level).solved}</p>`}
      ${won && best > 0 && html`<p>${w.yours(game.moves_made)} ${w.best(best)}</p>`}
      ${!won && !said && html`<p>${w.tryAgain}</p>`}
      ${won && next && html`<p><a class="offer" href=${link('play', next.name)}>${w.nextLevel(textOf(next).title)}</a></p>`}
    </div>`;
}
