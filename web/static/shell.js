// The frame around every screen: the doors, the tabs behind each, and preferences.
import { useAction, Wrong } from './loaded.js';
import { otherLanguage, prefer, usePreferences } from './preferences.js';
import { link } from './route.js';
import { addressOf, isSite } from './source.js';
import { t } from './text.js';
import { html } from './ui.js';

/** The doors, with the screens behind each: its tabs. The first is where the door leads. */
const doors = { ...(isSite && { story: ['story', 'faq'] }), run: ['lab', 'compare'], which: ['choose', 'guarantees', 'chaos'], learn: ['lessons', 'play'] };
/** Screens that others lead to, by the door they belong to. */
const details = /** @type {Record<string, string>} */ ({ trace: 'which', teach: 'learn' });

/**
 * home is the page of the screens, where that is another one.
 * @param {{screen: string, home?: string}} props
 */
export function Header({ screen, home = '' }) {
  const door = Object.entries(doors).find(([, tabs]) => tabs.includes(screen))?.[0] ?? details[screen];
  return html`
    <header class="top">
      <a class="brand" href=${home + link(isSite ? 'story' : 'lab')}><img src=${addressOf('/static/icon.svg')} alt="" width="30" height="30" />${t.name}</a>
      <nav aria-label=${t.nav.label}>
        <ul>
          ${Object.entries(doors).map(([name, [first]]) => html`
            <li key=${name}><a href=${home + link(first)} aria-current=${name === door ? 'page' : undefined}>${t.nav.doors[name]}</a></li>`)}
          <li><a href=${isSite ? link('shop') : '/shop'} aria-current=${screen === 'shop' ? 'page' : undefined}>${t.nav.doors.shop}</a></li>
        </ul>
      </nav>
      <${Preferences} />
    </header>
    ${door && html`
      <nav class="tabs" aria-label=${t.nav.doors[door]}>${doors[door].map((name) => html`
        <a key=${name} href=${link(name)} aria-current=${name === screen ? 'page' : undefined}>${t.nav[name]}</a>`)}</nav>`}`;
}

function Preferences() {
  const { theme } = usePreferences();
  const { failure, act } = useAction(() => t.wrong.unreachable);
  const other = otherLanguage();
  return html`
    <div class="preferences">
      <button type="button" class="quiet" id="language" lang=${other === 'zh' ? 'zh-CN' : 'en'} title=${t.nav.languageHint}
        onClick=${() => act(() => prefer('language', other))}>${t.nav.language}</button>
      <label class="theme"><span>${t.nav.theme}</span>
        <select id="theme" class="quiet" onChange=${(e) => prefer('theme', e.currentTarget.value)}>
          ${['auto', 'light', 'dark'].map((name) => html`
            <option key=${name} value=${name} selected=${name === theme}>${t.nav.themes[name]}</option>`)}
        </select></label>
    </div>
    <${Wrong} failure=${failure} />`;
}
