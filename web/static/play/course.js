// What happened so far: as the steps of a trace or as its diagram, and what the
// servers keep.
import { LaneHeads, onLanes, Step } from '../trace/lanes.js';
import { Picture } from '../trace/picture.js';
import { html, useEffect, useRef } from '../ui.js';
import { words } from './text.js';

/**
 * at: how many steps are looked at; move: looks at others.
 * @param {{trace: import('../trace/model.js').Trace, model: import('../trace/model.js').Model, at: number, move: (n: number) => void,
 *   view: string, look: (view: string) => void}} props
 */
export function Course({ trace, model, at, move, view, look }) {
  const w = words();
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const last = trace.steps.length;
  useEffect(() => { // the step that is looked at, and what is said of it
    const step = box.current?.querySelector('.step.current');
    if (!step) return;
    const [outer, inner] = [box.current.getBoundingClientRect(), step.getBoundingClientRect()];
    if (inner.bottom > outer.bottom || inner.top < outer.top) box.current.scrollTop += inner.bottom > outer.bottom ? inner.bottom - outer.bottom : inner.top - outer.top;
  }, [at, last, view]);
  return html`
    <section class="panel course" aria-labelledby="course-title">
      <div class="course-top"><h2 id="course-title">${w.course}</h2>
        <span class="views" role="group" aria-label=${w.view}>
          ${['', 'diagram'].map((one) => html`<button key=${one} type="button" class="quiet" data-view=${one || 'steps'} aria-pressed=${String(view === one)} onClick=${() => look(one)}>${one ? w.diagram : w.steps}</button>`)}</span></div>
      ${at < last && html`<p class="looking" role="status">${at ? w.looking(at, last) : w.beginning} <button type="button" class="link" onClick=${() => move(last)}>${w.present}</button></p>`}
      ${last === 0 ? html`<p class="hint">${w.empty}</p>`
    : view ? html`<div class="drawn-course"><${Picture} trace=${trace} current=${at} choose=${move} /></div>`
      : html`<div class="steps" ...${onLanes(model)}>
        <${LaneHeads} model=${model} buyers=${trace.buyers} />
        <ol ref=${box} class="so-far">${trace.steps.map((s, i) => html`
          <${Step} key=${i} step=${s} index=${i} model=${model} current=${i === at - 1} past=${i < at} choose=${() => move(i + 1)} />`)}</ol></div>`}
    </section>`;
}
