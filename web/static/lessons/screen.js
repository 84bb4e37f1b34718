// The course: chapters, each with the source that runs and a button that
// breaks it.
import { loadMatrix } from '../guarantees/matrix.js';
import { useLab } from '../lab.js';
import { Awaited, later, useLoaded } from '../loaded.js';
import { preferences } from '../preferences.js';
import { link, scrollToPlace, stay } from '../route.js';
import { t } from '../text.js';
import { classes, html, styled, useEffect, useRef, useState } from '../ui.js';
import { BreakIt } from './breakit.js';
import { Place } from './drawn.js';
import { Figures } from './figures.js';
import { Blocks, inline, sections } from './markdown.js';
import { partOf } from './parts.js';
import { isPredictable, Predict } from './predict.js';
import { chaptersRead, finish, lastOpened, opened } from './progress.js';
import { StrategyLesson } from './strategy.js';
import { textOf } from '../play/levels.js';
import { loadChapters, titleOf, useLevels } from '../teach/load.js';
import { words as teachWords } from '../teach/text.js';
import { Ways } from '../teach/ways.js';
import { words as lessonWords } from './text.js';

await styled('lessons/lessons.css');

const Presentation = later(() => import('../teach/present.js'), 'Present', () => t.nav.failed); // few visitors need the slides

/** @param {{route: import('../route.js').Route}} props */
export function Lessons({ route }) {
  const lab = useLab();
  const { value: chapters, error, again } = useLoaded(loadChapters, []);
  const { value: matrix } = useLoaded(loadMatrix, []); // the chapters are readable without
  const [read, setRead] = useState(chaptersRead());

  // The address names a chapter, or a strategy in one.
  const at = chapters ? find(chapters, route.part || lastOpened() || '') : -1;
  const chapter = chapters?.[Math.max(at, 0)];
  useEffect(() => {
    if (!chapter) return;
    if (!route.part) stay('lessons', chapter.name);
    opened(chapter.name);
  }, [chapter?.name, route.part]);

  // A new page starts at its top, also for screen readers, and after its slides.
  const presents = 'present' in route.query;
  const before = useRef('');
  useEffect(() => {
    if (!chapter) return;
    if (before.current && before.current !== chapter.name && !chapter.strategies.includes(route.part)) {
      scrollToPlace();
      /** @type {HTMLElement | null} */ (document.querySelector('.chapter h1'))?.focus({ preventScroll: true });
    }
    before.current = presents ? 'slides' : chapter.name;
    const here = document.querySelector('.chapters [aria-current]');
    if (!here) return;
    for (const list of document.querySelectorAll('.chapters, .chapters ol')) { // a column that may be higher than the window, on a phone a line
      const [item, box] = [here.getBoundingClientRect(), list.getBoundingClientRect()];
      list.scrollLeft += item.left - box.left;
      list.scrollTop += Math.max(0, item.bottom - box.bottom) + Math.min(0, item.top - box.top);
    }
  }, [chapter?.name, presents]);

  const l = lessonWords();
  if (!chapters || !chapter) return html`<${Awaited} error=${error} again=${again} title=${l.title} />`;
  if (presents) return html`<${Presentation} key=${chapter.name} chapter=${chapter} chapters=${chapters} query=${route.query} lab=${lab} matrix=${matrix} />`;
  const done = () => {
    finish(chapter.name);
    setRead(chaptersRead());
  };
  return html`
    <div class="lessons">
      <nav class="chapters panel" aria-label=${l.chapters}>
        <p class="hint">${l.progress(chapters.filter((c) => read.has(c.name)).length, chapters.length)}</p>
        <ol>${chapters.map((c, i) => html`
          <li key=${c.name}><a href=${link('lessons', c.name)} aria-current=${c === chapter ? 'page' : undefined} class=${classes(read.has(c.name) && 'read')}>
            <span class="n">${i + 1}</span> ${titleOf(c)}${c.core && html` <small>${l.core}</small>`}${read.has(c.name) && html`<span class="tick" role="img" aria-label=${l.read}>✓</span>`}</a></li>`)}</ol>
      </nav>
      <${Chapter} key=${chapter.name} chapter=${chapter} chapters=${chapters} part=${route.part} unknown=${at < 0} lab=${lab} matrix=${matrix} done=${done} />
    </div>`;
}

/** @param {Json.Chapter[]} chapters @param {string} part */
function find(chapters, part) {
  const named = chapters.findIndex((c) => c.name === part);
  return named >= 0 || !part ? named : chapters.findIndex((c) => c.strategies.includes(part));
}

