// How a game ended: what was sold, what the judge says, and what the level says
// of it.
import { link } from '../route.js';
import { t } from '../text.js';
import { Downloads } from '../trace/exports.js';
import { classes, html, useEffect, useRef } from '../ui.js';
import { traceOf } from './model.js';
import { translated } from './say.js';
import { Stars, textOf } from './levels.js';
import { starsOf } from './progress.js';
import { words } from './text.js';

/** @param {{game: Json.Game, level?: Json.Level, next?: Json.Level, wrong: number}} props wrong: how often it was said that it cannot be done */
export function Ending({ game, level, next, wrong }) {
  const { verdict, grade } = game;
  const w = words();
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = Boolean(verdict || grade);
  useEffect(() => { if (shown) box.current?.scrollIntoView({ block: 'nearest' }); }, [shown, grade?.won]);
  return html`
    <section ref=${box} class="play-ending" role="status">
      ${grade && html`<${Graded} game=${game} grade=${grade} level=${level} next=${next} wrong=${wrong} />`}
      ${verdict && html`<div class=${classes(grade ? 'panel' : 'banner', !grade && (verdict.broken ? 'oversold' : 'held'))} data-broken=${String(verdict.broken)}>
        <h2>${w.sold(verdict)}</h2>
        <p>${w.left(verdict)}</p>
        ${verdict.problems.length > 0 && html`<h3>${w.judge}</h3>
          <ul>${verdict.problems.map((p, i) => html`<li key=${i}><strong>${t.rules[p.rule] ?? p.rule}</strong><br /><${Said} text=${p.message} /></li>`)}</ul>`}
        <h3>${w.toldTitle}</h3>
        <ul class="answers">${game.buyers.filter((b) => b.told).map((b) => html`<li key=${b.name}><b>${b.name}</b>${t.colon}<${Said} text=${b.told ?? ''} /></li>`)}</ul>
      </div>`}
    </section>`;
}

/** @param {{text: string}} props */
function Said({ text }) {
  const { said, foreign } = translated(text);
  return html`<span translate=${foreign ? 'no' : undefined}>${said}</span>`;
}

/** @param {{game: Json.Game, grade: Json.GameGrade, level?: Json.Level, next?: Json.Level, wrong: number}} props */
function Graded({ game, grade, level, next, wrong }) {
  const w = words();
  const { won, said_impossible: said, best_moves: best = 0 } = grade;
  const stars = starsOf(game.moves_made, best, wrong);
  return html`
    <div class=${classes('banner graded', won ? 'held' : 'not_valid')} data-won=${String(won)}>
      <h2>${won ? `✓ ${w.won}` : said ? w.wrongImpossible : w.notWon} ${won && level && html`<${Stars} n=${stars} />`}</h2>
      ${won && said && html`<p>${w.rightImpossible(grade.searched ?? 0)}</p>`}
      ${won && level && html`<p>${textOf(level).solved}</p>`}
      ${won && best > 0 && html`<p>${w.yours(game.moves_made)}${w.best(best)}</p>`}
      ${!won && !said && html`<p>${w.tryAgain}</p>`}
      ${won && level && !next && html`<p>${w.over}</p>`}
      ${won && level && html`<${Downloads} trace=${traceOf(game)} title=${textOf(level).title} file="" />`}
      ${won && next && html`<p><a class="run" href=${link('play', next.name)}>${w.nextLevel(textOf(next).title)}</a></p>`}
    </div>`;
}
