// What a screen fetches from the lab; when that fails, again.
import { Refused } from './api.js';
import { news } from './lab.js';
import { t } from './text.js';
import { html, useEffect, useState } from './ui.js';

/** @typedef {{error: Error | null, again: () => void}} Failure */

/**
 * Hook: what ask() brings, and why it does not. It asks again by itself when
 * the lab is back.
 * @template T
 * @param {() => Promise<T>} ask
 * @returns {Failure & {value: T | null}}
 */
export function useFetched(ask) {
  const [value, setValue] = useState(/** @type {T | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const again = () => { ask().then((v) => { setValue(v); setError(null); }, setError); };
  useEffect(again, []);
  useEffect(() => {
    if (!error) return undefined;
    news.addEventListener('connected', again);
    return () => news.removeEventListener('connected', again);
  }, [error]);
  return { value, error, again };
}

/** @param {{title: string} & Failure} props */
export const NotFetched = ({ title, error, again }) => html`
  <section class="panel" role="alert"><h1>${title}</h1>
    <p class="wrong">${error instanceof Refused ? error.message : t.nav.failed}</p>
    <p><button type="button" class="offer" onClick=${again}>${t.nav.again}</button></p></section>`;
