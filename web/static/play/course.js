// What happened so far, as a diagram.
import { Picture } from '../trace/picture.js';
import { html } from '../ui.js';
import { words } from './text.js';

/**
 * at: how many steps are looked at; move: looks at others.
 * @param {{trace: import('../trace/model.js').Trace, at: number, move: (n: number) => void}} props
 */
export function Course({ trace, at, move }) {
  const w = words();
  const last = trace.steps.length;
  return html`
    <section class="panel course" aria-labelledby="course-title">
      <h2 id="course-title">${w.course}</h2>
      ${at < last && html`<p class="looking" role="status">${at ? w.looking(at, last) : w.beginning} <button type="button" class="link" onClick=${() => move(last)}>${w.present}</button></p>`}
      ${last === 0 ? html`<p class="hint">${w.empty}</p>` : html`<${Picture} trace=${trace} current=${at} choose=${move} />`}
    </section>`;
}
