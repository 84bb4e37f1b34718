// Drawings where a sequence of commands is not the point. Each is a function of its words.
import { html } from '../ui.js';
import { words as lessonWords } from './text.js';

/** @param {string} text @param {number} x @param {number} y @param {string} [look] @param {string} [anchor] */
const label = (text, x, y, look = '', anchor = 'middle') => html`<text class=${look} x=${x} y=${y} text-anchor=${anchor}>${text}</text>`;

/** @param {number} x @param {number} y @param {number} w @param {string} text @param {string} [look] @param {string} [below] a second line */
const box = (x, y, w, text, look = '', below = '') => html`<g class=${look}><rect x=${x} y=${y} width=${w} height="46" rx="6" />
  ${label(text, x + w / 2, y + (below ? 20 : 28))}${below && label(below, x + w / 2, y + 37, 'small')}</g>`;

/** @param {string} path @param {string} [look] */
const arrow = (path, look = '') => html`<path class=${`way ${look}`} d=${path} marker-end="url(#tip)" />`;

/** @param {string} name @param {[look: string, from: number, to: number, text: string][]} parts @param {number} y */
const bar = (name, parts, y) => html`${label(name, 0, y + 26, 'code', 'start')}${parts.map(([look, from, to, text]) => html`
  <g class=${look}><rect x=${from} y=${y} width=${to - from} height="38" rx="3" />${label(text, (from + to) / 2, y + 24, 'small')}</g>`)}`;

/** A picture: its height, and what is drawn with its words. @type {Record<string, [number, (w: string[]) => unknown]>} */
const pictures = {
  'row-held': [250, ([update, trip, insert, commit, all, held, free]) => html`
    ${bar('conditional', [['held', 130, 205, update], ['wait', 205, 320, trip], ['held', 320, 395, insert], ['wait', 395, 510, trip], ['held', 510, 600, commit]], 10)}
    ${bar('order-first', [['free', 130, 205, insert], ['free', 205, 320, trip], ['held', 320, 395, update], ['wait', 395, 510, trip], ['held', 510, 600, commit]], 65)}
    ${bar('one-trip', [['held', 130, 205, update], ['held', 205, 280, insert], ['held', 280, 370, commit]], 120)}
    ${bar('merged', [['free', 130, 280, all], ['held', 280, 355, update], ['held', 355, 445, commit]], 175)}
    ${label(held, 130, 240, 'small', 'start')}${label(free, 700, 240, 'small', 'end')}`],
  'zk-queue': [150, ([holds, watches, told]) => html`
    ${box(10, 30, 190, '…-0001', 'held', `A${holds}`)}${box(265, 30, 190, '…-0002', '', `B${watches} 0001`)}${box(520, 30, 190, '…-0003', '', `C${watches} 0002`)}
    ${arrow('M265 53 H204')}${arrow('M520 53 H459')}${label(told, 360, 120)}`],
  votes: [190, ([a, b, gives]) => html`
    ${[1, 2, 3, 4, 5].map((n) => box(15 + (n - 1) * 142, 60, 120, `Redis ${n}`, n < 4 ? 'held' : 'wait', n < 4 ? 'A' : 'B'))}
    ${label(a, 15, 35, '', 'start')}${label(b, 703, 35, '', 'end')}${label(gives, 360, 150)}`],
  buckets: [180, ([buyers, whole, all]) => html`
    ${[25, 24, 25, 1].map((n, i) => html`${box(30 + i * 175, 80, 130, String(n), n > 1 ? '' : 'wait')}${label(buyers, 95 + i * 175, 25)}${arrow(`M${95 + i * 175} 35 V72`)}`)}
    ${label(whole, 360, 155)}${label(all, 360, 174, 'small')}`],
  gap: [200, ([gap, both, wait]) => html`
    ${box(20, 70, 130, 'lock-a')}${box(570, 70, 130, 'lock-z')}<g class="wait"><rect x="160" y="70" width="400" height="46" rx="6" />${label(gap, 360, 98)}</g>
    ${arrow('M260 40 V64')}${arrow('M460 40 V64')}${label('A: FOR UPDATE', 260, 28, 'code')}${label('B: FOR UPDATE', 460, 28, 'code')}
    ${label(both, 360, 150)}${label(wait, 360, 178)}`],
  states: [210, ([free, reserved, sold, take, pay, late, cancel]) => html`
    ${box(20, 80, 150, free)}${box(285, 80, 150, reserved, 'held')}${box(550, 80, 150, sold, 'done')}
    ${arrow('M170 95 H279')}${label(take, 225, 85, 'small')}${arrow('M435 103 H544')}${label(pay, 490, 93, 'small')}
    ${arrow('M360 126 V165 H95 V132')}${label(late, 227, 185, 'small')}${arrow('M625 80 V35 H95 V74')}${label(cancel, 360, 27, 'small')}`],
};

/** @param {{name: string}} props */
export function Sketch({ name }) {
  const [says, ...parts] = lessonWords().pictures[name];
  const [height, draw] = pictures[name];
  return html`<figure class="sketch" data-picture=${name}><div class="scroll" tabindex="0" role="region" aria-label=${says}><svg viewBox=${`0 0 720 ${height}`} role="img" aria-label=${says}>
    <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" /></marker></defs>
    ${draw(parts)}</svg></div><figcaption class="hint">${says}</figcaption></figure>`;
}
