// The two questions of a verdict: is the ledger right, and were buyers served?
import { classes, html } from '../ui.js';
import { words } from './effect.js';
import { Sign } from './verdict.js';

const looks = /** @type {Record<string, string>} */ ({ yes: 'held', no: 'oversold', not_known: 'not_valid' });

/** @param {{signs?: Json.Signs}} props */
export function TwoSigns({ signs }) {
  if (!signs?.right || !signs.served) return null;
  const w = words().signs;
  const missed = (signs.short ?? []).map(({ code, params }) => w.short[code]?.(params, signs.limits) ?? code);
  return html`
    <div class="two-signs">
      <${One} kind="right" sign=${signs.right} text=${w.why.right[signs.right]} />
      <${One} kind="served" sign=${signs.served} text=${missed.length ? missed.join(words().effects.semicolon) : w.why.served[signs.served]} />
      <details class="hint"><summary>${w.means}</summary><p>${w.right}</p><p>${w.served(signs.limits)}</p></details>
    </div>`;
}

/** @param {{kind: 'right' | 'served', sign: Json.YesOrNo, text: string}} props */
const One = ({ kind, sign, text }) => html`
  <p class="panel one-sign" data-sign=${kind} data-answer=${sign}>
    <span class=${classes('badge', looks[sign])}><${Sign} verdict=${looks[sign]} />${words().signs.says[kind][sign]}</span> <span>${text}</span></p>`;
