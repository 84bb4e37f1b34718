// A trace as a file: one page that plays without a lab, its drawing, and its JSON.
import { ask, Refused } from '../api.js';
import { pageOf, save } from '../file.js';
import { useAction, Wrong } from '../loaded.js';
import { preferences } from '../preferences.js';
import { addressOf } from '../source.js';
import { html } from '../ui.js';
import { diagram } from './diagram.js';
import { isDark } from './picture.js';
import { words } from './text.js';

/** @typedef {import('./model.js').Trace} Trace */

/** @param {Trace} trace @param {string} kind of file */
const fileName = ({ strategy, question, live, started }, kind) => `${[strategy, question || (live ? `live-${(started ?? '').slice(0, 19)}` : 'trace')].join('.').replace(/[^\w.-]+/g, '-')}.${kind}`;

/** @param {Trace} trace @returns {string} in the language and the theme of the page */
const svgOf = (trace) => `<?xml version="1.0" encoding="UTF-8"?>\n${diagram(trace, { width: 960, heading: true, dark: isDark() })}\n`;

/** @param {string} text */
const data = (text) => `data:text/javascript;base64,${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}`;

/**
 * A module's name in the file, where no address is relative to another.
 * @param {string} path
 */
const bare = (path) => `seckill${path}`;

/**
 * The player's modules, as an import map: each by its name, with its source in the address.
 * @param {string} entry @param {string} language the only one that the file speaks
 */
async function modules(entry, language) {
  const imports = /** @type {Record<string, string>} */ ({});
  const next = [entry];
  for (let name = next.pop(); name; name = next.pop()) {
    if (imports[bare(name)]) continue;
    const source = name === '/static/text.js' ? `import t from './text/${language}.js';
${language === 'zh' ? `import sentences from './guarantees/text/proof.${language}.js';` : 'const sentences = {};'}
export { t, sentences };\nexport const load = async () => {};\nexport const speak = load;`
      : await ask(name, {}, (answer) => (answer.ok ? answer.text() : Promise.reject(new Refused({ status: answer.status }))));
    const at = name;
    imports[bare(name)] = data(source.replace(/(\bfrom\s*|^import\s*)(['"])(\.[^'"]+)\2/gm, (_, begin, quote, other) => {
      const target = new URL(other, location.origin + at).pathname;
      next.push(target);
      return begin + quote + bare(target) + quote;
    }));
  }
  return imports;
}

/** @param {Trace} trace @param {string} title */
async function page(trace, title) {
  const imports = await modules('/static/trace/alone.js', preferences().language);
  const json = (/** @type {unknown} */ value) => JSON.stringify(value).replace(/</g, '\\u003c');
  return pageOf(title, `<script type="importmap">${json({ imports })}</script>`, `<div id="player"></div>
<script type="application/json" id="trace">${json(trace)}</script><script type="module">import '${bare('/static/trace/alone.js')}';</script>`);
}

/** @param {{trace: Trace, title: string, file: string}} props */
export function Downloads({ trace, title, file }) {
  const { failure, act } = useAction();
  const share = () => act(async () => save(await page(trace, title), 'text/html', fileName(trace, 'html')));
  return html`
    <p class="downloads buttons"><button type="button" class="offer small" data-file="html" onClick=${share}>${words().share}</button>
      <span class="hint">${words().download}</span> <button type="button" class="link" data-file="svg" onClick=${() => save(svgOf(trace), 'image/svg+xml', fileName(trace, 'svg'))}>SVG</button>
      ${file && html`<a href=${addressOf(file)} download=${fileName(trace, 'json')}>JSON</a>`}</p>
    <${Wrong} failure=${failure} />`;
}
