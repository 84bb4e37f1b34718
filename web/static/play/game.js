// One game: the task, the buyers, what happened, what the servers keep, the end.
import { Copy } from '../copy.js';
import { Failed } from '../loaded.js';
import { useKeys } from '../keys.js';
import { link, stay } from '../route.js';
import { Chosen } from '../trace/chosen.js';
import { model } from '../trace/model.js';
import { Picture } from '../trace/picture.js';
import { State } from '../trace/state.js';
import { classes, html, useEffect, useMemo, useRef, useState } from '../ui.js';
import { Columns, Fault } from './columns.js';
import { Ending } from './ending.js';
import { textOf } from './levels.js';
import { movesOf, traceOf } from './model.js';
import { solve, starsOf } from './progress.js';
import { announce } from './say.js';
import { useSession } from './session.js';
import { words } from './text.js';

const failedEnds = 2; // after which the hint is offered

/**
 * query: of the address, with the schedule in it.
 * @param {{level?: Json.Level, next?: Json.Level, query: Record<string, string>}} props
 */
export function Game({ level, next, query }) {
  const begin = level ? { level: level.name } : { strategy: query.strategy, buyers: Number(query.buyers) || 2, stock: Number(query.stock) || 2 };
  const place = useRef(query);
  place.current = query;
  const keep = (/** @type {string} */ s) => stay('play', level?.name ?? '', { ...place.current, s });
  const session = useSession(begin, query.s ?? '', keep);
  const { game, failure } = session;
  const ends = useRef({ failed: new Set(), wrong: new Set() }); // schedules that missed the goal, and at which it was wrong to say "it cannot be done"
  const grade = game?.grade;
  useEffect(() => {
    if (!level || !grade) return;
    if (grade.won) solve(level.name, starsOf(game.moves_made, grade.best_moves ?? 0, ends.current.wrong.size));
    else if (!grade.said_impossible) ends.current.failed.add(game.schedule);
    else if (session.before?.schedule === game.schedule) ends.current.wrong.add(game.schedule); // it stands until the end
  }, [game]);
  return html`
    <div class="play">
      <${Task} level=${level} game=${game} query=${query} stuck=${ends.current.failed.size >= failedEnds} />
      <p class="hidden" role="status" data-said>${game && announce(game, session.before)}</p>
      ${failure && html`<${Failed} error=${failure} again=${failure.code === 'bad_schedule' ? () => keep('') : session.again} />`}
      ${game ? html`<${Board} key=${game.id} game=${game} session=${session} level=${level} next=${next} wrong=${ends.current.wrong.size} />`
    : !failure && html`<p class="panel hint" role="status">${words().opening}</p>`}
    </div>`;
}

/** @param {{level?: Json.Level, game: Json.Game | null, query: Record<string, string>, stuck: boolean}} props */
function Task({ level, game, query, stuck }) {
  const w = words();
  const setting = game?.setting ?? level?.setting;
  const name = setting?.strategy ?? query.strategy ?? '';
  return html`
    <header class="task">
      <p><a href=${link('play')}>${w.all}</a></p>
      <h1>${level ? html`<span class="hint">${w.number(level.number)}</span> ${textOf(level).title}` : w.free}</h1>
      ${level && html`<p class="goal">${textOf(level).goal}</p>`}
      <p class="hint">${name && html`<a href=${link('lessons', name)} title=${w.lesson}><code>${name}</code></a>`}${setting && ` · ${w.setting(setting.buyers.length, setting.stock, setting.faults.length ? setting.max_faults : 0)}`}</p>
      ${game?.recording && html`<p class="hint recorded">${w.recorded(game.recording)}</p>`}
      ${level?.text.en.hint && html`<details class="play-hint" data-offered=${String(stuck)}><summary>${stuck ? w.offerHint : w.hint}</summary><p>${textOf(level).hint}</p></details>`}
    </header>`;
}

