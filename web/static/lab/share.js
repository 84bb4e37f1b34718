// A finished run as one file: the page as it is drawn, in the reader's language. It
// needs no network.
import { pageOf, save } from '../file.js';
import { t } from '../text.js';
import { html, render } from '../ui.js';
import { words } from './text.js';
import { verdictOf } from './verdict.js';

const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/** @param {Json.Run} run */
export function share(run) {
  const started = run.started.slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  save(page(run), 'text/html', `seckill-run-${run.settings.strategies.join('-')}-${started}.html`);
}

/** @param {Json.Run} run */
function page(run) {
  const foot = document.createElement('section');
  render(html`<${Foot} run=${run} />`, foot);
  const head = `<meta http-equiv="Content-Security-Policy" content="${policy}"><style>pre { max-height: none; white-space: pre-wrap; }</style>`;
  return pageOf(title(run), head, drawn().outerHTML + foot.outerHTML);
}

/** @param {Json.Run} run */
const title = (run) => `${run.lanes.map((lane) => `${lane.strategy}: ${t.verdicts[verdictOf(run, lane)]}`).join(' · ')} · ${new Date(run.started).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The result as it is drawn, without what only works in the lab. */
function drawn() {
  const stage = /** @type {HTMLElement} */ (document.getElementById('stage'));
  const copy = /** @type {HTMLElement} */ (stage.cloneNode(true));
  const canvases = stage.querySelectorAll('canvas');
  copy.querySelectorAll('canvas').forEach((canvas, i) => {
    const image = document.createElement('img');
    image.src = canvases[i].toDataURL();
    image.alt = '';
    image.width = canvases[i].clientWidth;
    image.height = canvases[i].clientHeight;
    canvas.replaceWith(image);
  });
  copy.querySelectorAll('button, select, [role="alert"], [role="status"], .links, a.offer, .lesson a, .chips + .hint').forEach((node) => node.remove());
  copy.querySelectorAll('a').forEach((a) => {
    const text = document.createElement('span');
    text.className = a.className;
    text.append(...a.childNodes);
    a.replaceWith(text);
  });
  copy.querySelectorAll('details').forEach((details) => { details.open = true; });
  copy.removeAttribute('id');
  copy.removeAttribute('tabindex');
  return copy;
}

/** @param {{run: Json.Run}} props */
function Foot({ run }) {
  const w = words().share;
  const { machine } = run;
  const commands = run.lanes.flatMap(({ command }) => command ?? []); // none of a run that joined the shop's sale
  return html`
    ${commands.length > 0 && html`<h2>${w.again}</h2><pre><code>${commands.join('\n')}</code></pre>`}
    <p>${t.about.services(run.settings)}${run.faults.length > 0 && html` · ${w.withoutFaults}`}</p>
    <h2>${w.ranOn}</h2>
    <p>seckill ${run.version}${machine && html` · ${w.machine(machine.cpus)} · ${machine.os}/${machine.arch} · ${machine.go}`}</p>`;
}
