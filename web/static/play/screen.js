// The game: a person is the scheduler of two or three buyers. Without a level or
// a strategy in its address, the list of levels.
import { call } from '../api.js';
import { Failed, useLoaded } from '../loaded.js';
import { t } from '../text.js';
import { html, styled } from '../ui.js';
import { Defend } from './defend.js';
import { Game } from './game.js';
import { Levels } from './levels.js';
import { words } from './text.js';

await Promise.all([styled('trace/trace.css'), styled('play/play.css')]);

/** @returns {Promise<Json.Level[]>} */
const loadLevels = () => call('GET', '/api/lab/v1/levels').then((l) => l.levels ?? []);

/** @returns {Promise<Json.Chapter[]>} the levels can be listed without */
const loadChapters = () => call('GET', '/api/lab/v1/course').then((c) => c.chapters, () => []);

/** @returns {Promise<Json.Defence[]>} the levels can be listed without */
const loadDefences = () => call('GET', '/api/lab/v1/defences').then((l) => l.defences ?? [], () => []);

/** @param {{route: import('../route.js').Route}} props */
export function Play({ route }) {
  const { value: levels, error, again } = useLoaded(loadLevels, []);
  const { value: chapters } = useLoaded(loadChapters, []);
  const { value: defences } = useLoaded(loadDefences, []);
  const { part, query } = route;
  if (!part && query.counterexample) return html`<${Game} key=${query.counterexample} query=${query} />`;
  if (!part && query.strategy) return html`<${Game} key=${`${query.strategy} ${query.buyers} ${query.stock}`} query=${query} />`;
  if (error) return html`<${Failed} error=${error} again=${again} title=${words().title} />`;
  if (!levels || query.defend && !defences) return html`<p class="hint">${t.nav.loading}</p>`;
  const at = levels.findIndex((l) => l.name === part);
  if (at >= 0) return html`<${Game} key=${part} level=${levels[at]} next=${levels.slice(at + 1).find((l) => l.available)} query=${query} />`;
  const exercises = defences ?? [];
  const defend = part ? -1 : exercises.findIndex((d) => d.name === query.defend);
  if (defend >= 0) return html`<${Defend} key=${query.defend} exercise=${exercises[defend]} next=${exercises.slice(defend + 1).find((d) => d.available)} query=${query} />`;
  return html`
    ${!part && query.defend && html`<p class="panel wrong" role="alert">${words().defend.unknown(query.defend)}</p>`}
    ${part && html`<p class="panel wrong" role="alert">${words().unknown(part)}</p>`}
    <${Levels} levels=${levels} chapters=${chapters ?? []} defences=${exercises} />`;
}