/**
 * @param {{chapter: Json.Chapter, chapters: Json.Chapter[], part: string, unknown: boolean, lab: import('../lab.js').State,
 *   matrix: Json.Matrix | null, done: () => void}} props
 */
function Chapter({ chapter, chapters, part, unknown, lab, matrix, done }) {
  const number = chapters.indexOf(chapter);
  const [before, after] = [chapters[number - 1], chapters[number + 1]];
  const known = new Set(chapters.flatMap((c) => c.strategies));
  const [intro, ...rest] = sections(chapter.text[preferences().language] ?? chapter.text.en);
  const end = useRef(/** @type {HTMLElement | null} */ (null));
  const l = lessonWords();
  useEffect(() => {
    const seen = new IntersectionObserver((all) => { if (all.some((e) => e.isIntersecting)) done(); });
    seen.observe(end.current);
    return () => seen.disconnect();
  }, []);
  const blocks = (/** @type {import('./markdown.js').Block[]} */ list) => html`<${Blocks} blocks=${list} strategies=${known}
    figures=${(/** @type {string} */ command, /** @type {number} */ key) => html`<${Figures} key=${key} command=${command} chapter=${chapter} matrix=${matrix} />`}
    drawing=${(/** @type {string} */ place, /** @type {number} */ key) => html`<${Place} key=${key} place=${place} matrix=${matrix} />`} />`;
  return html`
    <article class="chapter">
      ${unknown && part && html`<p class="panel wrong" role="alert">${l.unknown(part)}</p>`}
      <header><p class="hint">${l.chapter(number + 1, chapters.length)}</p><h1 tabindex="-1">${titleOf(chapter)}</h1></header>
      ${blocks(intro[1])}
      ${rest.map(([heading, list], i) => (partOf(heading) === 'primer' ? html`
        <details key=${i} class="primer"><summary><h2>${inline(heading)}</h2> <span class="hint">${l.ifNeeded}</span></summary>${blocks(list)}</details>` : html`
        <section key=${i} class=${classes(partOf(heading) === 'think' && 'think')}>
          <h2>${inline(heading)}</h2>
          ${blocks(list)}
          ${partOf(heading) === 'problem' && isPredictable(chapter) && html`<${Predict} chapter=${chapter} place="first" />`}
          ${partOf(heading) === 'break' && html`<${BreakIt} chapter=${chapter} lab=${lab} matrix=${matrix} />`}
        </section>`))}
      <${Levels} number=${number + 1} />
      <${Strategies} chapter=${chapter} lab=${lab} matrix=${matrix} part=${part} known=${known} />
      <section class="of-chapter to-teach"><h2>${teachWords().title}</h2><${Ways} name=${chapter.name} /></section>
      <nav class="turn" ref=${end} aria-label=${l.turn}>
        ${before ? html`<a class="offer" rel="prev" href=${link('lessons', before.name)}>← ${titleOf(before)}</a>` : html`<span></span>`}
        ${after && html`<a class="offer next" rel="next" href=${link('lessons', after.name)}>${titleOf(after)} →</a>`}
      </nav>
    </article>`;
}

/**
 * The levels of a chapter.
 * @param {{number: number}} props
 */
function Levels({ number }) {
  const { value } = useLevels();
  const own = (value ?? []).filter((level) => level.chapter === number);
  return own.length > 0 && html`
    <section class="of-chapter"><h2>${t.nav.play}</h2>
      <ul class="items">${own.map((level) => html`<li key=${level.name}><a href=${link('play', level.name)}>${textOf(level).title}</a>${t.colon}${textOf(level).goal}</li>`)}</ul></section>`;
}

/** @param {{chapter: Json.Chapter, lab: import('../lab.js').State, matrix: Json.Matrix | null, part: string, known: Set<string>}} props */
function Strategies({ chapter, lab, matrix, part, known }) {
  const [chosen, setChosen] = useState(chapter.strategies.includes(part) ? part : chapter.strategies[0]);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (!chapter.strategies.includes(part)) return;
    setChosen(part);
    box.current.scrollIntoView();
  }, [part]);
  return html`
    <section class="of-chapter" ref=${box} aria-labelledby="source-title">
      <h2 id="source-title">${lessonWords().source}</h2>
      <div class="choices" role="group" aria-label=${t.history.strategy}>
        ${chapter.strategies.map((name) => html`
          <button key=${name} type="button" class="quiet" aria-pressed=${String(name === chosen)} onClick=${() => setChosen(name)}>${name}</button>`)}
      </div>
      <${StrategyLesson} key=${chosen} name=${chosen} matrix=${matrix} known=${known} listed=${lab.strategies.find((s) => s.name === chosen)} />
    </section>`;
}
