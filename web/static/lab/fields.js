// Fields of the form: label, input, and what is wrong with it.
import { keepToken, Refused } from '../api.js';
import { say } from '../blame.js';
import { useLab } from '../lab.js';
import { useAction } from '../loaded.js';
import { t } from '../text.js';
import { classes, html, useRef, useState } from '../ui.js';

/**
 * Hook: what is wrong with a form, by field. refuse says it, and leads to the first of its
 * fields; act sends the form, and takes over what the lab finds wrong.
 */
export function useBlames() {
  const { status } = useLab();
  const node = useRef(/** @type {HTMLElement | null} */ (null)); // the form
  const [wrong, setWrong] = useState(/** @type {Record<string, Json.Blame>} */ ({}));
  const refuse = (/** @type {Record<string, Json.Blame>} */ blames) => {
    setWrong(blames);
    const any = Object.keys(blames).length > 0;
    if (any) requestAnimationFrame(() => {
      const first = /** @type {HTMLElement | null} */ (node.current?.querySelector('[aria-invalid]'));
      for (let folded = first?.closest('details'); folded; folded = folded.parentElement?.closest('details')) folded.open = true;
      first?.focus();
    });
    return any;
  };
  const action = useAction(async (error) => {
    const blames = error instanceof Refused ? error.blames : {};
    if (error.code === 'forbidden' && status?.token_needed) blames.token = { code: 'token', detail: t.wrong.token };
    for (const { params } of Object.values(blames)) if (params?.lack) (await import('./effect.js')).explain(params);
    const shown = (/** @type {string} */ field) => node.current?.querySelector(`[id="${field}"]`); // the form has no field for a fault
    const others = Object.keys(blames).filter((field) => !shown(field)).map((field) => say(blames[field]));
    return refuse(blames) ? others.join(' ') : error.message;
  });
  return { node, wrong, setWrong, refuse, ...action };
}

/**
 * A field: its label, what is typed or chosen, a hint, and what is wrong. name is the lab's
 * name of the field, and the id.
 */
function Field({ name, label, hint, blame, control }) {
  return html`
    <div class="field">
      <label for=${name}>${label}</label>
      ${control({ id: name, 'aria-invalid': blame ? 'true' : undefined, 'aria-describedby': classes(hint && `${name}-hint`, `${name}-wrong`) })}
      ${hint && html`<p id=${`${name}-hint`} class="hint">${hint}</p>`}
      <p id=${`${name}-wrong`} class=${classes('wrong', !blame && 'none')}>${say(blame)}</p>
    </div>`;
}

export const NumberField = ({ name, value, placeholder, onInput, ...field }) => html`
  <${Field} name=${name} ...${field} control=${(own) => html`
    <input ...${own} name=${name} value=${value} placeholder=${placeholder} onInput=${(e) => onInput(e.currentTarget.value)} inputmode="numeric" autocomplete="off" />`} />`;

export const TokenField = ({ blame }) => html`
  <${Field} name="token" label=${t.form.token} hint=${t.form.tokenHint} blame=${blame} control=${(own) => html`
    <input ...${own} type="password" autocomplete="off" onInput=${(e) => keepToken(e.currentTarget.value)} />`} />`;

/** The pacing: when buyers arrive. */
export function ProfileField({ value, options, onChange }) {
  const p = t.form.profiles;
  return html`
    <fieldset class="field profile" aria-describedby="profile-hint">
      <legend>${t.form.profile}</legend>
      <div class="segments">${options.map((name) => html`
        <label key=${name}><input type="radio" name="profile" value=${name} checked=${name === value} onChange=${() => onChange(name)} />
          <span>${p[name].name}</span></label>`)}</div>
      <p id="profile-hint" class="hint">${p[value].hint}</p>
    </fieldset>`;
}
