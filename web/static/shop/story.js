// What became of the sale with rivals, told to this buyer from the ledger.
import { call } from '../api.js';
import { isOn } from '../records.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html, useEffect, useState } from '../ui.js';
import { words } from './text.js';

/** @param {string} user @returns {Promise<Json.ShopLedger>} */
export const readLedger = (user) => call('GET', `/api/lab/v1/shop/ledger?user_id=${user}`);

/** Which of a strategy's counterexamples tells best why its sale broke. */
const telling = ['oversell', 'lost-update', 'processes', 'lease-end', 'dead-holder'];

/**
 * What is known of the sale, once its rivals have ended.
 * @param {Json.Rivals | null} rivals @param {number} user @param {unknown} news
 */
function useEnded(rivals, user, news) {
  const [known, setKnown] = useState(/** @type {{of: string, user: number, ledger: Json.ShopLedger, run: Json.Run} | null} */ (null));
  const ended = rivals && !isOn(rivals) ? rivals.run : '';
  useEffect(() => {
    if (!ended) return undefined;
    let here = true;
    Promise.all([readLedger(String(user)), call('GET', `/api/lab/v1/runs/${ended}`)]).then(([ledger, run]) => {
      if (here) setKnown({ of: ended, user, ledger, run });
    }, () => { /* the page says that the shop does not answer */ });
    return () => { here = false; };
  }, [ended, user, news]);
  return known && known.of === ended && known.user === user ? known : null;
}

/**
 * @param {{sale: import('./sale.js').Sale, rivals: Json.Rivals | null, user: number,
 *   result: import('./purchase.js').Result | null}} props
 */
export function Story({ sale, rivals, user, result }) {
  const ofThis = rivals && rivals.sale === sale.run ? rivals : null;
  const known = useEnded(ofThis, user, `${result?.code} ${sale.left}`);
  if (!ofThis || !known) return null;
  const { ledger, run } = known;
  const all = run.lanes[0].result;
  const w = words().story;
  const yours = yoursOf(ledger, result, all);
  const tale = /** @type {{title: Function, text: Function}} */ (w[yours]);
  const verdict = ofThis.verdict ?? 'failed';
  const said = /** @type {Function | null} */ (w.verdict[verdict]);
  const broke = ['oversold', 'lost', 'blocked'].includes(verdict);
  return html`
    <section class="story" aria-labelledby="story" data-verdict=${verdict} data-yours=${yours}>
      <h2 id="story">${w.title}</h2>
      <div class=${`said ${looks[yours]}`}>
        <p class="word">${tale.title(ledger, all)}</p>
        <p>${tale.text(ledger, all, result)}</p>
      </div>
      <p><span class="badge ${verdict}">${t.verdicts[verdict]}</span> ${said?.(ledger) ?? ofThis.error}</p>
      <${Links} strategy=${ofThis.strategy} run=${ofThis.run} broke=${broke} />
    </section>`;
}

/** @type {Record<string, string>} */
const looks = { shared: 'bad', never: 'bad', got: 'good', held: 'open', late: 'bad', unknown: 'open', refused: 'open', absent: 'open' };

/**
 * Which story is this buyer's.
 * @param {Json.ShopLedger} ledger @param {import('./purchase.js').Result | null} result @param {Json.Result} [all]
 */
function yoursOf({ yours }, result, all) {
  if (yours && yours.holders > 1) return 'shared';
  if (yours && yours.remaining < 0) return 'never';
  if (yours?.reservation === 'reserved') return 'held';
  if (yours) return 'got';
  if (result?.code === 'unknown' || result?.code === 'looking') return 'unknown';
  if (result?.code === 'sold_out' && all) return 'late';
  return result && result.code !== 'sold' ? 'refused' : 'absent';
}

/** @param {{strategy: string, run: string, broke: boolean}} props */
function Links({ strategy, run, broke }) {
  const [more, setMore] = useState({ repair: '', example: '' });
  const w = words().story;
  useEffect(() => {
    let here = true;
    Promise.all([
      call('GET', '/api/v1/strategies').then((all) => {
        const repair = all.strategies.find((s) => s.name === strategy)?.repair;
        return all.strategies.find((s) => s.name === repair && s.available)?.name ?? '';
      }),
      import('../guarantees/matrix.js').then(async ({ exampleOf, loadMatrix }) => {
        const cells = (await loadMatrix()).rows.find((r) => r.strategy === strategy)?.cells ?? {};
        return telling.map((q) => exampleOf(cells[q])).find(Boolean) ?? '';
      }),
    ].map((wanted) => wanted.catch(() => ''))).then(([repair, example]) => { if (here) setMore({ repair, example }); });
    return () => { here = false; };
  }, [strategy]);
  return html`
    <ul class="links">
      ${broke && more.example && html`<li><a href=${`/${link('trace', more.example)}`}>${w.play}</a></li>`}
      <li><a href=${`/${link('lessons', strategy)}`}>${w.lesson(strategy)}</a></li>
      <li><a href=${`/${link('lab', '', { run })}`}>${w.run}</a></li>
      ${broke && more.repair && html`<li><a href=${`/shop/admin?strategy=${more.repair}`}>${w.repair(more.repair)}</a></li>`}
      ${!broke && strategy !== 'naive' && html`<li><a href="/shop/admin?strategy=naive">${w.broken('naive')}</a></li>`}
    </ul>`;
}
