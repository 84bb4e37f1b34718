// Settings that most sales leave alone: service processes, seed, and planned
// faults.
import { say } from '../blame.js';
import { t } from '../text.js';
import { classes, html, useEffect, useState } from '../ui.js';
import { ChoiceField, NumberField } from './fields.js';
import { besides, faultOf, here, ofFault, services, whose } from './settings.js';

const concerns = (field) => services.includes(field) || field === 'seed' || field.startsWith('faults');

export function More({ form, wrong, status, limits, all, set }) {
  const [open, setOpen] = useState(false);
  const isUsed = services.some((name) => form[name]) || form.seed !== '' || form.faults.length > 0;
  const isWrong = Object.keys(wrong).some(concerns);
  useEffect(() => { if (isUsed || isWrong) setOpen(true); }, [isUsed, isWrong]); // open if something is set or wrong
  const now = status?.services_settings;
  return html`
    <details class="more" open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
      <summary>${t.form.more}</summary>
      <div class="numbers">
        ${services.map((name) => html`
          <${NumberField} key=${name} name=${name} label=${t.form[name]} value=${form[name]} placeholder=${now && String(now[name])}
            blame=${wrong[name]} onInput=${(text) => set(name, text)} />`)}
      </div>
      <p class="hint">${t.form.servicesHint}</p>
      <${NumberField} name="seed" label=${t.form.seed} hint=${t.form.seedHint} value=${form.seed} blame=${wrong.seed} onInput=${(text) => set('seed', text)} />
      <${Planned} faults=${form.faults} wrong=${wrong} status=${status} most=${limits.faults?.max ?? 0}
        strategies=${form.strategies} all=${all} set=${(faults) => set('faults', faults)} />
    </details>`;
}

function Planned({ faults, wrong, status, most, strategies, all, set }) {
  const kinds = here(status?.faults);
  const f = t.faults;
  const usual = { service: '1', for_ms: f.pastLease };
  const change = (i, name, text) => set(faults.map((fault, j) => (i === j ? { ...fault, [name]: text } : fault)));
  const add = () => set([...faults, { kind: kinds.find((k) => k.available)?.kind ?? 'pause_service', service: '1', at_ms: '300', for_ms: '', strategy: '' }]);
  return html`
    <fieldset class="planned">
      <legend>${f.planned}</legend>
      ${faults.map((fault, i) => {
    const at = (name) => `faults[${i}].${name}`;
    const number = (name, placeholder) => html`
      <${NumberField} key=${name} name=${at(name)} label=${f[name]} placeholder=${placeholder} value=${fault[name]}
        blame=${wrong[at(name)]} onInput=${(text) => change(i, name, text)} />`;
    const kind = faultOf(kinds, fault.kind);
    const holder = whose(kind, fault.strategy, strategies);
    const backend = besides(kind, strategies, all);
    return html`
      <div key=${i} class="fault-row">
        <${ChoiceField} name=${at('kind')} label=${f.number(i + 1)} value=${fault.kind} blame=${wrong[at('kind')]} onChange=${(kind) => change(i, 'kind', kind)}
          options=${[...new Set([...kinds.map((k) => k.kind), fault.kind])].map((kind) => [kind, f.kinds[kind] ?? kind])} />
        ${holder && html`
          <${ChoiceField} name=${at('strategy')} label=${f.strategy} value=${holder} blame=${wrong[at('strategy')]}
            onChange=${(strategy) => change(i, 'strategy', strategy)} options=${strategies.map((name) => [name, name])} />`}
        <div class="numbers">
          ${ofFault(kind).map((name) => number(name, usual[name]))}
        </div>
        ${backend && html`<p class="hint besides">${f.besides(backend)}</p>`}
        <button type="button" class="link" onClick=${() => set(faults.filter((_, j) => j !== i))}>${f.remove(i + 1)}</button>
      </div>`;
  })}
      <p class=${classes('wrong', !wrong.faults && 'none')}>${say(wrong.faults)}</p>
      ${faults.length < most && html`<button type="button" class="offer small" onClick=${add}>${f.add}</button>`}
    </fieldset>`;
}
