// The form of a comparison: strategies, sale, rounds. Its settings are kept in
// the address, so that a link restores them.
import { Refused } from '../api.js';
import { Copy } from '../copy.js';
import { NumberField, TokenField } from '../lab/fields.js';
import { useAction, Wrong } from '../loaded.js';
import { isOn } from '../records.js';
import { link, read, stay } from '../route.js';
import { html, useEffect, useRef, useState } from '../ui.js';
import { Choice } from './choice.js';
import { command, estimate, findWrong, fromQuery, named, numbers, toQuery, toSettings, worded } from './settings.js';
import { end, running, start } from './store.js';
import { words } from './text.js';

/** @typedef {import('./settings.js').Form} Form */
/** @typedef {Extract<import('./store.js').State, {all: Json.Comparison[]}>} Ready */

/** @param {{route: import('../route.js').Route, lab: import('../lab.js').State, comparisons: Ready, opened: (begun: Json.Comparison) => void}} props */
export function CompareForm({ route, lab, comparisons, opened }) {
  const { defaults, limits } = comparisons;
  const [form, setForm] = useState(() => fromQuery(route.query, defaults, lab.strategies));
  const [wrong, setWrong] = useState(/** @type {Record<string, Json.Blame | undefined>} */ ({}));
  const { busy: sending, failure, act } = useAction((error) => {
    const blames = error instanceof Refused ? error.blames : {};
    if (error.code === 'forbidden' && lab.status?.token_needed) blames.token = { code: 'token' };
    return blame(blames) ? '' : error.message;
  });
  const on = running(comparisons.all);
  const busy = on || isOn(lab.newest);
  const w = words();

  // Follows links with settings, and strategies that have just become known, but
  // not the form's own changes to the address.
  const [touched, put] = [useRef(false), useRef('')];
  useEffect(() => {
    const { query } = read(); // the current one: the user may be typing
    if (query.strategies === undefined ? touched.current : JSON.stringify(query) === put.current) return;
    setForm(fromQuery(query, defaults, lab.strategies));
    setWrong({});
  }, [JSON.stringify(route.query), lab.strategies.length]);

  const query = toQuery({ ...form, strategies: named(form, lab.strategies) }, defaults);
  const edit = (/** @type {Partial<Form>} */ change) => {
    const next = { ...form, ...change };
    setForm(next);
    const after = toQuery({ ...next, strategies: named(next, lab.strategies) }, defaults);
    touched.current = true;
    stay('compare', route.part, after);
    put.current = JSON.stringify(read().query);
    const found = findWrong(next, limits, defaults);
    setWrong(Object.fromEntries(Object.keys(wrong).map((name) => [name, found[name]])));
  };

  /** @param {Event} e */
  function submit(e) {
    e.preventDefault();
    if (busy) return;
    act(async () => {
      if (!blame(findWrong(form, limits, defaults))) opened(await start(toSettings(form, lab.strategies)));
    });
  }

  /**
   * Shows what is wrong, and focuses the first such field.
   * @param {Record<string, Json.Blame>} found
   */
  function blame(found) {
    setWrong(found);
    const first = ['strategies', ...numbers, 'crowds', 'seed', 'token'].find((name) => found[name]);
    if (first) document.getElementById(first)?.focus();
    return first;
  }

  return html`
    <form class="panel sale compare-form" novalidate onSubmit=${submit} aria-labelledby="compare-form-title">
      <h2 id="compare-form-title">${w.form}</h2>
      <${Choice} strategies=${lab.strategies} chosen=${form.strategies} blame=${worded(wrong.strategies)}
        choose=${(strategies) => edit({ strategies })} />
      <div class="numbers">
        ${[...numbers, 'crowds', 'seed'].map((name) => html`
          <${NumberField} key=${name} name=${name} label=${w.fields[name][0]} hint=${w.fields[name][1]} value=${form[name]}
            placeholder=${{ seed: w.anySeed, crowds: w.noCrowds }[name]} blame=${worded(wrong[name])} onInput=${(value) => edit({ [name]: value })} />`)}
      </div>
      ${lab.status?.token_needed && html`<${TokenField} blame=${worded(wrong.token)} />`}
      <${Estimate} form=${form} lab=${lab} comparisons=${comparisons} />
      <div class="buttons">
        <button type="submit" class="run" aria-disabled=${busy || sending ? 'true' : undefined}>${w.start}</button>
        ${on && html`
          <button type="button" class="stop" disabled=${on.state === 'stopping'}
            onClick=${() => act(() => end(on))}>${on.state === 'stopping' ? w.stopping : w.stop}</button>`}
      </div>
      ${!on && busy && html`<p class="hint">${w.busy}</p>`}
      <${Wrong} failure=${failure} />
      <div class="same">
        <p class="hint">${w.sameCommand}</p>
        <pre tabindex="0" class="command"><code>${command(form, lab.strategies)}</code></pre>
        <p class="buttons"><${Copy} text=${command(form, lab.strategies)} label=${w.copyCommand} />
          <${Copy} text=${location.origin + location.pathname + link('compare', '', query)} label=${w.copyLink} /></p>
      </div>
    </form>`;
}

/** @param {{form: Form, lab: import('../lab.js').State, comparisons: Ready}} props */
function Estimate({ form, lab, comparisons }) {
  const w = words();
  const sound = !Object.keys(findWrong(form, comparisons.limits, comparisons.defaults)).length;
  if (!sound) return null;
  const { from, to, measured } = estimate(form, lab.strategies, comparisons.all);
  return html`<p class="estimate">${measured ? w.estimate.measured(from) : w.estimate.guessed(from, to)}</p>`;
}

