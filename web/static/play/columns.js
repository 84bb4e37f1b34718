// The buyers as columns: each has one button, with the command that runs next.
import { breakable, highlight, languageOf } from '../highlight.js';
import { t } from '../text.js';
import { servers } from '../trace/model.js';
import { classes, html } from '../ui.js';
import { movesOf } from './model.js';
import { inWords, translated } from './say.js';
import { words } from './text.js';

/** @typedef {(choose: (game: Json.Game) => Json.GameMove | undefined) => void} Press */

/** @param {{game: Json.Game, busy: boolean, press: Press}} props */
export const Columns = ({ game, busy, press }) => html`
  <section class="columns" aria-label=${words().columns}>
    ${game.buyers.map((b, i) => html`<${Column} key=${b.name} buyer=${b} index=${i} game=${game} busy=${busy} press=${press} />`)}
  </section>`;

/** @param {{buyer: Json.GameColumn, index: number, game: Json.Game, busy: boolean, press: Press}} props */
function Column({ buyer: b, index, game, busy, press }) {
  const w = words();
  const moves = movesOf(game, b.name);
  const can = moves.next && !busy;
  return html`
    <article class=${classes('panel buyer-column', `of-${index}`, b.state)} data-buyer=${b.name} data-state=${b.state}>
      <header><h2><b>${b.name}</b> <span class="hint">${[w.does(b), w.process(b.process + 1)].filter(Boolean).join(' · ')}</span></h2>
        <p class="badges">
          <span class=${classes('badge', b.state === 'dead' && 'bad')}>${w.states[b.state] ?? b.state}</span>
          ${b.expired ? html`<span class="badge bad">${w.expired}</span>` : b.holds && html`<span class="badge held">${w.holds}</span>`}</p>
      </header>
      <button type="button" class=${classes('command-button', can && 'can')} aria-disabled=${moves.next ? undefined : 'true'} aria-keyshortcuts=${b.name.toLowerCase()}
        onClick=${() => press((now) => movesOf(now, b.name).next)}>
        <${Face} buyer=${b} />
      </button>
      ${moves.renewer?.command && html`
        <button type="button" class="command-button small" data-move=${moves.renewer.move} onClick=${() => press((now) => movesOf(now, b.name).renewer)}>
          <span class="to">↻ ${w.renewer(b.name)}</span><${Command} command=${moves.renewer.command} /></button>`}
      ${moves.follow.map((m) => html`
        <button key=${m.move} type="button" class="command-button small late" data-move=${m.move} onClick=${() => press((now) => now.moves.find((one) => one.move === m.move))}>
          <span class="to">${m.fault === 'arrives late' ? w.late(b.name) : w.does_fault[m.fault ?? ''] ?? m.fault}</span>
          ${m.command && html`<${Command} command=${m.command} />`}</button>`)}
      ${moves.faults.length > 0 && b.state !== 'done' && b.state !== 'dead' && html`
        <div class="play-faults" role="group" aria-label=${w.faultsOf(b.name)}>
          ${moves.faults.map((f) => html`<${Fault} key=${f.fault} ...${f} who=${b.name} game=${game} press=${press} />`)}</div>`}
    </article>`;
}

/**
 * What stands on a buyer's button.
 * @param {{buyer: Json.GameColumn}} props
 */
function Face({ buyer: b }) {
  const w = words();
  if (b.next) {
    return html`<span class="to"><kbd>${b.name}</kbd> ${w.run(b.name, servers[b.next.backend])}</span><${Command} command=${b.next} />`;
  }
  if (b.waiting) {
    const { said, foreign } = translated(b.waiting.why);
    return html`<span class="to">${b.state === 'backs_off' ? w.backsOff : w.waitsIn(servers[b.waiting.backend])}</span>
      <${Command} command=${b.waiting} />
      ${said && html`<span class="why" translate=${foreign ? 'no' : undefined}>${said}</span>`}
      ${b.waiting.for.length > 0 && html`<span class="why"><b>${w.heldBy(t.list(b.waiting.for))}</b></span>`}`;
  }
  if (b.state === 'dead') return html`<span class="told">${w.died}</span>`;
  const { said, foreign } = translated(b.told ?? '');
  return html`<span class="to">${w.told}</span><strong class="told" translate=${foreign ? 'no' : undefined}>${said || w.outcomes[b.outcome ?? '']}</strong>
    ${foreign && w.outcomes[b.outcome ?? ''] && html`<span class="why">${w.outcomes[b.outcome ?? '']}</span>`}`;
}

const longest = 600; // characters of a command on its button

/** @param {{command: Json.GameCommand}} props */
function Command({ command }) {
  const own = inWords(command);
  if (own) return html`<span class="own">${own}</span>`;
  const text = command.text.length > longest ? `${command.text.slice(0, longest)}…` : command.text;
  return html`<code>${breakable(highlight(text, languageOf(command.backend)))}</code>`;
}

/**
 * A fault's buttons: one is there while it is not possible, so that nothing moves.
 * @param {{fault: string, moves: Json.GameMove[], who: string, game: Json.Game, press: Press}} props
 */
export function Fault({ fault, moves, who, game, press }) {
  const w = words();
  const named = who && fault === 'lease ends' ? w.closes : w.does_fault[fault] ?? fault;
  const why = game.faults_left > 0 ? w.notNow : w.spent;
  if (!moves.length) return html`<button type="button" class="quiet" aria-disabled="true" data-fault=${fault} title=${why}>${named}<span class="hidden">${t.aside(why)}</span></button>`;
  return moves.map((m) => html`
    <button key=${m.move} type="button" class="quiet" data-fault=${fault} data-move=${m.move} onClick=${() => press((now) => now.moves.find((one) => one.move === m.move))}>
      ${m.renewer ? `${w.renewer(who)}${t.colon}` : ''}${named}</button>`);
}
