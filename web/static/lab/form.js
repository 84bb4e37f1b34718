// The form of a sale. Its settings are kept in the address, so that a link
// restores them; without any, it starts from the last run.
import { Choice } from '../choice.js';
import { Copy } from '../copy.js';
import { start, startWithFault, wantStrategies } from '../lab.js';
import { Wrong } from '../loaded.js';
import { isOn } from '../records.js';
import { link, read, stay } from '../route.js';
import { t } from '../text.js';
import { html, styled, useEffect, useRef, useState } from '../ui.js';
import { NumberField, ProfileField, TokenField, useBlames } from './fields.js';
import { address, another, defaults, findWrong, fromAddress, profiles, request, services } from './settings.js';
import { showStage } from './start.js';

await styled('lab/lab.css');

/** The settings of an address; which run it shows is not one. */
const said = (query) => JSON.stringify({ ...query, run: undefined });

/** @typedef {import('./settings.js').Form} Form */

/**
 * Hook: the form and its setter. It follows the user, the address, and the newest run.
 * @param {Record<string, string>} query @param {Json.Run | null} run @param {() => void} taken
 * @returns {[Form, (next: Form) => void]}
 */
function useForm(query, run, taken) {
  const [form, setForm] = useState(() => fromAddress(query) ?? defaults);
  const own = useRef(said(query)); // the address written by this form
  useEffect(() => {
    const now = read().query; // fast typing is ahead of the drawn address
    if (own.current === said(now)) return;
    own.current = said(now);
    taken();
    setForm(fromAddress(now) ?? (run ? another(run.settings) : defaults));
  }, [said(query)]);
  useEffect(() => {
    if (run && !fromAddress(query)) setForm(another(run.settings));
  }, [run?.id]);
  const change = (/** @type {Form} */ next) => {
    setForm(next);
    const place = /** @type {Parameters<typeof link>} */ (['lab', '', { ...address(next), run: read().query.run }]);
    own.current = said(read(link(...place)).query);
    stay(...place);
  };
  return [form, change];
}

/**
 * guide: back to the guided start.
 * @param {{lab: import('../lab.js').State, query: Record<string, string>, open: boolean, guide: () => void}} props
 */
export function RunForm({ lab, query, open, guide }) {
  const run = lab.newest;
  const { node, wrong, setWrong, refuse, busy, failure, act } = useBlames();
  const [form, change] = useForm(query, run, () => setWrong({}));
  const [shown, setShown] = useState(open);
  useEffect(wantStrategies, []);
  useEffect(() => { if (open) /** @type {HTMLElement | null} */ (node.current?.querySelector('summary'))?.focus(); }, []); // the button that was pressed is gone
  const { limits = {} } = lab.status ?? {};

  const set = (name, value) => {
    change({ ...form, [name]: value });
    // Fields with an error are checked on input, the others on Run.
    const found = findWrong({ ...form, [name]: value }, limits);
    setWrong(Object.fromEntries(Object.keys(wrong).filter((field) => found[field]).map((field) => [field, found[field]])));
  };

  /** @param {Event} e */
  function submit(e) {
    e.preventDefault();
    if (isOn(run)) return;
    act(async () => {
      if (refuse(findWrong(form, limits))) return;
      await (form.fault ? startWithFault(request(form), form.fault) : start(request(form)));
      showStage();
    });
  }

  const names = form.strategies.join(', ');
  return html`
    <form class="panel start" id="sale" ref=${node} novalidate onSubmit=${submit} aria-label=${t.form.title}>
      <p class="buttons"><button type="submit" class="run" aria-disabled=${isOn(run) || busy ? 'true' : undefined}>${t.form.runNamed(names)}</button>
        <a href=${link('lab')} onClick=${guide}>${t.start.guided}</a></p>
      ${form.fault && html`<p class="hint" data-planned=${form.fault}>${t.form.withFault(t.faults.kinds[form.fault] ?? form.fault)} <button type="button" class="link" onClick=${() => set('fault', '')}>${t.form.noFault}</button></p>`}
      <${Wrong} failure=${failure} />
      <details class="settings" open=${shown} onToggle=${(e) => setShown(e.currentTarget.open)}>
        <summary>${t.start.settings} <span class="hint">${!shown && t.form.summary(form, t.about.load(/** @type {any} */ ({ ...form, duration_ns: Number(form.duration) * 1e9 })))}</span></summary>
        <div class="sale">
          <${Choice} strategies=${lab.strategies} chosen=${form.strategies} most=${limits.strategies?.max ?? 4} topology=${lab.status?.topology ?? ''}
            blame=${wrong.strategies} choose=${(strategies) => set('strategies', strategies)} />
          <div>
            <${Numbers} names=${['stock', 'quantity']} form=${form} wrong=${wrong} set=${set} />
            <${ProfileField} value=${form.profile} options=${Object.keys(profiles)} onChange=${(profile) => set('profile', profile)} />
            <${Numbers} names=${profiles[form.profile]} form=${form} wrong=${wrong} set=${set} />
          </div>
          <div>
            <${More} form=${form} wrong=${wrong} status=${lab.status} set=${set} />
            ${lab.status?.token_needed && html`<${TokenField} blame=${wrong.token} />`}
            <p><${Copy} look="link" label=${t.form.copy} text=${`${location.origin}${location.pathname}${link('lab', '', address(form))}`} /></p>
          </div>
        </div>
      </details>
    </form>`;
}

/** now: what holds where nothing is said. */
const Numbers = ({ names, form, wrong, set, now = {} }) => html`
  <div class="numbers">
    ${names.map((name) => html`
      <${NumberField} key=${name} name=${name} label=${t.form[name]} hint=${t.form[`${name}Hint`]} value=${form[name]}
        placeholder=${now[name] && String(now[name])} blame=${wrong[name]} onInput=${(text) => set(name, text)} />`)}
  </div>`;

/** Settings that most sales leave alone: service processes and the seed. */
function More({ form, wrong, status, set }) {
  const [open, setOpen] = useState(false);
  const isUsed = [...services, 'seed'].some((name) => form[name]);
  const isWrong = [...services, 'seed'].some((name) => wrong[name]);
  useEffect(() => { if (isUsed || isWrong) setOpen(true); }, [isUsed, isWrong]); // open if something is set or wrong
  return html`
    <details class="more" open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
      <summary>${t.form.more}</summary>
      <${Numbers} names=${services} form=${form} wrong=${wrong} set=${set} now=${status?.services_settings} />
      <p class="hint">${t.form.timesHint}</p>
      <${NumberField} name="seed" label=${t.form.seed} hint=${t.form.seedHint} value=${form.seed} blame=${wrong.seed} onInput=${(text) => set('seed', text)} />
    </details>`;
}
