// A chapter on a projector: its slides, turned by keys, with the live "break it"
// among them. On paper each slide is a page.
import { BreakIt } from '../lessons/breakit.js';
import { Place } from '../lessons/drawn.js';
import { Figures } from '../lessons/figures.js';
import { Blocks, inline } from '../lessons/markdown.js';
import { Predict } from '../lessons/predict.js';
import { textOf } from '../play/levels.js';
import { useKeys } from '../keys.js';
import { preferences } from '../preferences.js';
import { go, link, stay } from '../route.js';
import { isSite } from '../source.js';
import { classes, html, styled, useEffect, useLayoutEffect, useRef, useState } from '../ui.js';
import { levelsOf, useLevels } from './load.js';
import { lead, slidesOf } from './slides.js';
import { t } from '../text.js';
import { words } from './text.js';

await styled('teach/teach.css');

/**
 * @param {{chapter: Json.Chapter, chapters: Json.Chapter[], query: Record<string, string>, lab: import('../lab.js').State, matrix: Json.Matrix | null}} props
 */
export function Present({ chapter, chapters, query, lab, matrix }) {
  const { value: levels } = useLevels();
  if (!levels) return null; // the number of slides depends on them
  return html`<${Slides} chapter=${chapter} chapters=${chapters} query=${query} lab=${lab} matrix=${matrix} levels=${levelsOf(levels, chapters, chapter)} />`;
}

