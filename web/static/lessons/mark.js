// The answer of one cell of the matrix, as a mark that leads to what breaks it.
import { exampleOf } from '../guarantees/matrix.js';
import { kinds, markOf, signs } from '../guarantees/marks.js';
import { say } from '../guarantees/say.js';
import { link } from '../route.js';
import { t } from '../text.js';
import { html } from '../ui.js';

/** @param {{cell: Json.Cell}} props */
export function Mark({ cell }) {
  const mark = markOf(cell);
  const look = { class: `mark ${kinds[mark]}`, 'aria-label': t.guarantees.says(cell) };
  return exampleOf(cell) ? html`<a ...${look} href=${link('trace', exampleOf(cell))}>${signs[mark]}</a>`
    : html`<span ...${look} role="img" title=${say(cell.text ?? '')}>${signs[mark]}</span>`;
}
