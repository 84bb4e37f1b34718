// The frame around every screen: navigation and preferences.
import { prefer, usePreferences } from './preferences.js';
import { link } from './route.js';
import { t } from './text.js';
import { html } from './ui.js';

/** In the order of the navigation. */
export const screens = ['lab', 'compare', 'trace', 'guarantees', 'lessons', 'play'];

/** @type {Record<string, string>} */
const within = { choose: 'guarantees', chaos: 'guarantees', teach: 'lessons' };

/**
 * home is the page of the screens, where that is another one.
 * @param {{screen: string, home?: string}} props
 */
export function Header({ screen, home = '' }) {
  return html`
    <header class="top">
      <a class="brand" href=${home + link('lab')}><img src="/static/icon.svg" alt="" width="30" height="30" />${t.name}</a>
      <nav aria-label=${t.nav.label}>
        <ul>
          ${screens.map((name) => html`
            <li key=${name}><a href=${home + link(name)} aria-current=${name === (within[screen] ?? screen) ? 'page' : undefined}>${t.nav[name]}</a></li>`)}
          <li><a href="/shop" aria-current=${screen === 'shop' ? 'page' : undefined}>${t.nav.shop}</a></li>
        </ul>
      </nav>
      <${Preferences} />
    </header>`;
}

function Preferences() {
  const { language, theme, type } = usePreferences();
  const large = type === 'large';
  return html`
    <div class="preferences">
      <button type="button" class="quiet" id="language" lang=${language === 'zh' ? 'en' : 'zh-CN'} title=${t.nav.languageHint}
        onClick=${() => prefer('language', language === 'zh' ? 'en' : 'zh')}>${t.nav.language}</button>
      <label class="hidden" for="theme">${t.nav.theme}</label>
      <select id="theme" class="quiet" title=${t.nav.theme} onChange=${(e) => prefer('theme', e.currentTarget.value)}>
        ${['auto', 'light', 'dark'].map((name) => html`
          <option key=${name} value=${name} selected=${name === theme}>${t.nav.themes[name]}</option>`)}
      </select>
      <button type="button" class="quiet" id="large" aria-pressed=${String(large)} title=${t.nav.largeHint}
        onClick=${() => prefer('type', large ? 'normal' : 'large')}>${t.nav.large}</button>
    </div>`;
}
