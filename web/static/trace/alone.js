// A trace that plays by itself: share.js puts this, with all that it needs, into a file.
import { html, render, useState } from '../ui.js';
import { Player } from './player.js';

const trace = JSON.parse(document.getElementById('trace')?.textContent ?? '');

function Alone() {
  const [at, setAt] = useState(0);
  return html`<${Player} trace=${trace} at=${at} move=${setAt} />`;
}

render(html`<${Alone} />`, /** @type {HTMLElement} */ (document.getElementById('player')));
