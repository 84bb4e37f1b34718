// A chapter's plan and its sheets, for those who teach it.
import { Awaited } from '../loaded.js';
import { inline } from '../lessons/markdown.js';
import { textOf } from '../play/levels.js';
import { preferences } from '../preferences.js';
import { link, stay } from '../route.js';
import { t } from '../text.js';
import { html, styled, useEffect } from '../ui.js';
import { levelsOf, titleOf, usePack } from './load.js';
import { planOf } from './plan.js';
import { Sheet } from './sheet.js';
import { slidesOf } from './slides.js';
import { words } from './text.js';
import { Ways } from './ways.js';

await styled('teach/teach.css');

/** @param {{route: import('../route.js').Route}} props */
export function Teach({ route }) {
  const { value, error, again } = usePack();
  useEffect(() => { if (!route.part) location.replace(link('lessons')); }, [route.part]); // its chapters have all that there is
  const w = words();
  if (!value || !route.part) return html`<${Awaited} error=${error} again=${again} title=${w.title} />`;
  const [chapters, levels] = value;
  const { part, query } = route;
  const chapter = chapters.find((c) => c.name === part);
  if (!chapter) return html`<p class="panel wrong" role="alert">${w.unknown(part)} <a href=${link('lessons')}>${w.back}</a></p>`;
  const own = levelsOf(levels, chapters, chapter);
  return query.sheet ? html`<${Sheet} chapter=${chapter} levels=${own} solved=${query.sheet === 'solutions'} />`
    : html`<${Plan} chapter=${chapter} number=${chapters.indexOf(chapter) + 1} levels=${own} minutes=${query.minutes === '90' ? 90 : 45} />`;
}

/** @param {{chapter: Json.Chapter, number: number, levels: Json.Level[], minutes: number}} props */
function Plan({ chapter, number, levels, minutes }) {
  const w = words().plans;
  const slides = slidesOf(chapter, preferences().language, levels.length > 0);
  const notes = slides.flatMap((s) => s.notes);
  const says = /** @type {Record<string, () => string>} */ ({
    break: () => w.parts.break(chapter.break.strategy, !chapter.break.question), source: () => w.parts.source(t.list(chapter.strategies.slice(0, 3))),
    play: () => w.parts.play(t.list(levels.map((l) => textOf(l).title))),
  });
  const title = (/** @type {string} */ part) => says[part]?.() ?? w.parts[part]();
  return html`
    <article class="teach-plan">
      <p class="hint">${words().chapterOf(number)}</p><h1>${w.title}${t.colon}${titleOf(chapter)}</h1>
      <p class="teach-lengths" role="group" aria-label=${w.length}>${[45, 90].map((n) => html`
        <button key=${n} type="button" class="quiet" data-minutes=${n} aria-pressed=${String(n === minutes)} onClick=${() => stay('teach', chapter.name, { minutes: n })}>${w.minutes(n)}</button>`)}</p>
      ${notes.length > 0 && html`<section class="lesson"><h2>${w.watch}</h2>${notes.map((n, i) => html`<p key=${i}>${inline(n)}</p>`)}</section>`}
      <div class="scroll" tabindex="0" role="region" aria-label=${w.title}><table class="teach-steps">
        <thead><tr><th scope="col">${w.time}</th><th scope="col">${w.does}</th><th scope="col">${w.slides}</th></tr></thead>
        <tbody>${planOf(slides, minutes, levels.length).map((s) => html`<tr key=${s.part} data-part=${s.part} data-from=${s.from} data-to=${s.to}>
          <th scope="row">${w.span(s.from, s.to)}</th><td class="teach-does">${title(s.part)}</td>
          <td>${s.slides && html`<a href=${link('lessons', chapter.name, { present: s.slides[0] })}>${w.range(...s.slides)}</a>`}</td></tr>`)}</tbody>
      </table></div>
      <${Ways} name=${chapter.name} />
    </article>`;
}
