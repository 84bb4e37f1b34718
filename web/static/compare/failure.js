// What could not be fetched, with a button that tries again. What failed because
// the lab was away is fetched anew as soon as it is back.
import { t } from '../text.js';
import { html } from '../ui.js';

/** @param {{why: string, again: () => void}} props */
export const Failure = ({ why, again }) => html`
  <div class="failure" role="alert"><p class="wrong">${why}</p>
    <p><button type="button" class="offer small" onClick=${again}>${t.nav.again}</button></p></div>`;
