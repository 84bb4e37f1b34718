// The verdict: a word, a sign, and one sentence.
import { t } from '../text.js';
import { html } from '../ui.js';

const [tick, cross, question] = ['M5 13l5 5L20 6', 'M6 6l12 12M18 6L6 18', 'M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1.1-1.5 2.3M12 18.5v.1'];
/** Of verdicts, and of what the shop says. */
const signs = {
  held: tick, oversold: cross, lost: cross, blocked: 'M9 5v14M15 5v14', not_valid: question, failed: question,
  good: tick, bad: cross, open: 'M12 5v9M12 18.5v.1',
};

/** @param {Json.Run} run @param {Json.Lane} lane @returns {string} a verdict, or the state of a run without one */
export const verdictOf = (run, lane) => lane.result?.verdict
  ?? (lane.error || run.state === 'done' ? 'failed' : run.state);

export const Sign = ({ verdict }) => signs[verdict] && html`
  <svg class="sign" viewBox="0 0 24 24" aria-hidden="true"><path d=${signs[verdict]} /></svg>`;

/** @param {Json.Run} run @param {Json.Lane} lane */
function sentence(run, lane) {
  const { audit } = lane.result ?? {};
  const verdict = verdictOf(run, lane);
  if (!t.verdict[verdict]) return lane.error ?? run.error ?? '';
  return !audit && verdict !== 'not_valid' ? '' : t.verdict[verdict](audit, lane.result);
}

/** @param {{run: Json.Run, lane: Json.Lane}} props */
export function Verdict({ run, lane }) {
  const verdict = verdictOf(run, lane);
  return html`
    <div class="banner ${verdict}" data-verdict=${verdict}>
      <p class="word"><${Sign} verdict=${verdict} />${t.verdicts[verdict]}</p>
      <p>${run.lanes.length === 1 && html`<strong>${lane.strategy}</strong> · `}${sentence(run, lane)}</p>
    </div>`;
}

/** @param {Json.Run} run @param {Json.Lane} lane */
export const announcement = (run, lane) => t.verdict.announcement(lane.strategy, t.verdicts[verdictOf(run, lane)], sentence(run, lane));
