// Up to four strategies side by side.
import { isOn } from '../records.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { classes, html, styled } from '../ui.js';
import { LineSample } from './charts.js';
import { Outcomes, Stock } from './lane.js';
import { Answered, Why } from './stage.js';
import { Figures, Lesson, Rules, Verdict } from './verdict.js';

await styled('lab/abreast.css');

/** @param {{run: Json.Run, lab: import('../lab.js').State}} props */
export function Abreast({ run, lab }) {
  return html`
    <div class=${classes('lanes-abreast', `of-${run.lanes.length}`)}>
      ${run.lanes.map((lane, i) => html`
        <article key=${lane.strategy} class="panel lane-card" aria-labelledby=${`lane-${i}`}>
          <header>
            <h3 id=${`lane-${i}`} class="name"><${LineSample} line=${i} />${lane.strategy}</h3>
            ${lane.result || lane.error || !isOn(run) ? html`<${Verdict} run=${run} lane=${lane} />` : html`<${Answered} run=${run} lane=${lane} />`}
          </header>
          <${Stock} stock=${run.settings.stock} lane=${lane} />
          <${Outcomes} lane=${lane} />
          <div>${lane.result && html`
            <${Why} run=${run} lane=${lane} lab=${lab} />
            <${Figures} result=${lane.result} />
            <${Rules} result=${lane.result} open=${run.lanes.length === 2 ? 1 : 0} /><${Lesson} result=${lane.result} />`}</div>
        </article>`)}
    </div>
    <p class="hint">${t.abreast} <a href=${link('compare', '', { strategies: run.settings.strategies.join(',') })}>${t.abreastLink}</a>${t.verdict.stop}</p>`;
}
