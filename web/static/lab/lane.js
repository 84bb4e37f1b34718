// One strategy's sale: what is left, what was sold, what buyers were told.
import { t } from '../text.js';
import { classes, count, html } from '../ui.js';

/** @param {{stock: number, lane: Json.Lane}} props */
export function Stock({ stock, lane }) {
  const audit = lane.result?.audit;
  const left = audit?.remaining ?? lane.progress?.left ?? stock;
  const sold = audit?.sold ?? lane.progress?.units ?? 0;
  const over = Math.max(0, sold - stock);
  const all = Math.max(stock, sold, 1);
  return html`
    <div class="stock">
      <div class=${classes('left', left < 0 && 'negative')}>
        <h3>${t.stock.label}</h3>
        <p class="number" data-left=${left}>${count(left)}</p>
        <p>${left < 0 && html`<strong>${t.stock.below}</strong> · `}${t.stock.of(stock)}</p>
      </div>
      <div class="sold">
        <h3>${t.stock.sold}</h3>
        <p><span class="number" data-sold=${sold}>${count(sold)}</span> ${over > 0 ? t.stock.but(stock) : t.stock.ofSold(stock)}
          ${over > 0 && html` · <strong class="over">${t.stock.tooMany(over)}</strong>`}</p>
        <svg class="bar" viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label=${t.stock.bar(sold, stock)}>
          <rect class="all" width="1000" height="24" />
          <rect class="good" width=${(1000 * Math.min(sold, stock)) / all} height="24" />
          ${over > 0 && html`<rect class="over" x=${(1000 * stock) / all} width=${(1000 * over) / all} height="24" />
            <rect class="limit" x=${(1000 * stock) / all - 2} width="4" height="24" />`}
        </svg>
      </div>
    </div>`;
}

const always = ['sold', 'sold_out'];

/** @param {{lane: Json.Lane}} props */
export function Outcomes({ lane }) {
  const counts = lane.result?.counts ?? lane.progress?.counts ?? {};
  const shown = Object.keys(t.outcomes).filter((o) => o !== 'title' && (always.includes(o) || counts[o] > 0));
  return html`
    <div class="outcomes">
      <h3>${t.outcomes.title}</h3>
      <dl>
        ${shown.map((o) => html`
          <div key=${o} class=${o}><dt>${t.outcomes[o]}</dt><dd>${count(counts[o] ?? 0)}</dd></div>`)}
      </dl>
    </div>`;
}
