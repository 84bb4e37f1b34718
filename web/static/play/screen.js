// The game: a person is the scheduler of two or three buyers. Without a level or
// a strategy in its address, the list of levels.
import { Awaited, useLoaded } from '../loaded.js';
import { html, styled } from '../ui.js';
import { Game } from './game.js';
import { Levels } from './levels.js';
import { loadChapters, loadLevels } from '../teach/load.js';
import { words } from './text.js';

await Promise.all([styled('trace/trace.css'), styled('play/play.css')]);

/** @param {{route: import('../route.js').Route}} props */
export function Play({ route }) {
  const { value: levels, error, again } = useLoaded(loadLevels, []);
  const { value: chapters } = useLoaded(loadChapters, []);
  const { part, query } = route;
  const free = !part && query.strategy;
  if (free && /^[23]$/.test(query.buyers ?? '2') && /^([1-9]\d?|100)$/.test(query.stock ?? '2')) return html`<${Game} key=${`${query.strategy} ${query.buyers} ${query.stock}`} query=${query} />`;
  if (!levels) return html`<${Awaited} error=${error} again=${again} title=${words().title} />`;
  const at = levels.findIndex((l) => l.name === part);
  if (at >= 0) return html`<${Game} key=${part} level=${levels[at]} next=${levels.slice(at + 1).find((l) => l.available)} query=${query} />`;
  return html`
    ${(part || free) && html`<p class="panel wrong" role="alert">${free ? words().impossibleSale : words().unknown(part)}</p>`}
    <${Levels} levels=${levels} chapters=${chapters ?? []} />`;
}
