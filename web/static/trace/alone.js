// A trace that plays by itself: share.js puts this, with all that it needs, into a file.
import { html, render, useState } from '../ui.js';
import { Player } from './player.js';

const trace = JSON.parse(document.getElementById('trace')?.textContent ?? '');

function Alone() {
  const [at, setAt] = useState(0);
  const [view, setView] = useState(/** @type {'' | 'diagram'} */ (''));
  return html`<${Player} trace=${trace} at=${at} view=${view} move=${setAt} look=${setView} />`;
}

render(html`<${Alone} />`, /** @type {HTMLElement} */ (document.getElementById('player')));
