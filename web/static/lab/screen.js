// The lab: a sale is set up, run and judged here. The address may name a run of
// the history: #/lab?run=ID.
import { news, useLab, whole } from '../lab.js';
import { Failed, later, useLoaded } from '../loaded.js';
import { link, read, stay } from '../route.js';
import { t } from '../text.js';
import { html, useEffect } from '../ui.js';
import { RunForm } from './form.js';
import { Machines } from './machines.js';
import { Stage, showStage } from './stage.js';

// Below the first view.
const History = later(() => import('./history.js'), 'History');

/** @param {{route: import('../route.js').Route}} props */
export function Lab({ route }) {
  const lab = useLab();
  const id = route.query.run ?? '';
  const isOld = id !== '' && id !== lab.newest?.id;
  const old = useLoaded(() => (isOld && lab.connected ? whole(id) : Promise.resolve(null)), [id, isOld, lab.connected]);
  const run = isOld ? old.value : lab.newest;
  useEffect(() => { if (id && run) showStage(); }, [id, !run]);
  useEffect(() => {
    news.addEventListener('begun', toNewest);
    return () => news.removeEventListener('begun', toNewest);
  }, []);
  return html`
    <p class="intro">${t.what}</p>
    <h1 class="hidden">${t.nav.lab}</h1>
    <div class="lab">
      <${RunForm} lab=${lab} query=${route.query} />
      ${isOld && !run ? html`<div id="stage" class="stage" tabindex="-1"><${Awaited} ...${old} /></div>` : html`<${Stage} run=${run} lab=${lab} />`}
      <${Machines} status=${lab.status} />
    </div>
    <${History} lab=${lab} shown=${run} query=${route.query} />`;
}

/**
 * A run that begins is shown, whatever the address named before; but not each of a
 * series, in which people look around meanwhile.
 * @param {Event} e
 */
const toNewest = (e) => {
  if (e instanceof CustomEvent && e.detail.series?.number > 1) return;
  const { screen, query } = read();
  if (screen === 'lab' && query.run) stay('lab', '', { ...query, run: '' });
};

/** @param {{error: (Error & {code?: string}) | null, again: () => void}} props */
const Awaited = ({ error, again }) => (error ? html`
  <${Failed} error=${error} again=${again} said=${error.code === 'unknown_run' ? t.history.gone : undefined} />
  <p><a href=${link('lab', '', { ...read().query, run: '' })}>${t.history.newest}</a></p>`
  : html`<p class="hint">${t.nav.loading}</p>`);
