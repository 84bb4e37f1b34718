// Fields of the form: label, input, and what is wrong with it.
import { keepToken } from '../api.js';
import { say } from '../blame.js';
import { t } from '../text.js';
import { classes, html } from '../ui.js';

const Wrong = ({ id, blame }) => html`<p id=${id} class=${classes('wrong', !blame && 'none')}>${say(blame)}</p>`;

/** A number field. name is the lab's name of the field, and the id. */
export function NumberField({ name, label, hint, value, placeholder, blame, onInput }) {
  return html`
    <div class="field">
      <label for=${name}>${label}</label>
      <input id=${name} name=${name} value=${value} placeholder=${placeholder} onInput=${(e) => onInput(e.currentTarget.value)}
        inputmode="numeric" autocomplete="off" aria-invalid=${blame ? 'true' : undefined}
        aria-describedby=${classes(hint && `${name}-hint`, `${name}-wrong`)} />
      ${hint && html`<p id=${`${name}-hint`} class="hint">${hint}</p>`}
      <${Wrong} id=${`${name}-wrong`} blame=${blame} />
    </div>`;
}

export function Choice({ name, label, value, options, blame, onChange, hint = '' }) {
  return html`
    <div class="field">
      <label for=${name}>${label}</label>
      <select id=${name} onChange=${(e) => onChange(e.currentTarget.value)} aria-invalid=${blame ? 'true' : undefined}
        aria-describedby=${classes(hint && `${name}-hint`, `${name}-wrong`)}>
        ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}
      </select>
      ${hint && html`<p id=${`${name}-hint`} class="hint">${hint}</p>`}
      <${Wrong} id=${`${name}-wrong`} blame=${blame} />
    </div>`;
}

export function TokenField({ blame }) {
  return html`
    <div class="field">
      <label for="token">${t.form.token}</label>
      <input id="token" type="password" autocomplete="off"
        aria-invalid=${blame ? 'true' : undefined} aria-describedby="token-hint token-wrong"
        onInput=${(e) => keepToken(e.currentTarget.value)} />
      <p id="token-hint" class="hint">${t.form.tokenHint}</p>
      <${Wrong} id="token-wrong" blame=${blame} />
    </div>`;
}

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
