// The step that is looked at, in full: a diagram has room for a few words only.
import { breakable, highlight, languageOf } from '../highlight.js';
import { answerOf, event } from './label.js';
import { servers } from './model.js';
import { t } from '../text.js';
import { words } from './text.js';
import { classes, html } from '../ui.js';

/** @param {{step: import('./model.js').Step, number: number}} props */
export function Chosen({ step: s, number }) {
  const w = words();
  const said = event(s);
  const inPost = s.fault === 'delayed' || s.fault === 'arrives late';
  return html`
    <section class="panel chosen">
      <h2>${number}${s.who && ` · ${w.who(s.who)}`}${servers[s.backend] && ` → ${servers[s.backend]}`}
        ${s.fault && html` <span class=${classes('badge', inPost ? 'post' : 'bad')}>${w.faults[s.fault] ?? s.fault}</span>`}</h2>
      ${said && html`<p>${said}</p>`}
      ${s.fault && html`<p>${w.faultHints[s.fault] ?? s.fault}</p>`}
      ${s.background && html`<p>${w.renewerHint}</p>`}
      ${s.command && !said && html`<pre tabindex="0"><code>${breakable(highlight(s.command, languageOf(s.backend)))}</code></pre>`}
      ${s.fault !== 'delayed' && html`<p class="hint">${w.result}${t.colon}<span translate=${Boolean(s.result)}>${answerOf(s)}</span></p>`}
      ${s.woke.length > 0 && html`<p>${w.woke(s.woke.map(w.who).join(t.comma))}</p>`}
      ${s.took !== undefined && html`<p class="hint">${w.took((s.start ?? 0) / 1000, s.took / 1000)}</p>`}
    </section>`;
}
