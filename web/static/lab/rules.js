// The broken rules, and why a run proves nothing, in the page's language.
import { t } from '../text.js';
import { html } from '../ui.js';
import { words } from './text.js';

/**
 * Why the run is not valid.
 * @param {{result: Json.Result}} props
 */
export const Problems = ({ result }) => (result.problems ?? []).length > 0 && html`
  <div class="rules">
    <h3>${t.verdict.problems}</h3>
    <ul>${result.problems?.map((problem, i) => {
    const said = words().problem(problem);
    return html`<li key=${i} lang=${said === problem.text ? 'en' : undefined}>${said}</li>`;
  })}</ul>
  </div>`;

/** @param {{result: Json.Result}} props */
export const Rules = ({ result: { audit } }) => html`${audit?.warning && html`<p class="hint" data-warning>${t.verdict.met}</p>`}
  ${(audit?.violations ?? []).length > 0 && html`
  <div class="rules">
    <h3>${t.verdict.rules}</h3>
    <ul>
      ${audit?.violations?.map((v) => html`
        <li key=${v.rule}>
          <p><strong>${t.rules[v.rule] ?? v.rule}</strong> <code>${v.rule}</code></p>
          <p>${words().broken(v)}</p>
          ${v.examples && html`
            <details open><summary>${t.verdict.orders}</summary>
              <ul class="examples">
                ${v.examples.map((e, i) => html`<li>${words().example(e, v.cases?.[i])}</li>`)}
                ${v.count > v.examples.length && html`<li>${t.verdict.more(v.count - v.examples.length)}</li>`}
              </ul>
            </details>`}
        </li>`)}
    </ul>
  </div>`}`;
