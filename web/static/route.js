// The route: #/screen/part?key=value. A hash needs no support from the server,
// survives a reload, and can be sent as a link.
import { keep } from './records.js';

/** @typedef {{screen: string, part: string, query: Record<string, string>}} Route */

/** @returns {Route} */
export function read(hash = location.hash) {
  const [path, query] = hash.replace(/^#\/?/, '').split('?');
  const [screen = '', ...rest] = path.split('/');
  return { screen: decode(screen) || 'lab', part: decode(rest.join('/')), query: Object.fromEntries(new URLSearchParams(query)) };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray %
  }
}

/**
 * The address of a place. Empty values are omitted.
 * @param {string} screen @param {string} [part] @param {Record<string, any>} [query]
 */
export function link(screen, part = '', query = {}) {
  const said = new URLSearchParams(Object.entries(query).filter(([, v]) => v !== '' && v !== undefined)).toString();
  const path = [screen === 'lab' && !said ? '' : screen, part].filter(Boolean).map(encodeURIComponent).join('/');
  return `#/${path}${said && `?${said}`}`;
}

/** @param {Parameters<typeof link>} place */
export const go = (...place) => { location.hash = link(...place); };

/**
 * Replaces the address without a history entry: for a filter, a step. A screen that
 * has been left does not come back by it.
 * @param {Parameters<typeof link>} place
 */
export function stay(...place) {
  if (link(...place) === location.hash || read().screen !== place[0]) return;
  history.replaceState(null, '', link(...place));
  dispatchEvent(new Event('hashchange'));
}

const { set, use } = keep(read());
addEventListener('hashchange', () => set(read()));

/** Hook: the route. */
export const useRoute = use;
