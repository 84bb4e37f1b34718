// A class, as its teacher sees it: the code, the table of learners and levels, the
// files, and its end.
import { ask, call, Refused } from '../api.js';
import { news } from '../lab.js';
import { Failed, useFailure, useLoaded } from '../loaded.js';
import { textOf } from '../play/levels.js';
import { preferences, remember, remembered } from '../preferences.js';
import { go, link } from '../route.js';
import { t } from '../text.js';
import { count, html, useEffect, useState } from '../ui.js';
import { words } from './text.js';

const classes = '/api/lab/v1/classes';

/** @returns {{code: string, key: string}[]} those that were opened in this browser */
function own() {
  try {
    const kept = JSON.parse(remembered('classes') ?? '[]');
    return Array.isArray(kept) ? kept.filter((c) => typeof c?.code === 'string' && typeof c.key === 'string') : [];
  } catch {
    return [];
  }
}

/** @param {{code: string, key: string}[]} kept */
const keepOwn = (kept) => remember('classes', JSON.stringify(kept));

export function OpenClass() {
  const w = words().classes;
  const [failure, setFailure] = useFailure();
  const open = () => call('POST', classes, {}).then(({ code, key }) => {
    keepOwn([...own(), { code, key }].slice(-20));
    go('teach', 'class', { code, key });
  }, (error) => setFailure(w.refused(error)));
  const kept = own();
  return html`
    <section class="panel teach-class" aria-labelledby="teach-class"><h2 id="teach-class">${w.title}</h2><p>${w.what}</p>
      <p class="teach-ways"><button type="button" class="offer small" data-do="open-class" onClick=${open}>${w.open}</button> <a href=${link('class')}>${w.join}</a></p>
      <div role="alert">${failure && html`<p class="wrong">${failure}</p>`}</div>
      ${kept.length > 0 && html`<p>${w.mine}: ${kept.map((c, i) => html`${i > 0 && ', '}<a key=${c.code} href=${link('teach', 'class', c)}>${w.show(c.code)}</a>`)}</p>`}
    </section>`;
}

/** @param {{code: string, secret: string, chapters: Json.Chapter[], levels: Json.Level[]}} props */
export function Class({ code, secret, chapters, levels }) {
  const w = words().classes;
  const headers = { 'X-Class-Key': `${code}.${secret}` };
  const at = `${classes}/${encodeURIComponent(code)}`;
  const [kept, setKept] = useState(/** @type {Json.Class | null} */ (null)); // the last that was seen
  const [failure, setFailure] = useFailure();
  const { value, error, again } = useLoaded(() => /** @type {Promise<Json.Class>} */ (call('GET', at, undefined, { headers })), [code, secret]);
  useEffect(() => { if (value) setKept(value); }, [value]);
  useEffect(() => {
    news.addEventListener('class', again);
    news.addEventListener('connected', again);
    return () => {
      news.removeEventListener('class', again);
      news.removeEventListener('connected', again);
    };
  }, []);
  const gone = error instanceof Refused && error.status === 404;
  const now = gone ? null : kept;
  if (!now) return error ? html`<${Failed} error=${error} again=${again} title=${w.title} said=${w.refused(error)} />` : html`<p class="hint">${t.nav.loading}</p>`;

  const act = (/** @type {Promise<unknown>} */ done) => done.then(() => setFailure(''), (e) => setFailure(w.refused(e)));
  const del = () => act(call('DELETE', at, undefined, { headers }).then(() => {
    keepOwn(own().filter((c) => c.code !== code));
    go('teach');
  }));
  const remove = (/** @type {string} */ name) => act(call('DELETE', `${at}/learners/${encodeURIComponent(name)}`, undefined, { headers }).then(again));
  const json = () => save(new Blob([`${JSON.stringify(now, null, 1)}\n`], { type: 'application/json' }), `class-${code}.json`);
  const csv = () => act(ask(`${at}/results.csv`, { headers }, async (answer) => {
    if (!answer.ok) throw new Refused({ ...await answer.json().catch(() => ({})), status: answer.status });
    return answer.blob();
  }).then((blob) => save(blob, `class-${code}.csv`)));
  const address = `${location.origin}/${link('class', '', { code })}`;
  return html`
    <article class="teach-class" data-learners=${now.learners.length}>
      <p class="by-hand"><a href=${link('teach')}>${words().back}</a></p>
      <h1>${w.of(code)}</h1>
      <p class="teach-code">${w.code}: <strong translate="no">${code.slice(0, 4)}-${code.slice(4)}</strong></p>
      <p>${w.link}: <a href=${link('class', '', { code })} translate="no">${address}</a></p>
      <p class="hint by-hand">${w.secret}</p><p class="hint">${w.ends(new Date(now.expires).toLocaleDateString(preferences().language))}</p>
      ${now.not_kept && html`<p class="wrong">${w.notKept(now.not_kept)}</p>`}
      <div role="alert">${failure && html`<p class="wrong">${failure}</p>`}</div>
      ${now.learners.length ? html`<${Table} learners=${now.learners} levels=${levels} chapters=${chapters} remove=${remove} />` : html`<p class="panel" role="status">${w.empty}</p>`}
      <p class="teach-ways"><button type="button" class="offer small" data-do="csv" onClick=${csv}>${w.csv}</button> <button type="button" class="offer small" data-do="json" onClick=${json}>${w.json}</button></p>
      <${Delete} del=${del} />
    </article>`;
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const href = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // the browser reads it meanwhile
}

