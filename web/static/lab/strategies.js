import { call } from '../api.js';
import { t } from '../text.js';
import { html, useEffect, useState } from '../ui.js';

export function Strategies({ strategies }) {
  const [open, setOpen] = useState('');
  const toggle = (name) => setOpen(open === name ? '' : name);
  return html`
    <section class="panel" aria-labelledby="strategies-title">
      <h2 id="strategies-title">${t.strategies.title}</h2>
      <p class="hint">${strategies.length ? t.strategies.hint : t.strategies.none}</p>
      <ul class="strategies">
        ${strategies.map((s) => html`<${Strategy} key=${s.name} s=${s} open=${open === s.name} toggle=${() => toggle(s.name)} />`)}
      </ul>
    </section>`;
}

function Strategy({ s, open, toggle }) {
  return html`
    <li>
      <div class="head">
        <h3><button type="button" class="link" aria-expanded=${String(open)} onClick=${toggle}>${s.name}</button></h3>
        <p class="title">${s.title}</p>
        <p class="badges">
          ${s.broken && html`<span class="badge bad">${t.form.broken}</span>`}
          <span class=${`badge ${s.available ? 'good' : 'none-here'}`}>${s.available ? t.strategies.available : t.form.unavailable}</span>
        </p>
      </div>
      <dl>
        <div><dt>${t.strategies.promises}</dt><dd>${s.promises}</dd></div>
        <div><dt>${t.strategies.breaks}</dt><dd>${s.breaks}</dd></div>
        <div><dt>${t.strategies.needs}</dt><dd>${(s.needs ?? []).join(', ')}</dd></div>
      </dl>
      ${!s.available && html`<p class="missing">${s.missing.join('; ')}</p>`}
      ${open && html`<${Source} name=${s.name} />`}
    </li>`;
}

function Source({ name }) {
  const [files, setFiles] = useState(null);
  const [failure, setFailure] = useState('');
  useEffect(() => {
    call('GET', `/api/v1/strategies/${name}`).then((s) => setFiles(s.files), (error) => setFailure(error.message));
  }, [name]);
  if (failure) return html`<p class="wrong" role="alert">${failure}</p>`;
  if (!files) return html`<p class="hint">${t.strategies.loading}</p>`;
  return files.map((f) => html`
    <figure key=${f.name} class="source">
      <figcaption><code>${f.name}</code></figcaption>
      <pre tabindex="0">${f.content}</pre>
    </figure>`);
}
