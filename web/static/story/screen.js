// The first page of a site: the project's README, and from there its other documents.
import { ask, Refused } from '../api.js';
import { Blocks, blocksOf } from '../lessons/markdown.js';
import { Awaited, useLoaded } from '../loaded.js';
import { preferences } from '../preferences.js';
import { link } from '../route.js';
import { addressOf } from '../source.js';
import { t } from '../text.js';
import { html, styled, useEffect } from '../ui.js';

await styled('story/story.css');

const translated = ['README.md', 'docs/faq.md'];

/** @param {string} name of a document, in the language of the page */
const nameOf = (name) => (preferences().language === 'zh' && translated.includes(name) ? name.replace(/md$/, 'zh.md') : name);

/** @param {string} name @returns {Promise<string>} */
const load = (name) => ask(`/documents/${name}`, {}, (answer) => (answer.ok ? answer.text() : Promise.reject(new Refused({ status: answer.status }))));

/** @param {{route: import('../route.js').Route}} props */
export function Story({ route }) {
  const name = route.screen === 'faq' ? 'docs/faq.md' : route.part || 'README.md';
  const { original, at } = route.query;
  const shown = original ? name : nameOf(name);
  const { value, error, again } = useLoaded(() => load(shown), [shown]);
  useEffect(() => {
    if (value) document.getElementById(`at-${at}`)?.scrollIntoView();
  }, [value, at]);
  if (error instanceof Refused && error.status === 404) return html`<section class="panel"><p>${t.nav.unknown(name)}</p><p><a href=${link('story')}>${t.nav.home}</a></p></section>`;
  if (!value) return html`<${Awaited} error=${error} again=${again} title=${t.nav.story} />`;
  const isChinese = shown.endsWith('.zh.md');
  const isOnlyEnglish = preferences().language === 'zh' && !isChinese && !translated.includes(name);
  const to = (/** @type {string} */ href) => addressIn(href, name, (/** @type {string} */ target) => (!target ? original : isChinese && translated.includes(target) ? 1 : ''));
  return html`
    ${name === 'README.md' && html`<${Welcome} />`}
    <article class="document panel" lang=${isChinese ? 'zh-CN' : 'en'}>${isOnlyEnglish && html`<p class="hint" lang="zh-CN">${t.site.english}</p>`}<${Blocks} blocks=${blocksOf(value)} to=${to} anchor=${anchorOf} /></article>`;
}

/**
 * A title's place in the page: its name in an address, as GitHub writes it.
 * @param {string} title
 */
const anchorOf = (title) => `at-${title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-')}`;

/**
 * Where a link of a document leads; null: the site does not have it.
 * @param {string} href @param {string} name of the document @param {(target: string) => unknown} original whether a target is meant in English, also on the Chinese page; '': the document itself
 */
function addressIn(href, name, original) {
  if (/^https?:/.test(href)) return href;
  const [path, at] = href.split('#');
  const target = path ? new URL(path, `http://site/${name}`).pathname.slice(1) : name;
  if (target.endsWith('.md')) return link('story', target === 'README.md' ? '' : target, { at, original: original(path && target) });
  return /\.(svg|png)$/.test(target) ? addressOf(`/documents/${target}`) : null;
}

const Welcome = () => html`
  <section class="welcome">
    <p class="intro">${t.site.what}</p>
    <p class="buttons"><a class="run" href=${link('lessons', '01-lost-update')}>${t.site.read}</a> <a class="offer" href=${link('play', 'first-lost-update')}>${t.site.play}</a>
      <a class="offer" href=${link('trace', 'redis-lua.late-command')}>${t.site.see}</a></p>
  </section>`;
