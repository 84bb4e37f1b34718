// Two comparisons side by side: what changed from the older to the newer, as
// --against reports it, or why they cannot be compared.
import { Failed, useLoaded } from '../loaded.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { classes, count, html, moment } from '../ui.js';
import { Badge } from './badge.js';
import { against, whole } from './store.js';
import { words } from './text.js';

/** @param {{one: Json.Comparison, other: Json.Comparison}} props */
export function Side({ one, other }) {
  const [older, newer] = [one, other].sort((a, b) => Date.parse(a.started) - Date.parse(b.started));
  const { value: got, error, again } = useLoaded(() => Promise.all([against(newer.id, older.id), whole(older.id), whole(newer.id)]), [newer.id, older.id]);
  const w = words();
  if (error) return html`<${Failed} error=${error} again=${again} />`;
  const [answer, was, is] = got ?? [];
  if (!answer || !was?.result || !is?.result) return html`<p class="hint">${t.nav.loading}</p>`;
  return html`
    <section class="panel side" aria-labelledby="side-title">
      <h2 id="side-title">${w.side.title}</h2>
      <p>${w.side.from} <a href=${link('compare', older.id)}>${moment(older.started)}</a> (${w.list.saleOf(older.settings)})
        ${' '}${w.side.to} <a href=${link('compare', newer.id)}>${moment(newer.started)}</a> (${w.list.saleOf(newer.settings)})</p>
      <${Verdict} answer=${answer} />
      ${answer.caveats.length > 0 && html`
        <p class="lesson">${w.side.caveats} ${answer.caveats.map((c) => w.side.caveat[c] ?? c).join(w.side.comma)}</p>`}
      <${Changes} answer=${answer} was=${was.result} is=${is.result} />
      <${Only} title=${w.side.onlyIn(moment(older.started))} names=${answer.against.gone} />
      <${Only} title=${w.side.onlyIn(moment(newer.started))} names=${answer.against.added} />
    </section>`;
}

/** @param {{title: string, names: string[]}} props */
const Only = ({ title, names }) => names.length > 0 && html`<p class="hint">${title} ${names.map((n, i) => html`${i > 0 && ', '}<code key=${n}>${n}</code>`)}</p>`;

/** @param {{answer: Json.Against}} props */
function Verdict({ answer: { comparable, differences, against: a } }) {
  const w = words();
  if (comparable) {
    const failed = a.changes.filter((c) => c.failed).length;
    return html`<p class=${`verdict-line ${failed ? 'bad' : 'good'}`} data-comparable="yes">${failed ? w.side.slower(failed, a.limit_percent) : w.side.fine(a.limit_percent)}</p>`;
  }
  return html`
    <div class="verdict-line bad" data-comparable="no">
      <p>${w.side.notComparable}</p>
      <ul>${differences.map((d) => html`<li key=${d.setting}>${w.side.differs(w.fields[d.setting][0], d.was, d.is)}</li>`)}
        ${a.changes.length === 0 && html`<li>${w.side.nothingCommon}</li>`}</ul>
    </div>`;
}

/** @param {number} x */
const share = (x) => (x >= 0.0995 ? x.toFixed(2) : x.toFixed(3));

/** @param {{answer: Json.Against, was: Json.ComparisonResult, is: Json.ComparisonResult}} props */
function Changes({ answer: { comparable, against: a }, was, is }) {
  const w = words();
  if (!a.changes.length) return null;
  const both = (/** @type {string} */ name) => [was, is].flatMap((result) => result.strategies.filter((e) => e.strategy === name));
  return html`
    <div class="scroll" tabindex="0" role="region" aria-labelledby="side-title">
      <table class="changes">
        <thead><tr><th scope="col">${t.history.strategy}</th>
          ${comparable && html`<th scope="col">${w.side.change}</th><th scope="col">${w.side.by}</th>`}
          <th scope="col">${w.side.was}</th><th scope="col">${w.side.is}</th></tr></thead>
        <tbody>${a.changes.map((c) => html`
          <tr key=${c.strategy}>
            <th scope="row"><code>${c.strategy}</code></th>
            ${comparable && html`
              <td class=${classes(c.failed && 'failed')}>${w.side.percent(c.percent)}${c.failed && html` <span class="badge oversold">${c.verdict ? w.side.otherVerdict : w.side.isSlower}</span>`}</td>
              <td>${w.side.baselines[c.by]} <span class="figure">${figure(c, c.was)} → ${figure(c, c.is)}</span></td>`}
            ${both(c.strategy).map((e, i) => html`
              <td key=${i}>${w.perSecond(count(e.sales_per_second.median))}<br /><${Badge} entry=${e} /></td>`)}
          </tr>`)}</tbody>
      </table>
    </div>
    ${comparable && html`<p class="hint">${w.side.note}</p>`}`;
}

/** @param {Json.Change} c @param {number} x */
const figure = (c, x) => (c.by === 'sales_per_second' ? count(x) : share(x));
