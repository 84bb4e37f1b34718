// The comparison screen: start one, watch it, and look at earlier results.
import { useLab } from '../lab.js';
import { Awaited } from '../loaded.js';
import { isOn } from '../records.js';
import { go, stay } from '../route.js';
import { html, styled, useEffect, useRef } from '../ui.js';
import { CompareForm } from './form.js';
import { List } from './list.js';
import { Result } from './result.js';
import { load, running, useComparisons } from './store.js';
import { words } from './text.js';

await styled('compare/compare.css');

/** @param {{route: import('../route.js').Route}} props */
export function Compare({ route }) {
  const lab = useLab();
  const comparisons = useComparisons();
  const w = words();
  const { all, failure } = comparisons;
  const on = running(all);
  const shown = all?.find((c) => c.id === route.part) ?? (route.part ? null : on ?? all?.[0]); // without a name, the newest

  // When a watched comparison ends, show its result.
  const watched = useRef('');
  useEffect(() => {
    const ended = all?.find((c) => c.id === watched.current && !isOn(c));
    if (ended && (!route.part || route.part === ended.id)) stay('compare', ended.id, route.query);
    watched.current = on?.id ?? '';
  }, [on?.id]);

  if (!all || !lab.status) return html`<${Awaited} title=${w.title} error=${failure} again=${load} />`;
  return html`
    <h1>${w.title}</h1>
    <p class="intro">${w.what}</p>
    <div class="compare">
      <${CompareForm} route=${route} lab=${lab} comparisons=${comparisons} opened=${(begun) => watch(begun.id, route.query)} />
      <div id="stage" class="stage" tabindex="-1">
        <p class="hidden" role="status">${on ? w.announce.on : route.part && shown?.verdicts ? w.announce.over(w.outcome(shown.verdicts)) : ''}</p>
        ${on && shown !== on && html`<p class="lesson"><a href="#/compare">${w.isOn}</a></p>`}
        <${Stage} shown=${shown} route=${route} />
      </div>
    </div>
    <${List} comparisons=${comparisons} shown=${shown?.id} look=${toStage} />`;
}

/**
 * Shows what has begun: on a phone it is below the form, elsewhere above the
 * button that was clicked.
 * @param {string} id @param {Record<string, string>} query
 */
function watch(id, query) {
  go('compare', id, query);
  const { top } = document.getElementById('stage')?.getBoundingClientRect() ?? { top: 0 };
  if (top < 0 || top > innerHeight / 2) toStage();
}

/** Scrolls to the chosen comparison. */
function toStage() {
  const stage = document.getElementById('stage');
  stage?.focus({ preventScroll: true });
  stage?.scrollIntoView();
}

/** @param {{shown?: Json.Comparison | null, route: import('../route.js').Route}} props */
function Stage({ shown, route }) {
  const w = words();
  if (route.part && !shown) return html`<section class="panel"><p>${w.unknown}</p></section>`;
  if (!shown) return null;
  if (isOn(shown)) return html`<${Progress} comparison=${shown} />`;
  return html`<${Result} key=${shown.id} summary=${shown} />`;
}

/** How far a comparison is that is in progress. @param {{comparison: Json.Comparison}} props */
function Progress({ comparison }) {
  const w = words();
  const { done, total, turn, settings, state, seconds } = comparison;
  const left = done > 0 && state !== 'stopping' ? (seconds / done) * (total - done) : 0;
  const title = state === 'stopping' ? w.progress.stopping : turn ? w.progress.on(turn.strategy, turn.concurrency === settings.concurrency ? 0 : turn.concurrency) : w.progress.begins;
  return html`
    <div class="banner busy">
      <p class="word">${title}</p>
      <p>${w.progress.turns(done, total)} · ${w.duration(seconds)}${left > 1 && ` · ${w.progress.left(left)}`}</p>
      <progress max=${total || 1} value=${done} aria-label=${w.progress.turns(done, total)}></progress>
    </div>`;
}
