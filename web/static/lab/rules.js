// The broken rules, in the page's language.
import { preferences } from '../preferences.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import en from './text/en.js';
import zh from './text/zh.js';

const dictionaries = { en, zh };

/**
 * A violation in words. Falls back to the judge's message if the page has no
 * text, or if the numbers are missing.
 * @param {Json.Violation} violation
 */
function say({ rule, message, params }) {
  const words = dictionaries[preferences().language];
  const sentence = words.broken[rule];
  if (!sentence || (typeof sentence === 'function' && sentence.length > 0 && !params)) return message;
  const said = typeof sentence === 'function' ? sentence(params ?? {}) : sentence;
  return params?.sku ? words.of(params.sku, said) : said;
}

/**
 * Why the run is not valid. Falls back to the load generator's message.
 * @param {{result: Json.Result}} props
 */
function Problems({ result }) {
  const problems = result.problems ?? [];
  const { causes: said } = dictionaries[preferences().language];
  return html`
    <div class="panel rules">
      <h3>${t.verdict.problems}</h3>
      <ul>${problems.map((line, i) => {
    const cause = result.causes?.[i];
    const words = cause && said[cause.code];
    return words ? html`<li key=${i}>${words(cause.params ?? {})}</li>` : html`<li key=${i} lang="en">${line}</li>`;
  })}</ul>
    </div>`;
}

/**
 * The broken rules with their orders; the first ones are open.
 * @param {{result: Json.Result, open?: number}} props
 */
export function Rules({ result, open = Infinity }) {
  const violations = result.audit?.violations ?? [];
  return html`
    ${violations.length > 0 && html`<div class="panel rules">
      <h3>${t.verdict.rules}</h3>
      <ul>
        ${violations.map((v, i) => html`
          <li key=${v.rule}>
            <p><strong>${t.rules[v.rule] ?? v.rule}</strong> <code>${v.rule}</code></p>
            <p>${say(v)}</p>
            ${v.examples && html`
              <details open=${i < open}><summary>${t.verdict.orders}</summary>
                <ul class="examples">
                  ${v.examples.map((e, i) => html`<li>${dictionaries[preferences().language].example(e, v.cases?.[i])}</li>`)}
                  ${v.count > v.examples.length && html`<li>${t.verdict.more(v.count - v.examples.length)}</li>`}
                </ul>
              </details>`}
          </li>`)}
      </ul>
    </div>`}
    ${(result.problems ?? []).length > 0 && html`<${Problems} result=${result} />`}`;
}
