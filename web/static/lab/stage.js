// The run that is looked at: what is left, what was sold, what buyers were
// told, and in the end the verdict.
import { Charts } from './charts.js';
import { isOn, start } from '../lab.js';
import { t } from '../text.js';
import { classes, count, html, useState } from '../ui.js';
import { Facts, Findings, Sign, Verdict } from './verdict.js';

export function Stage({ run, lab }) {
  if (!run) {
    return html`<section id="stage" class="panel stage" tabindex="-1"><${Idle} lab=${lab} /></section>`;
  }
  return html`
    <section id="stage" class="stage" tabindex="-1">
      ${isOn(run) ? html`<${Busy} run=${run} />` : html`<${Verdict} run=${run} />`}
      <${Announcer} run=${lab.newest} />
      <div class="panel figures">
        <${Stock} run=${run} />
        <${Outcomes} counts=${run.result?.counts ?? run.progress?.counts ?? {}} />
      </div>
      <${Findings} result=${run.result} />
      <${Charts} key=${run.id} points=${run.points ?? []} progress=${run.progress} />
      <${Facts} result=${run.result} />
    </section>`;
}

function Idle({ lab }) {
  const [failure, setFailure] = useState('');
  const ready = lab.strategies.filter((s) => s.available);
  const settings = { stock: 100, buyers: 2000, concurrency: 64, quantity: 1 };
  const offer = (name, hint) => ready.some((s) => s.name === name) && html`
    <p><button type="button" class="offer" onClick=${() => start({ strategy: name, ...settings }).catch((error) => setFailure(error.message))}>
      ${t.idle.run(name)}</button> <span class="hint">${hint}</span></p>`;
  return html`
    <div class="idle">
      <h2>${t.idle.title}</h2>
      ${ready.length > 0 && html`<p>${t.idle.text}</p>`}
      ${offer('naive', t.idle.breaksHint)}
      ${offer('conditional', t.idle.holdsHint)}
      <div role="alert">${failure && html`<p class="wrong">${failure}</p>`}</div>
      <dl>
        ${['held', 'oversold', 'lost', 'not_valid'].map((v) => html`
          <div key=${v}><dt><span class="badge ${v}"><${Sign} verdict=${v} />${t.verdicts[v]}</span></dt><dd>${t.idle.meaning[v]}</dd></div>`)}
      </dl>
    </div>`;
}

function Busy({ run }) {
  const { strategy, buyers } = run.settings;
  const answered = run.progress?.requests ?? 0;
  const title = run.state === 'stopping' ? t.stoppingRun : run.progress?.settling ? t.auditing : t.running;
  return html`
    <div class="banner busy">
      <p class="word">${title(strategy)}</p>
      <p>${t.answered(answered, buyers)}</p>
      <progress max=${buyers} value=${answered} aria-label=${t.answered(answered, buyers)}></progress>
    </div>`;
}

/** Says starts and verdicts, and nothing in between, to those who listen. */
function Announcer({ run }) {
  let text = '';
  if (isOn(run)) text = t.startedAnnouncement(run.settings.strategy);
  else if (run) text = Verdict.announcement(run);
  return html`<p class="hidden" role="status">${text}</p>`;
}

function Stock({ run }) {
  const { stock } = run.settings;
  const audit = run.result?.audit;
  const left = audit?.remaining ?? run.progress?.left ?? stock;
  const sold = audit?.sold ?? run.progress?.units ?? 0;
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
        <p><span class="number" data-sold=${sold}>${count(sold)}</span> ${t.stock.of(stock)}
          ${over > 0 && html` · <strong class="over">${t.stock.tooMany(over)}</strong>`}</p>
        <svg class="bar" viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label=${t.stock.bar(sold, stock)}>
          <rect class="all" width="1000" height="24" />
          <rect class="good" width=${(1000 * Math.min(sold, stock)) / all} height="24" />
          ${over > 0 && html`<rect class="over" x=${(1000 * stock) / all} width=${(1000 * over) / all} height="24" />
            <rect class="mark" x=${(1000 * stock) / all - 2} width="4" height="24" />`}
        </svg>
      </div>
    </div>`;
}

const always = ['sold', 'sold_out'];

function Outcomes({ counts }) {
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
