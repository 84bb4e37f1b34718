import { t } from '../text.js';
import { html } from '../ui.js';

/**
 * The servers of the lab: a result means nothing without them.
 * @param {{status: Json.Status | null}} props
 */
export function Machines({ status }) {
  if (!status) return null;
  const { machines: m } = t;
  return html`
    <section class="panel machines" aria-labelledby="machines-title">
      <h2 id="machines-title">${m.title}</h2>
      <ul>
        ${status.backends.map((b) => html`
          <${Machine} key=${b.name} name=${b.version || b.name} state=${b.ok ? 'up' : b.tier ? 'down' : 'missing'} error=${b.error}>
            ${b.tier && html`${b.name}, <span title=${m.tierHints[b.tier]}>${m.tiers[b.tier] ?? b.tier}</span> `}
            ${b.address.split(',').map((address) => html`<code>${address}</code> `)}
          <//>`)}
        ${status.services.map((s, i) => html`
          <${Machine} key=${s.url} name=${m.service(i + 1)} state=${s.up ? 'up' : 'down'} error=${s.error}><code>${s.url}</code><//>`)}
      </ul>
    </section>`;
}

const badges = { up: 'good', down: 'bad', missing: '' };

/** @param {{name: string, state: 'up' | 'down' | 'missing', error?: string, children?: unknown}} props */
const Machine = ({ name, state, error, children }) => html`
  <li>
    <p><strong>${name}</strong> <span class="badge ${badges[state]}">${t.machines[state]}</span></p>
    <p>${children}</p>
    ${error && html`<p class=${state === 'down' ? 'wrong' : 'hint'}>${t.reason(error)}</p>`}
  </li>`;