/** @param {{game: Json.Game, session: ReturnType<typeof useSession>, level?: Json.Level, next?: Json.Level, wrong: number}} props */
function Board({ game, session, level, next, wrong }) {
  const w = words();
  const trace = useMemo(() => traceOf(game), [game]);
  const m = useMemo(() => model(trace), [trace]);
  const last = trace.steps.length;
  const [seen, setSeen] = useState({ of: game, at: last }); // an earlier step, until something happens
  const at = seen.of === game ? Math.min(seen.at, last) : last;
  const place = useRef(at);
  place.current = at;
  const to = (/** @type {number} */ n) => {
    place.current = Math.min(Math.max(n, 0), last);
    setSeen({ of: game, at: place.current });
  };
  useKeys((e) => {
    const who = e.key.toUpperCase();
    if (e.repeat) return undefined;
    if (game.buyers.some((b) => b.name === who)) return () => session.move((now) => movesOf(now, who).next);
    return { U: () => session.undo(1), ARROWLEFT: () => to(place.current - 1), ARROWRIGHT: () => to(place.current + 1) }[who];
  });
  const all = movesOf(game, '');
  const { max_faults: budget } = game.setting;
  return html`
    <div class="play-board">
      <${Ending} game=${game} level=${level} next=${next} wrong=${wrong} />
      ${level?.number === 1 && !game.moves_made && !game.grade && html`<p class="panel pointer">${w.first}</p>`}
      <${Columns} game=${game} busy=${session.busy} press=${session.move} />
      ${(game.setting.faults.length > 0 || all.follow.length > 0) && html`
        <section class="panel play-budget" aria-label=${w.faults}>
          ${game.setting.faults.length > 0 && html`<p><b>${w.faults}</b> <span class=${classes('badge', game.faults_left === 0 && 'bad')} data-left=${game.faults_left}>${w.budget(game.faults_left, budget)}</span></p>`}
          <div class="play-faults" role="group" aria-label=${w.everyone}>
            ${all.faults.map((f) => html`<${Fault} key=${f.fault} ...${f} who="" game=${game} press=${session.move} />`)}
            ${all.follow.map((one) => html`<${Fault} key=${one.move} fault=${one.fault} moves=${[one]} who="" game=${game} press=${session.move} />`)}</div>
        </section>`}
      <div class="panel play-tools">
        <button type="button" class="quiet" data-do="undo" aria-keyshortcuts="u" aria-disabled=${game.moves_made ? undefined : 'true'} onClick=${() => session.undo(1)}><kbd>U</kbd> ${w.undo}</button>
        <button type="button" class="quiet" data-do="again" aria-disabled=${game.moves_made ? undefined : 'true'} onClick=${() => session.undo()}>${w.again}</button>
        <${Copy} text=${location.href} label=${w.share} />
        ${level && html`<button type="button" class="quiet" data-do="impossible" title=${w.impossibleHint} aria-disabled=${game.grade?.won ? 'true' : undefined} onClick=${() => game.grade?.won || session.sayImpossible()}>${w.impossible}</button>`}
        <span class="hint count" data-moves=${game.moves_made} title=${w.switchHint}>${w.moves(game.moves_made, game.switches)}</span>
        <p class="hint keys">${w.keys}</p>
      </div>
      <div class="play-state">
        <${State} trace=${trace} model=${m} now=${at} />
        ${at > 0 && html`<${Chosen} step=${trace.steps[at - 1]} number=${at} />`}
      </div>
      <section class="panel course" aria-labelledby="course-title">
        <h2 id="course-title">${w.course}</h2>
        ${at < last && html`<p class="looking" role="status">${at ? w.looking(at, last) : w.beginning} <button type="button" class="link" onClick=${() => to(last)}>${w.present}</button></p>`}
        ${last === 0 ? html`<p class="hint">${w.empty}</p>` : html`<${Picture} trace=${trace} current=${at} choose=${to} />`}
      </section>
    </div>`;
}
