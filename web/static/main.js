import { connect, useLab, wantStrategies } from './lab.js';
import { later } from './loaded.js';
import { usePreferences } from './preferences.js';
import { link, scrollToPlace, useRoute } from './route.js';
import { Header } from './shell.js';
import { isSite } from './source.js';
import { t } from './text.js';
import { html, render, useEffect, useLayoutEffect, useRef } from './ui.js';

// The first screen of a lab comes at once; the others, and all of a site, are loaded on demand.
const { Lab } = isSite ? /** @type {Record<string, any>} */ ({}) : await import('./lab/screen.js');
const screen = (/** @type {() => Promise<Record<string, any>>} */ load, /** @type {string} */ name) => later(load, name, () => t.nav.failed);
const ofLab = { lab: Lab, compare: screen(() => import('./compare/screen.js'), 'Compare'), shop: () => useLayoutEffect(() => location.replace('/shop'), []) }; // the shop is another page
const needs = screen(() => import('./story/needs.js'), 'NeedsLab');
const story = screen(() => import('./story/screen.js'), 'Story');
const ofSite = { story, faq: story, lab: needs, compare: needs, shop: needs };
/** @type {Record<string, (props: {route: import('./route.js').Route}) => unknown>} */
const screens = {
  ...(isSite ? ofSite : ofLab),
  trace: screen(() => import('./trace/screen.js'), 'Trace'),
  guarantees: screen(() => import('./guarantees/screen.js'), 'Guarantees'),
  chaos: screen(() => import('./chaos/screen.js'), 'Chaos'),
  choose: screen(() => import('./choose/screen.js'), 'Chooser'),
  lessons: screen(() => import('./lessons/screen.js'), 'Lessons'),
  play: screen(() => import('./play/screen.js'), 'Play'),
  teach: screen(() => import('./teach/screen.js'), 'Teach'),
};

function App() {
  const lab = useLab();
  const route = useRoute();
  const { language } = usePreferences();
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const before = useRef(route.screen);

  useLayoutEffect(() => { // in the page's language from the moment that it has one
    document.title = screens[route.screen] ? `${t.nav[route.screen] ?? t.nav.doors[route.screen]} · ${t.name}` : t.name;
  }, [route.screen, language]);
  useEffect(() => { document.documentElement.toggleAttribute('data-lost', lab.connected === false); }, [lab.connected]); // style.css greys out what needs the lab
  useEffect(() => {
    if (route.screen !== 'lab') wantStrategies();
    if (before.current === route.screen) return;
    before.current = route.screen;
    main.current.focus({ preventScroll: true }); // so that the next Tab starts in the new screen
    scrollToPlace();
  }, [route.screen]);

  const skip = (/** @type {Event} */ e) => {
    e.preventDefault(); // the hash is the route
    (document.getElementById('stage') ?? main.current).focus();
  };
  return html`
    <a class="skip" href="#content" onClick=${skip}>${route.screen === 'lab' ? t.skip : t.nav.main}</a>
    <${Header} screen=${route.screen} />
    <div role="alert">${lab.connected === false && html`<p class="lost-connection">${t.lostConnection}</p>`}</div>
    <main id="content" tabindex="-1" ref=${main}><${screens[route.screen] ?? Nowhere} key=${route.screen} name=${route.screen} route=${route} /></main>
    <footer>${t.name}${lab.status && html` · ${t.version(lab.status.version.replace(/^v0\.0\.0-\d+-/, '').slice(0, 12))}`}</footer>`;
}

/** @param {{name: string}} props */
const Nowhere = ({ name }) => html`<section class="panel"><p>${t.nav.unknown(name)}</p><p><a href=${link(isSite ? 'story' : 'lab')}>${t.nav.home}</a></p></section>`;

render(html`<${App} />`, document.body);
connect();
document.addEventListener('visibilitychange', connect);