/** @param {{chapter: Json.Chapter, chapters: Json.Chapter[], query: Record<string, string>, lab: import('../lab.js').State, matrix: Json.Matrix | null, levels: Json.Level[]}} props */
function Slides({ chapter, chapters, query, lab, matrix, levels }) {
  const w = words().slides;
  const slides = slidesOf(chapter, preferences().language, levels.length > 0);
  const last = slides.length - 1;
  const at = Math.min(Math.max((Number.parseInt(query.present, 10) || 1) - 1, 0), last);
  const [notes, setNotes] = useState(false);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const live = useRef(false); // a run goes on while other slides are shown
  live.current ||= slides[at].kind === 'live';

  const to = (/** @type {number} */ n) => stay('lessons', chapter.name, { ...query, present: Math.min(Math.max(n, 0), last) + 1 });
  const leave = () => go('lessons', chapter.name);
  const full = () => { // a browser may refuse, and the slides are there without
    (document.fullscreenElement ? document.exitFullscreen() : box.current.requestFullscreen()).catch(() => {});
  };
  useKeys((e, on) => {
    if (e.key === ' ' && on?.closest('button, a, summary')) return undefined; // it presses them
    const turn = (/** @type {number} */ by) => () => to(at + by);
    const fold = () => setNotes((on) => !on);
    return /** @type {Record<string, () => void>} */ ({
      ArrowRight: turn(1), PageDown: turn(1), ' ': turn(e.shiftKey ? -1 : 1), ArrowLeft: turn(-1), PageUp: turn(-1),
      Home: () => to(0), End: () => to(last), Escape: leave, n: fold, N: fold, f: full, F: full,
    })[e.key];
  });
  const { strategy, stock = 0, buyers = 0, question } = chapter.break;
  const noteOf = (/** @type {import('./slides.js').Slide} */ { kind, blocks: [first] }) => {
    if (kind === 'live') return question || isSite ? w.note.schedule(strategy) : w.note.live(strategy, stock, buyers);
    return (w.note[first?.kind ?? ''] ?? w.note[kind])();
  };
  useAlone();
  useEffect(() => { /** @type {HTMLElement | null} */ (box.current?.querySelector('.slide:not([hidden])'))?.focus({ preventScroll: true }); }, [at]);

  const known = new Set(chapters.flatMap((c) => c.strategies));
  const inside = (/** @type {import('./slides.js').Slide} */ s, /** @type {number} */ i) => {
    switch (s.kind) {
      case 'title': return html`<p class="hint">${words().chapterOf(chapters.indexOf(chapter) + 1)}</p><h1>${s.heading}</h1>`;
      case 'predict': return html`<h2>${w.predict}</h2><${Predict} chapter=${chapter} place="first" />`;
      case 'live': return html`<h2>${w.live}</h2>${(i === at || live.current) && html`<${BreakIt} chapter=${chapter} lab=${lab} matrix=${matrix} draws=${isSite} />`}`;
      case 'play': return html`<h2>${w.yours}</h2><p class="slide-lead">${w.levelsHint}</p>
        <ul class="items">${levels.map((l) => html`<li key=${l.name}><a href=${link('play', l.name)}>${textOf(l).title}</a>${t.colon}${textOf(l).goal}</li>`)}</ul>`;
      default: return html`<h2>${inline(s.heading)}${s.kind === 'answer' && html` · ${w.answer}`}${s.of > 1 && html` <span class="hint">${w.part(s.nth, s.of)}</span>`}</h2>
        ${s.blocks.map((b, n) => (b.kind === 'text' ? html`<${Said} key=${n} text=${b.text} known=${known} />`
    : html`<${Blocks} key=${n} blocks=${[b]} strategies=${known} figures=${(/** @type {string} */ command) => html`<${Figures} command=${command} chapter=${chapter} matrix=${matrix} />`}
        drawing=${(/** @type {string} */ place) => html`<${Place} place=${place} matrix=${matrix} zoom=${1.3} />`} />`))}`;
    }
  };
  return html`
    <section class="projector" ref=${box} aria-label=${w.label(slides[0].heading)} data-at=${at + 1} data-of=${slides.length}>
      ${slides.map((s, i) => html`
        <section key=${i} class=${classes('slide', `slide-${s.kind}`, ['figures', 'drawn', 'picture', 'table'].includes(s.blocks[0]?.kind) && 'slide-figures')} hidden=${i !== at} tabindex="0" aria-label=${w.of(i + 1, slides.length)}>
          <div class="slide-inside">${inside(s, i)}</div></section>`)}
      ${notes && html`<aside class="slide-notes" aria-label=${w.notes}>${slides[at].notes.map((n, i) => html`<p key=${i}>${inline(n)}</p>`)}<p>${noteOf(slides[at])}</p><p class="hint">${w.keys}</p></aside>`}
      <nav class="slide-tools" aria-label=${w.label(slides[0].heading)}>
        <button type="button" class="quiet" data-do="before" aria-keyshortcuts="ArrowLeft" aria-disabled=${at ? undefined : 'true'} onClick=${() => to(at - 1)}>← ${w.before}</button>
        <span class="hint" role="status" aria-label=${w.of(at + 1, slides.length)}>${w.at(at + 1, slides.length)}</span>
        <button type="button" class="quiet" data-do="next" aria-keyshortcuts="ArrowRight" aria-disabled=${at < last ? undefined : 'true'} onClick=${() => to(at + 1)}>${w.next} →</button>
        <button type="button" class="quiet" data-do="notes" aria-keyshortcuts="n" aria-pressed=${String(notes)} onClick=${() => setNotes(!notes)}>${w.notes}</button>
        <button type="button" class="quiet" data-do="full" aria-keyshortcuts="f" title=${w.keys} onClick=${full}>${w.full}</button>
        <button type="button" class="quiet" data-do="print" onClick=${() => print()}>${w.print}</button>
        <button type="button" class="quiet" data-do="leave" aria-keyshortcuts="Escape" onClick=${leave}>${w.leave}</button>
      </nav>
    </section>`;
}

/** @param {{text: string, known: Set<string>}} props */
function Said({ text, known }) {
  const [head, rest] = lead(text);
  return html`<p class="slide-lead">${inline(head, known)}</p>${rest && html`<p>${inline(rest, known)}</p>`}`;
}

/** Hook: what is behind the slides can be neither seen nor reached, and is not printed. */
function useAlone() {
  useLayoutEffect(() => {
    const others = [...document.querySelectorAll('header.top, nav.tabs, body > footer, a.skip')];
    const inert = (/** @type {boolean} */ on) => {
      for (const one of others) one.toggleAttribute('inert', on);
      document.documentElement.toggleAttribute('data-projected', on);
    };
    inert(true);
    return () => inert(false);
  }, []);
}
