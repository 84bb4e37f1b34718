// The frame around the screens of the shop: the lab's own, and the way between them.
import { usePreferences } from '../preferences.js';
import { Header } from '../shell.js';
import { html, useEffect } from '../ui.js';
import { words } from './text.js';

/** @typedef {'shop' | 'split' | 'admin'} Place */
/** @type {[Place, string][]} */
const places = [['shop', '/shop'], ['split', '/shop?split'], ['admin', '/shop/admin']];

/** @param {{title: () => string, here: Place, children?: unknown}} props */
export function Frame({ title, here, children }) {
  const { language } = usePreferences();
  const w = words();
  useEffect(() => { document.title = title(); }, [language]);
  return html`
    <a class="skip" href="#content">${w.skip}</a>
    <${Header} screen="shop" home="/" />
    <nav class="places" aria-label=${w.title}>
      <ul>${places.map(([name, href]) => html`
        <li key=${name}><a href=${href} aria-current=${name === here ? 'page' : undefined}>${w.places[name]}</a></li>`)}</ul>
    </nav>
    <main id="content" class=${here} tabindex="-1">${children}</main>`;
}
