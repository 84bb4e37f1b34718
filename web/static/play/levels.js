// The list of levels, and free play.
import { noStrategies, useLab } from '../lab.js';
import { preferences } from '../preferences.js';
import { go, link } from '../route.js';
import { isSite } from '../source.js';
import { NeedsLab } from '../story/needs.js';
import { sixFirst, titleOf } from '../strategies.js';
import { t } from '../text.js';
import { classes, html, useState } from '../ui.js';
import { maxStars, solvedLevels } from './progress.js';
import { translated } from './say.js';
import { words } from './text.js';

/** @param {Json.Level} level @returns {Json.LevelText} */
export const textOf = (level) => level.text[preferences().language] ?? level.text.en;

/** @param {{levels: Json.Level[], chapters: Json.Chapter[]}} props */
export function Levels({ levels, chapters }) {
  const w = words();
  const solved = solvedLevels();
  const titled = (/** @type {number} */ n) => (n ? w.chapter(n, chapters[n - 1]?.title[preferences().language] ?? chapters[n - 1]?.title.en ?? '') : w.noChapter);
  const next = levels.find((l) => l.available && !solved[l.name]);
  const groups = [...new Set(levels.map((l) => l.chapter))].sort((a, b) => (a || 99) - (b || 99));
  return html`
    <h1>${w.title}</h1>
    <p class="intro">${w.what}</p>
    ${next ? html`<section class="continue" aria-label=${w.continue}><h2>${Object.keys(solved).length ? w.continue : w.begin}</h2><ol class="first-level"><${Entry} level=${next} /></ol></section>`
    : levels.length > 0 && html`<p class="banner held">${w.over}</p>`}
    <section class="levels" aria-labelledby="levels-title">
      <h2 id="levels-title">${w.levels}</h2>
      ${levels.length ? html`<p class="hint" data-solved=${Object.keys(solved).length}>${w.solved(levels.filter((l) => l.name in solved).length, levels.length)}</p>` : html`<p class="hint">${w.noLevels}</p>`}
      ${groups.map((n) => html`
        <details key=${n} class="level-group"><summary>${titled(n)} <span class="hint">${levels.filter((l) => l.chapter === n).map((l) => textOf(l).title).join(' · ')}</span></summary>
          <ol>${levels.filter((l) => l.chapter === n).map((l) => html`<${Entry} key=${l.name} level=${l} solved=${solved[l.name]} />`)}</ol></details>`)}
    </section>
    ${isSite ? html`<h2>${w.free}</h2><${NeedsLab} />` : html`<${Free} />`}`;
}

/** @param {{n: number}} props */
export const Stars = ({ n }) => html`<span class="stars" role="img" aria-label=${words().stars(n, maxStars)}>${'★'.repeat(n)}${'☆'.repeat(maxStars - n)}</span>`;

/**
 * How hard a level is: by the moves of its best solution, and by what has to be found out.
 * @param {Json.Level} level @returns {'easy' | 'medium' | 'hard'}
 */
const difficulty = ({ solution: { impossible, moves }, setting: { faults } }) => (impossible > 100 || moves > 16 ? 'hard' : impossible > 0 || moves > 10 || faults.length > 0 ? 'medium' : 'easy');

/** @param {{level: Json.Level, solved?: number}} props */
function Entry({ level: l, solved }) {
  const w = words();
  const { title, goal } = textOf(l);
  const inside = html`
    <span class="level-name"><span class="n">${l.number}</span> <b>${title}</b>
      ${solved && html`<span class="tick" role="img" aria-label=${w.done} title=${w.done}>✓</span> <${Stars} n=${solved} />`}</span>
    <span class="goal">${goal}</span>
    <span class="hint">${w.hard[difficulty(l)]} · <code>${l.setting.strategy}</code> · ${w.setting(l.setting.buyers.length, l.setting.stock, l.setting.faults.length ? l.setting.max_faults : 0)}</span>`;
  return html`
    <li class=${classes('level', solved !== undefined && 'solved')} data-level=${l.name}>
      ${l.available ? html`<a class="panel" href=${link('play', l.name)}>${inside}</a>`
    : html`<div class="panel missing">${inside}<span class="hint">${t.form.unavailable}${t.colon}${(l.missing ?? []).map((why) => translated(t.reason(why)).said).join(t.semicolon)}</span></div>`}
    </li>`;
}

function Free() {
  const w = words();
  const lab = useLab();
  const ready = sixFirst(lab.strategies.filter((s) => s.available));
  const [strategy, setStrategy] = useState('');
  const [buyers, setBuyers] = useState('2');
  const [stock, setStock] = useState('2');
  const name = ready.some((s) => s.name === strategy) ? strategy : (ready.find((s) => s.name === 'naive') ?? ready[0])?.name ?? '';
  const choice = (/** @type {string} */ id, /** @type {string} */ label, /** @type {string[][]} */ options, /** @type {string} */ value, /** @type {(v: string) => void} */ set) => html`
    <div class="field"><label for=${id}>${label}</label>
      <select id=${id} onChange=${(e) => set(e.currentTarget.value)}>${options.map(([o, says = o]) => html`<option key=${o} value=${o} selected=${o === value}>${says}</option>`)}</select></div>`;
  const begin = (/** @type {Event} */ e) => {
    e.preventDefault();
    if (name) go('play', '', { strategy: name, buyers, stock });
  };
  return html`
    <form class="panel free-play" onSubmit=${begin} aria-labelledby="free-title">
      <div><h2 id="free-title">${w.free}</h2><p class="hint">${ready.length ? w.freeHint : noStrategies()}</p></div>
      ${choice('free-strategy', w.strategy, ready.map((s) => [s.name, `${s.name} · ${titleOf(s)}`]), name, setStrategy)}
      ${choice('free-buyers', w.buyers, [['2'], ['3']], buyers, setBuyers)}
      ${choice('free-stock', w.stock, [['1'], ['2'], ['3'], ['5']], stock, setStock)}
      <button type="submit" class="offer small" aria-disabled=${name ? undefined : 'true'}>${w.begin}</button>
    </form>`;
}
