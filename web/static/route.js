// The route: #/screen/part?key=value. A hash needs no support from the server,
// survives a reload, and can be sent as a link.
import { keep } from './records.js';
import { home, isSite, place as own } from './source.js';

/** @typedef {{screen: string, part: string, query: Record<string, string>}} Route */

const start = own || (isSite ? 'story' : 'lab'); // what an address without a place shows

/** @returns {Route} */
export function read(hash = location.hash) {
  const [path, query] = hash.replace(/^#\/?/, '').split('?');
  const [screen, ...rest] = (path || start).split('/');
  return { screen: decode(screen), part: decode(rest.join('/')), query: Object.fromEntries(new URLSearchParams(query)) };
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
  const path = [screen, part].filter(Boolean).map(encodeURIComponent).join('/');
  const short = path === start && (own || !said);
  return `${own && !short ? home : ''}#/${short ? '' : path}${said && `?${said}`}`;
}

/** @param {Parameters<typeof link>} place */
export const go = (...place) => { location.href = link(...place); };

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

// Back returns to where a place of the history was left. Screens load by themselves, so
// the browser cannot do that: a screen is not yet as high as it was.
let place = '';
let target = 0; // where the place is to be scrolled to; 0: nothing to do
const left = /** @type {Record<string, number>} */ ({});
const patience = 3000; // ms until a screen is as high as it was
const calm = 400; // ms without a change of height

/** The history's own key of the place; a browser without one does not return to it. */
const keyOf = () => /** @type {any} */ (globalThis).navigation?.currentEntry?.key ?? '';

function enter() {
  place = keyOf();
  target = (place && left[place]) || 0;
}

history.scrollRestoration = 'manual';
enter();
addEventListener('popstate', enter);
addEventListener('scroll', () => { if (!target) left[place] = scrollY; }, { passive: true });
for (const by of ['wheel', 'touchstart', 'keydown']) addEventListener(by, () => { target = 0; }, { passive: true }); // the reader decides

/** Scrolls a new screen to its top, or, after Back, to where it was left. */
export function scrollToPlace() {
  scrollTo(0, 0);
  const [began, until] = [place, performance.now() + patience];
  let [height, since] = [0, 0];
  const follow = (/** @type {number} */ now) => {
    if (place !== began || !target) return;
    if (document.documentElement.scrollHeight !== height) [height, since] = [document.documentElement.scrollHeight, now];
    scrollTo(0, target);
    if (now > until || (Math.abs(scrollY - target) < 2 && now - since > calm)) target = 0;
    else requestAnimationFrame(follow);
  };
  if (target) requestAnimationFrame(follow);
}
