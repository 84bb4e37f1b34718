import { connect, useLab } from './lab.js';
import { History } from './history.js';
import { Machines } from './machines.js';
import { RunForm } from './form.js';
import { Stage } from './stage.js';
import { Strategies } from './strategies.js';
import { t } from './text.js';
import { html, render } from './ui.js';

function App() {
  const lab = useLab();
  const run = lab.chosen ?? lab.newest;
  return html`
    <a class="skip" href="#stage">${t.skip}</a>
    <header class="top">
      <h1><img src="/static/icon.svg" alt="" width="34" height="34" />${t.name}</h1>
      <p>${t.what}</p>
    </header>
    <div role="alert">${lab.connected === false && html`<p class="lost-connection">${t.lostConnection}</p>`}</div>
    <main>
      <div class="lab">
        <${RunForm} lab=${lab} />
        <${Stage} run=${run} lab=${lab} />
        <${Machines} status=${lab.status} />
      </div>
      <${History} lab=${lab} shown=${run} />
      <${Strategies} strategies=${lab.strategies} />
    </main>
    <footer>${t.footer}${lab.status && html` · ${t.version(lab.status.version)}`}</footer>`;
}

render(html`<${App} />`, document.body);
connect();
