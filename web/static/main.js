import { connect, useLab, wantStrategies } from './lab.js';
import { Lab } from './lab/screen.js';
import { whenBack } from './loaded.js';
import { usePreferences } from './preferences.js';
import { link, useRoute } from './route.js';
import { Header } from './shell.js';
import { t } from './text.js';
import { html, render, useEffect, useRef, useState } from './ui.js';

// The lab is the first screen; the others are loaded on demand.
/** @type {Record<string, () => Promise<(props: {route: import('./route.js').Route}) => unknown>>} */
const load = {
  lab: async () => Lab,
  compare: async () => (await import('./compare/screen.js')).Compare,
  trace: async () => (await import('./trace/screen.js')).Trace,
  guarantees: async () => (await import('./guarantees/screen.js')).Guarantees,
  chaos: async () => (await import('./chaos/screen.js')).Chaos,
  choose: async () => (await import('./choose/screen.js')).Chooser,
  lessons: async () => (await import('./lessons/screen.js')).Lessons,
  play: async () => (await import('./play/screen.js')).Play,
  teach: async () => (await import('./teach/screen.js')).Teach,
};
/** @type {Record<string, unknown>} */
const loaded = { lab: Lab };

function App() {
  const lab = useLab();
  const route = useRoute();
  const { language } = usePreferences();
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const before = useRef(route.screen);

  useEffect(() => {
    if (route.screen !== 'lab') wantStrategies();
    document.title = load[route.screen] ? `${t.nav[route.screen]} · ${t.name}` : t.name;
    if (before.current === route.screen) return;
    before.current = route.screen;
    scrollTo(0, 0);
    main.current.focus(); // so that the next Tab starts in the new screen
  }, [route.screen, language]);

  const skip = (/** @type {Event} */ e) => {
    e.preventDefault(); // the hash is the route
    (document.getElementById('stage') ?? main.current).focus();
  };
  return html`
    <a class="skip" href="#content" onClick=${skip}>${route.screen === 'lab' ? t.skip : t.nav.main}</a>
    <${Header} screen=${route.screen} />
    <div role="alert">${lab.connected === false && html`<p class="lost-connection">${t.lostConnection}</p>`}</div>
    <main id="content" tabindex="-1" ref=${main}><${Screen} key=${route.screen} route=${route} /></main>
    <footer>${t.footer}${lab.status && html` · ${t.version(lab.status.version)}`}</footer>`;
}

/** @param {{route: import('./route.js').Route}} props */
function Screen({ route }) {
  const name = route.screen;
  const [state, setState] = useState(loaded[name] ? 'here' : 'loading');
  const fetchIt = () => {
    setState('loading');
    load[name]().then((screen) => {
      loaded[name] = screen;
      setState('here');
    }, () => setState('failed'));
  };
  useEffect(() => {
    if (load[name] && !loaded[name]) fetchIt();
  }, []);
  useEffect(() => (state === 'failed' ? whenBack(fetchIt) : undefined), [state]);
  if (!load[name]) {
    return html`<section class="panel"><p>${t.nav.unknown(name)}</p><p><a href=${link('lab')}>${t.nav.home}</a></p></section>`;
  }
  if (state === 'failed') {
    return html`<section class="panel" role="alert"><p>${t.nav.failed}</p>
      <p><button type="button" class="offer" onClick=${fetchIt}>${t.nav.again}</button></p></section>`;
  }
  if (state === 'loading') return html`<p class="hint">${t.nav.loading}</p>`;
  return html`<${loaded[name]} route=${route} />`;
}

render(html`<${App} />`, document.body);
connect();
