// From a chapter to its slides, its plan and its sheets.
import { link } from '../route.js';
import { html } from '../ui.js';
import { words } from './text.js';

/** @param {{name: string}} props */
export const Ways = ({ name }) => {
  const w = words();
  return html`<p class="teach-ways hint">
    <a href=${link('lessons', name, { present: 1 })}>${w.present}</a> <a href=${link('teach', name)}>${w.plan}</a>
    <a href=${link('teach', name, { sheet: 'questions' })}>${w.sheet}</a> <a href=${link('teach', name, { sheet: 'solutions' })}>${w.solutions}</a></p>`;
};
