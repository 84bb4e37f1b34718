// What became of the sale with rivals, told to this buyer from the ledger.
import { useLoaded } from '../loaded.js';
import { isOn } from '../records.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { usePutOn } from './next.js';
import { words } from './text.js';

/** Which of a strategy's counterexamples tells best why its sale broke. */
const telling = ['oversell', 'lost-update', 'processes', 'lease-end', 'dead-holder'];

/** @type {Record<string, string>} */
const looks = { shared: 'bad', never: 'bad', got: 'good', held: 'open', late: 'bad', unknown: 'open', refused: 'open', absent: 'open' };

/**
 * Which story is this buyer's.
 * @param {Json.ShopOrder | undefined} yours @param {import('./purchase.js').Result | null} result
 */
function yoursOf(yours, result) {
  if (yours && yours.holders > 1) return 'shared';
  if (yours && yours.remaining < 0) return 'never';
  if (yours?.reservation === 'reserved') return 'held';
  if (yours) return 'got';
  if (result?.code === 'unknown' || result?.code === 'looking') return 'unknown';
  if (result?.code === 'sold_out') return 'late';
  return result && result.code !== 'sold' ? 'refused' : 'absent';
}

/**
 * joined: the run of the sale that the rivals joined.
 * @param {{sale: import('./sale.js').Sale, rivals: Json.Run | null, joined: number, ledger: Json.ShopLedger | null,
 *   result: import('./purchase.js').Result | null, strategies: Json.Strategy[]}} props
 */
export function Story({ sale, rivals, joined, ledger, result, strategies }) {
  if (!rivals || isOn(rivals) || joined !== sale.run || ledger?.run !== sale.run) return null;
  const { result: all, error, strategy } = rivals.lanes[0];
  const w = words().story;
  const yours = yoursOf(ledger.yours, result);
  const tale = /** @type {{title: Function, text: Function}} */ (w[yours]);
  const verdict = all?.verdict ?? 'failed';
  const broke = ['oversold', 'lost', 'blocked'].includes(verdict);
  return html`
    <section class="story" aria-labelledby="story" data-verdict=${verdict} data-yours=${yours}>
      <h2 id="story">${w.title}</h2>
      <div class=${`said ${looks[yours]}`}>
        <p class="word">${tale.title(ledger, all)}</p>
        <p>${tale.text(ledger, all, result)}</p>
      </div>
      <p><span class="badge ${verdict}">${t.verdicts[verdict]}</span> ${all ? /** @type {Function} */ (w.verdict[verdict])(ledger) : rivals.error ?? error}</p>
      <${Ways} strategy=${strategy} run=${rivals.id} broke=${broke} stock=${sale.initial} strategies=${strategies} />
    </section>`;
}

/** @param {{strategy: string, run: string, broke: boolean, stock: number, strategies: Json.Strategy[]}} props */
function Ways({ strategy, run, broke, stock, strategies }) {
  const { value: example } = useLoaded(async () => {
    const { exampleOf, loadMatrix } = await import('../guarantees/matrix.js');
    const cells = (await loadMatrix()).rows.find((r) => r.strategy === strategy)?.cells ?? {};
    return telling.map((q) => exampleOf(cells[q])).find(Boolean) ?? '';
  }, [strategy]);
  const { begin, busy, failure } = usePutOn();
  const repair = strategies.find((s) => s.name === strategy)?.repair;
  const next = broke ? strategies.find((s) => s.name === repair && s.available)?.name : strategy === 'naive' ? '' : 'naive';
  const w = words().story;
  return html`
    <ul class="links">
      ${broke && example && html`<li><a href=${`/${link('trace', example)}`}>${w.play}</a></li>`}
      <li><a href=${`/${link('lessons', strategy)}`}>${w.lesson(strategy)}</a></li>
      <li><a href=${`/${link('lab', '', { run })}`}>${w.run}</a></li>
      ${next && html`<li><button type="button" class="link" data-next=${next} aria-disabled=${busy ? 'true' : undefined} onClick=${() => begin(next, stock)}>${(broke ? w.repair : w.broken)(next)}</button></li>`}
    </ul>
    <p class="wrong" role="alert">${failure}</p>`;
}
