// Faults of a run: buttons to inject them, and a list of what happened. The
// signs are those of the charts.
import { Refused } from '../api.js';
import { say } from '../blame.js';
import { inject, wantStrategies } from '../lab.js';
import { useAction, Wrong } from '../loaded.js';
import { t } from '../text.js';
import { html, useEffect, useState } from '../ui.js';
import { Effect, explain, happened } from './effect.js';
import { words } from './text.js';

/** The families whose strategies hold a lock that outlives a transaction. */
const locking = ['local', 'mysqllock', 'redislock', 'zklock', 'etcdlock'];

/**
 * Whether a fault can matter: a strategy uses its backend, or has the lock that it is about.
 * @param {Json.FaultKind} fault @param {string[]} chosen @param {Json.Strategy[]} all
 */
const matters = (fault, chosen, all) => {
  const known = all.filter(({ name }) => chosen.includes(name));
  return !known.length || known.some(({ needs, family }) => (!fault.uses || needs.includes(fault.uses)) && (!fault.holder || !family || locking.includes(family)));
};

const soon = 1; // seconds: who is served sooner has no use for a fault

/**
 * Faults to inject, into runs that last long enough to feel them, and what happened.
 * @param {{run: Json.Run, status: Json.Status | null, strategies: Json.Strategy[]}} props
 */
export function Faults({ run, status, strategies }) {
  const [offered, setOffered] = useState(false);
  useEffect(wantStrategies, []);
  const [{ progress, points }] = run.lanes;
  const long = (points?.at(-1)?.at ?? 0) >= soon && (progress?.requests ?? 0) < (progress?.buyers ?? 0) / 2;
  useEffect(() => { if (long) setOffered(true); }, [long]); // and then for good: nothing goes from under a pointer
  if (!offered && !run.faults.length) return null;
  return html`
    <div class="panel faults">
      <h3>${t.faults.title}</h3>
      ${offered && html`<${ByHand} run=${run} status=${status} strategies=${strategies} />`}
      <${Happened} faults=${run.faults} several=${run.lanes.length > 1} />
    </div>`;
}

/** @param {{run: Json.Run, status: Json.Status | null, strategies: Json.Strategy[]}} props */
function ByHand({ run, status, strategies }) {
  const [service, setService] = useState(1);
  const [strategy, setStrategy] = useState('');
  const { failure, act } = useAction((error) => {
    const blamed = error instanceof Refused && Object.values(error.blames)[0];
    if (blamed && blamed.params?.lack) explain(blamed.params);
    return (blamed && say(blamed)) || t.blamed[error.code]?.({}) || error.message;
  });
  const f = t.faults;
  const make = (/** @type {Json.FaultKind} */ fault) => act(() => {
    const holder = fault.holder && run.settings.strategies.length > 1 && (strategy || run.settings.strategies[0]);
    return inject(run, { kind: fault.kind, ...(fault.service && { service }), ...(holder && { strategy: holder }) });
  });
  const all = (status?.faults ?? []).filter((fault) => fault.lack?.code !== 'no_link' && matters(fault, run.settings.strategies, strategies)); // not those of chaos alone
  const [here, missing] = [all.filter((fault) => fault.available), all.filter((fault) => !fault.available)];
  return html`
    <div class="by-hand">
      ${run.settings.services > 1 && html`
        <label>${f.service} <select class="quiet" id="victim" onChange=${(e) => setService(Number(e.currentTarget.value))}>
          ${Array.from({ length: run.settings.services }, (_, i) => html`<option key=${i} value=${i + 1} selected=${i + 1 === service}>${i + 1}</option>`)}
        </select></label>`}
      ${run.settings.strategies.length > 1 && html`
        <label>${f.strategy} <select class="quiet" id="whose" onChange=${(e) => setStrategy(e.currentTarget.value)}>
          ${run.settings.strategies.map((name, i) => html`<option key=${name} value=${name} selected=${strategy ? name === strategy : i === 0}>${name}</option>`)}
        </select></label>`}
      ${here.map((fault) => html`
        <button key=${fault.kind} type="button" class="offer small" data-fault=${fault.kind}
          title=${words().faults.hints[fault.kind]}
          onClick=${() => make(fault)}>${f.kinds[fault.kind] ?? fault.kind}</button>`)}
    </div>
    ${missing.length > 0 && html`<details class="hint"><summary>${words().faults.elsewhere(missing.length)}</summary>
      <ul>${missing.map((fault) => html`<li key=${fault.kind} data-missing=${fault.kind}>${f.kinds[fault.kind] ?? fault.kind}${t.colon}${words().lack(fault.missing, fault.lack)}</li>`)}</ul></details>`}
    <${Wrong} failure=${failure} />`;
}

/** @param {{faults: Json.Fault[], several: boolean}} props */
export const Happened = ({ faults, several }) => (faults.length === 0 ? html`<p class="hint">${words().faults.none}</p>` : html`
  <div role="log" aria-label=${t.faults.happened}><ol class="happened">
    ${faults.map((fault, i) => html`
      <li key=${i} class=${fault.state}>
        <span class="fault-sign" aria-hidden="true">${i + 1}</span>
        <span><strong>${happened(fault)}</strong>${several && fault.strategy && ` · ${fault.strategy}`} · ${words().faults.when(fault)}
          ${fault.error && html` <span class="wrong">${fault.error}</span>`}
          ${fault.effect && html`<${Effect} effect=${fault.effect} on=${fault.state === 'on'} />`}</span>
      </li>`)}
  </ol></div>`);
