// Settings that most sales leave alone: service processes and the seed.
import { t } from '../text.js';
import { html, useEffect, useState } from '../ui.js';
import { NumberField } from './fields.js';
import { services } from './settings.js';

export function More({ form, wrong, status, set }) {
  const [open, setOpen] = useState(false);
  const isUsed = [...services, 'seed'].some((name) => form[name]);
  const isWrong = [...services, 'seed'].some((name) => wrong[name]);
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
    </details>`;
}
