// The broken rules, and why a run proves nothing, in the page's language.
import { t } from '../text.js';
import { html } from '../ui.js';
import { words } from './effect.js';

/**
 * A violation in words. Falls back to the judge's message if the page has no
 * text, or if the numbers are missing.
 * @param {Json.Violation} violation
 */
function say({ rule, message, params }) {
  const sentence = words().broken[rule];
  if (!sentence || (typeof sentence === 'function' && sentence.length > 0 && !params)) return message;
  const said = typeof sentence === 'function' ? sentence(params ?? {}) : sentence;
  return params?.sku ? words().of(params.sku, said) : said;
}

/**
 * Why the run is not valid. Falls back to the load generator's message.
 * @param {{result: Json.Result}} props
 */
export const Problems = ({ result }) => (result.problems ?? []).length > 0 && html`
  <div class="rules">
    <h3>${t.verdict.problems}</h3>
    <ul>${result.problems?.map((line, i) => {
    const cause = result.causes?.[i];
    const said = cause && words().causes[cause.code];
    return said ? html`<li key=${i}>${said(cause.params ?? {})}</li>` : html`<li key=${i} lang="en">${line}</li>`;
  })}</ul>
  </div>`;

/** @param {{result: Json.Result}} props */
export const Rules = ({ result: { audit } }) => (audit?.violations ?? []).length > 0 && html`
  <div class="rules">
    <h3>${t.verdict.rules}</h3>
    <ul>
      ${audit?.violations?.map((v) => html`
        <li key=${v.rule}>
          <p><strong>${t.rules[v.rule] ?? v.rule}</strong> <code>${v.rule}</code></p>
          <p>${say(v)}</p>
          ${v.examples && html`
            <details open><summary>${t.verdict.orders}</summary>
              <ul class="examples">
                ${v.examples.map((e, i) => html`<li>${words().example(e, v.cases?.[i])}</li>`)}
                ${v.count > v.examples.length && html`<li>${t.verdict.more(v.count - v.examples.length)}</li>`}
              </ul>
            </details>`}
        </li>`)}
    </ul>
  </div>`;
