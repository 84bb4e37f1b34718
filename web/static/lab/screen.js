// The lab: a sale is set up, run and judged here.
import { useLab } from '../lab.js';
import { t } from '../text.js';
import { html } from '../ui.js';
import { RunForm } from './form.js';
import { History } from './history.js';
import { Machines } from './machines.js';
import { Stage } from './stage.js';

/** @param {{route: import('../route.js').Route}} props */
export function Lab({ route }) {
  const lab = useLab();
  const run = lab.chosen ?? lab.newest;
  return html`
    <p class="intro">${t.what}</p>
    <h1 class="hidden">${t.nav.lab}</h1>
    <div class="lab">
      <${RunForm} lab=${lab} query=${route.query} />
      <${Stage} run=${run} lab=${lab} />
      <${Machines} status=${lab.status} />
    </div>
    <${History} lab=${lab} shown=${run} />`;
}
