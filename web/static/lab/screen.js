// Run: a sale is started, run and judged here. The address may have its settings, and
// may name a run of the history: #/lab?run=ID.
import { news, useLab, whole } from '../lab.js';
import { Awaited, later, useLoaded } from '../loaded.js';
import { link, read, stay } from '../route.js';
import { t } from '../text.js';
import { classes, html, useEffect, useState } from '../ui.js';
import { Steps } from './start.js';

// The first view does without.
const RunForm = later(() => import('./form.js'), 'RunForm', () => t.nav.failed);
const Stage = later(() => import('./stage.js'), 'Stage', () => t.nav.failed);
const History = later(() => import('./history.js'), 'History');

/** @param {{route: import('../route.js').Route}} props */
export function Lab({ route }) {
  const lab = useLab();
  const [edits, setEdits] = useState(/** @type {boolean | null} */ (null)); // null: neither was asked for
  const id = route.query.run ?? '';
  const isOld = id !== '' && id !== lab.newest?.id;
  const asks = lab.connected !== null; // from then on it is known which run is the newest
  const old = useLoaded(() => (isOld && asks ? whole(id) : Promise.resolve(null)), [id, isOld, asks]);
  const run = isOld ? old.value : lab.newest;
  const gone = /** @type {{code?: string} | null} */ (old.error)?.code === 'unknown_run';
  const asked = Object.keys(route.query).some((name) => name !== 'run');
  useEffect(() => { // a run that begins is shown, whatever the address named before
    const toNewest = () => { if (read().query.run) stay('lab', '', { ...read().query, run: '' }); };
    news.addEventListener('begun', toNewest);
    return () => news.removeEventListener('begun', toNewest);
  }, []);
  const guided = !asked && !edits;
  return html`
    <h1 class=${classes(run && 'hidden')}>${t.start.title}</h1>
    ${!run && html`<p class="intro">${t.what}</p>`}
    ${guided ? html`<${Steps} lab=${lab} edit=${() => setEdits(true)} back=${edits === false} />`
    : html`<${RunForm} lab=${lab} query=${route.query} open=${Boolean(edits)} guide=${() => setEdits(false)} />`}
    ${isOld && !run ? html`<div id="stage" class="stage" tabindex="-1">
      <${Awaited} error=${old.error} again=${old.again} said=${gone ? t.history.gone : undefined} />
      ${old.error && html`<p><a href=${link('lab', '', { ...read().query, run: '' })}>${t.history.newest}</a></p>`}</div>`
    : run && html`<${Stage} run=${run} lab=${lab} />`}
    ${lab.runs.length > 0 && html`<${History} lab=${lab} shown=${run} query=${route.query} />`}
    ${lab.status && html`<${Machines} status=${lab.status} />`}`;
}

/**
 * The servers of the lab: a result means nothing without them.
 * @param {{status: Json.Status}} props
 */
const Machines = ({ status: { backends, services } }) => html`
  <details class="panel machines">
    <summary>${t.machines.title} <span class="hint">${[...new Set(backends.filter((b) => b.ok).map((b) => b.version || b.name))].join(t.comma)}</span></summary>
    <ul>
      ${backends.map((b) => html`
        <${Machine} key=${b.name} name=${b.version || b.name} state=${b.ok ? 'up' : b.tier ? 'down' : 'missing'} error=${b.error}>
          ${b.tier && html`${b.name}${t.comma}<span title=${t.machines.tierHints[b.tier]}>${t.machines.tiers[b.tier] ?? b.tier}</span> `}
          ${b.address.split(',').map((address) => html`<code>${address}</code> `)}
        <//>`)}
      ${services.map((s, i) => html`
        <${Machine} key=${s.url} name=${t.machines.service(i + 1)} state=${s.up ? 'up' : 'down'} error=${s.error}><code>${s.url}</code><//>`)}
    </ul>
  </details>`;

const badges = { up: 'good', down: 'bad', missing: '' };

/** @param {{name: string, state: 'up' | 'down' | 'missing', error?: string, children?: unknown}} props */
const Machine = ({ name, state, error, children }) => html`
  <li>
    <p><strong>${name}</strong> <span class="badge ${badges[state]}">${t.machines[state]}</span></p>
    <p>${children}</p>
    ${error && html`<p class=${state === 'down' ? 'wrong' : 'hint'}>${t.reason(error)}</p>`}
  </li>`;
