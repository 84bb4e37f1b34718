// Several runs of one sale: a sign for each, and how often which verdict came.
import { isOn } from '../records.js';
import { link, read } from '../route.js';
import { t } from '../text.js';
import { classes, html } from '../ui.js';
import { words } from './effect.js';
import { Sign, verdictOf } from './verdict.js';

/** @param {{run: Json.Run, lab: import('../lab.js').State}} props */
export function Series({ run, lab }) {
  const w = words().series;
  const { id, of } = run.series ?? { id: '', of: 0 };
  const runs = lab.runs.filter((r) => r.series?.id === id);
  const latest = runs.find((r) => r.series?.shares); // newest first
  const ended = runs.map((r) => r.series?.ended).find(Boolean);
  return html`
    <section class="panel series" aria-labelledby="series-title">
      <h3 id="series-title">${w.title(of)}</h3>
      ${run.lanes.map((lane, i) => html`
        <div key=${lane.strategy} class="of-lane">
          <p>${run.lanes.length > 1 && html`<strong>${lane.strategy}</strong> · `}<span class="shares">${sentence(latest?.series?.shares?.[i]) || w.first}</span></p>
          <ol class="strip">${Array.from({ length: of }, (_, n) => html`
            <${Place} key=${n} n=${n + 1} lane=${i} run=${runs.find((r) => r.series?.number === n + 1)} shown=${n + 1 === run.series?.number} />`)}</ol>
        </div>`)}
      <p class="hint">${w.interval} ${ended && ended !== 'done' && w.ended[ended]}</p>
    </section>`;
}

/** @param {Json.VerdictShare[]} [shares] */
const sentence = (shares = []) => t.list(shares.filter((s) => s.runs > 0)
  .map((s) => words().series.share(s.verdict, s.runs, s.of, Math.round(100 * s.low), Math.round(100 * s.high))));

/**
 * The sign of one run, which is a link to it; empty where there is none.
 * @param {{n: number, lane: number, run?: Json.Run, shown: boolean}} props
 */
function Place({ n, lane, run, shown }) {
  const w = words().series;
  const verdict = run && verdictOf(run, run.lanes[lane]);
  if (!run || isOn(run)) return html`<li><span class="place" aria-label=${w.place(n, run ? t.verdicts.running : w.none)} role="img">${n}</span></li>`;
  const text = w.place(n, t.verdicts[verdict ?? '']);
  return html`<li><a class=${classes('place', 'badge', verdict)} href=${link('lab', '', { ...read().query, run: run.id })}
    aria-current=${shown ? 'true' : undefined} aria-label=${text} title=${text}><${Sign} verdict=${verdict} /></a></li>`;
}
