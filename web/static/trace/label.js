// The words beside the arrows of a diagram.
import { brief, briefly, named } from './brief.js';
import { escape } from './drawing.js';
import { servers } from './model.js';
import { t } from '../text.js';
import { words } from './text.js';

/** @typedef {import('./story.js').Row} Row */
/** @typedef {import('./model.js').Step} Step */

/** @param {import('./model.js').Trace} trace @param {string} backend */
export const serverName = (trace, backend) => trace.named?.[backend] ?? servers[backend] ?? backend;

/**
 * What is not a command, in words.
 * @param {Step} s
 */
export function event(s) {
  const known = s.fault ? words().events.find(([pattern]) => pattern.test(s.command)) : undefined;
  return words().commands[s.command] ?? (known ? s.command.replace(known[0], known[1]) : undefined);
}

/** @param {Step} s what it was answered, in words */
export const answerOf = (s) => (s.result === 'waits' ? words().waitsHint : words().results[s.result] ?? (s.result || words().reply(s.reply) || words().ok));

/** @param {Row} row @returns {string} above its arrow, or alone */
export function labelOf({ kind, step: s, steps, times }) {
  const w = words();
  if (kind === 'again') return `↻ ${w.story.again(times)}`;
  if (kind === 'rest') return w.story.rest(steps.length);
  const told = named(event(s) ?? '') || (s.command && brief(times > 1 ? s.command.replace(/^node \d+: /, '') : s.command));
  if (kind === 'event' || s.fault === 'dies') return [s.fault && (w.faults[s.fault] ?? s.fault), told].filter(Boolean).join(t.colon);
  const mark = `${times > 1 ? `${w.story.times(times)} ` : ''}${s.background ? '↻ ' : ''}`;
  return mark + (s.fault === 'arrives late' ? `${w.faults[s.fault]}${t.colon}${told}` : told || w.results[s.result] || s.result);
}

/** @param {Step} s @param {string} reply @returns {string} SVG source */
labelOf.whole = (s, reply) => escape([event(s) ?? s.command, reply].filter(Boolean).join('\n→ ').slice(0, 2000));

/** @param {Row} row @returns {string} below the arrow back */
export function replyOf({ kind, step: s }) {
  const w = words();
  if (kind === 'again' || kind === 'rest' || kind === 'late' || kind === 'event') return '';
  if (s.fault === 'delayed') return w.faults.delayed;
  if (s.fault && s.fault !== 'dies') return w.faults[s.fault] ?? s.fault;
  if (kind === 'sent') return s.result === 'waits' ? w.results.waits : '';
  if (kind === 'act') return s.command && s.result ? w.results[s.result] ?? s.result : '';
  return (s.result && s.result !== 'waits' ? w.results[s.result] ?? s.result.replace(/^NOSCRIPT .*/, 'NOSCRIPT') : '') || briefly(s.reply);
}

/** @param {Row} row */
replyOf.bad = ({ kind, step: s }) => (kind !== 'sent' && s.result !== '' && s.result !== 'waits') || ['reply lost', 'command lost'].includes(s.fault);

/** @param {import('./story.js').Note} n what a buyer learns */
export const noteOf = (n) => (n.kind === 'old' ? words().readOld(n.read) : n.kind === 'stale' ? words().thinksItHolds
  : [words().read(n.read), n.will && words().will(n.will)].filter(Boolean).join(t.comma));
