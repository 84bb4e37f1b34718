// The frame around both screens of the shop.
import { prefer, usePreferences } from '../preferences.js';
import { html, useEffect } from '../ui.js';
import { words } from './text.js';

/** @param {{title: () => string, here: 'shop' | 'admin', children?: unknown}} props */
export function Frame({ title, here, children }) {
  const { language, theme } = usePreferences();
  const w = words();
  useEffect(() => { document.title = title(); }, [language]);
  return html`
    <a class="skip" href="#content">${w.skip}</a>
    <header class="top">
      <a class="brand" href="/shop"><img src="/static/icon.svg" alt="" width="30" height="30" />${w.title}</a>
      <div class="preferences">
        <button type="button" class="quiet" id="language" lang=${language === 'zh' ? 'en' : 'zh-CN'} title=${w.languageHint}
          onClick=${() => prefer('language', language === 'zh' ? 'en' : 'zh')}>${w.language}</button>
        <label class="hidden" for="theme">${w.theme}</label>
        <select id="theme" class="quiet" title=${w.theme} onChange=${(e) => prefer('theme', e.currentTarget.value)}>
          ${['auto', 'light', 'dark'].map((name) => html`
            <option key=${name} value=${name} selected=${name === theme}>${w.themes[name]}</option>`)}
        </select>
      </div>
    </header>
    <main id="content" tabindex="-1">${children}</main>
    <footer class="foot">
      ${here === 'shop' ? html`<a href="/shop/admin">${w.admin}</a>` : html`<a href="/shop">${w.operator.shop}</a>`}
      <a href="/">${w.lab}</a>
    </footer>`;
}