/** @param {{learners: Json.Learner[], levels: Json.Level[], chapters: Json.Chapter[], remove: (name: string) => void}} props */
function Table({ learners, levels, chapters, remove }) {
  const w = words().classes;
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${w.table}><table class="teach-table">
      <thead><tr><th scope="col">${w.learner}</th><th scope="col">${w.read}</th><th scope="col">${w.predicted}</th>
        ${levels.map((l) => html`<th key=${l.name} scope="col" title=${w.level(l.number, textOf(l).title)}><span class="hidden">${w.level(l.number, textOf(l).title)}</span><span aria-hidden="true">${l.number}</span></th>`)}
        <th scope="col" class="by-hand"><span class="hidden">${w.remove}</span></th></tr></thead>
      <tbody>${learners.map((one) => {
    const said = Object.values(one.predictions);
    return html`<tr key=${one.nickname} data-learner=${one.nickname}><th scope="row" translate="no"><bdi>${one.nickname}</bdi></th>
          <td>${w.of2(Object.keys(one.chapters).length, chapters.length)}</td><td>${w.of2(said.filter((p) => p.right).length, said.length)}</td>
          ${levels.map((l) => html`<td key=${l.name} data-level=${l.name}><${Cell} solved=${one.levels[l.name]} /></td>`)}
          <td class="by-hand"><button type="button" class="link" aria-label=${w.removeOne(one.nickname)} onClick=${() => remove(one.nickname)}>${w.remove}</button></td></tr>`;
  })}</tbody></table></div>`;
}

/** @param {{solved?: Json.Learner['levels'][string]}} props */
function Cell({ solved }) {
  const w = words().classes;
  if (!solved) return html`<span class="hint" role="img" aria-label=${w.open_}>·</span>`;
  const says = solved.impossible ? w.impossible : (solved.short ? w.short : w.solved)(solved.moves);
  return html`<span class="teach-tick" role="img" aria-label=${says} title=${says}>${solved.short ? '★' : '✓'}${!solved.impossible && html`<sub>${count(solved.moves)}</sub>`}</span>`;
}

/** @param {{del: () => void}} props */
function Delete({ del }) {
  const w = words().classes;
  const [sure, setSure] = useState(false);
  if (!sure) return html`<p class="by-hand"><button type="button" class="link" data-do="delete" onClick=${() => setSure(true)}>${w.del}</button></p>`;
  return html`<p class="by-hand teach-ways" role="group" aria-label=${w.del}><b>${w.sure}</b> <button type="button" class="offer small" data-do="delete-sure" onClick=${del}>${w.yes}</button>
    <button type="button" class="offer small" onClick=${() => setSure(false)}>${w.no}</button></p>`;
}
