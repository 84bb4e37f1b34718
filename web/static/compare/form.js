// The form of a comparison: a preset, strategies, the sale; the rest is advanced.
// Its settings are kept in the address, so that a link restores them.
import { Choice } from '../choice.js';
import { Copy } from '../copy.js';
import { NumberField, TokenField, useBlames } from '../lab/fields.js';
import { Wrong } from '../loaded.js';
import { isOn } from '../records.js';
import { link, read, stay } from '../route.js';
import { t } from '../text.js';
import { html, useEffect, useRef, useState } from '../ui.js';
import { findWrong, fromQuery, named, numbers, presetOf, toForm, toQuery, toRequest } from './settings.js';
import { running, start, stop } from './store.js';
import { words } from './text.js';

/** @typedef {import('./settings.js').Form} Form */
/** @typedef {Extract<import('./store.js').State, {all: Json.Comparison[]}>} Ready */

const fields = /** @type {const} */ ([...numbers, 'crowds', 'seed']);

/** @param {{route: import('../route.js').Route, lab: import('../lab.js').State, comparisons: Ready, opened: (begun: Json.Comparison) => void}} props */
export function CompareForm({ route, lab, comparisons, opened }) {
  const { presets, ranges } = comparisons;
  const [form, setForm] = useState(() => fromQuery(route.query, presets, lab.strategies));
  const { node, wrong, setWrong, refuse, busy: sending, failure, act } = useBlames();
  const on = running(comparisons.all);
  const busy = on || isOn(lab.newest);
  const w = words();

  // Follows links with settings, and strategies that have just become known, but
  // not the form's own changes to the address.
  const [touched, put] = [useRef(false), useRef('')];
  useEffect(() => {
    const { query } = read(); // the current one: the user may be typing
    if (query.strategies === undefined && query.preset === undefined ? touched.current : JSON.stringify(query) === put.current) return;
    setForm(fromQuery(query, presets, lab.strategies));
    setWrong({});
  }, [JSON.stringify(route.query), lab.strategies.length]);

  const queryOf = (/** @type {Form} */ f) => toQuery({ ...f, strategies: named(f, lab.strategies) }, presets);
  const edit = (/** @type {Partial<Form>} */ change) => {
    const next = { ...form, ...change };
    setForm(next);
    touched.current = true;
    stay('compare', route.part, queryOf(next));
    put.current = JSON.stringify(read().query);
    const found = findWrong(next, ranges);
    setWrong(Object.fromEntries(Object.keys(wrong).filter((name) => found[name]).map((name) => [name, found[name]])));
  };
  const choosePreset = (/** @type {string} */ name) => {
    const usual = toForm(presetOf(presets, name));
    const here = lab.strategies.filter((s) => s.available).map((s) => s.name);
    edit({ ...usual, strategies: usual.strategies.filter((s) => here.includes(s)) });
  };

  /** @param {Event} e */
  function submit(e) {
    e.preventDefault();
    if (busy) return;
    act(async () => {
      if (!refuse(findWrong(form, ranges))) opened(await start(form.preset, toRequest(form, lab.strategies, presets)));
    });
  }

  const field = (/** @type {typeof fields[number]} */ name) => html`
    <${NumberField} key=${name} name=${name} label=${w.fields[name]?.[0] ?? t.form[name]} hint=${w.fields[name]?.[1] ?? t.form[`${name}Hint`]} value=${form[name]}
      placeholder=${{ seed: w.anySeed, crowds: w.noCrowds }[name]} blame=${wrong[name]} onInput=${(value) => edit({ [name]: value })} />`;
  return html`
    <form class="panel sale compare-form" ref=${node} novalidate onSubmit=${submit} aria-labelledby="compare-form-title">
      <h2 id="compare-form-title">${w.form}</h2>
      <fieldset class="sales"><legend class="hidden">${w.preset}</legend>
        ${presets.map((p) => html`
          <label key=${p.name} class=${form.preset === p.name ? 'chosen' : ''}><input type="radio" name="preset" value=${p.name} checked=${form.preset === p.name} onChange=${() => choosePreset(p.name)} />
            <span><b>${w.presets[p.name]?.[0] ?? p.name}</b> <small>${w.presets[p.name]?.[1] ?? p.says}</small></span></label>`)}
      </fieldset>
      <p class="takes-part">${form.strategies.slice(0, 6).map((name) => html`<code key=${name}>${name}</code> `)}${form.strategies.length > 6 && '…'}</p>
      ${lab.status?.token_needed && html`<${TokenField} blame=${wrong.token} />`}
      <div class="buttons">
        <button type="submit" class="run" aria-disabled=${busy || sending ? 'true' : undefined}>${w.start}</button>
        ${on && html`
          <button type="button" class="stop" disabled=${on.state === 'stopping'}
            onClick=${() => act(() => stop(on))}>${on.state === 'stopping' ? t.form.stopping : t.form.stop}</button>`}
      </div>
      ${!on && busy && html`<p class="hint">${w.busy}</p>`}
      <${Wrong} failure=${failure} />
      <details class="advanced"><summary>${w.advanced}</summary>
        <${Choice} strategies=${lab.strategies} chosen=${form.strategies} topology=${lab.status?.topology ?? ''} blame=${wrong.strategies}
          choose=${(strategies) => edit({ strategies })} />
        <div class="numbers">${fields.map(field)}</div>
        <p><label><input type="checkbox" name="keys" checked=${form.keys} onChange=${() => edit({ keys: form.keys ? '' : 'on' })} /> ${w.keys}</label></p>
        <p class="buttons"><${Copy} text=${location.origin + location.pathname + link('compare', '', queryOf(form))} label=${w.copyLink} /></p>
      </details>
    </form>`;
}
