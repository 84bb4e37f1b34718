// What happened in a game, in words: for the columns and for screen readers.
import { say } from '../guarantees/say.js';
import { preferences } from '../preferences.js';
import { brief } from '../trace/brief.js';
import { event } from '../trace/label.js';
import { t } from '../text.js';
import { words as traceWords } from '../trace/text.js';
import { words } from './text.js';
import reasons from './text/reasons.zh.js';

/**
 * A text of the lab in English, with its translation if there is one.
 * @param {string} text @returns {{said: string, foreign: boolean}} foreign: it is English on a page that is not
 */
export function translated(text) {
  const said = (preferences().language === 'zh' ? reasons : []).reduce((some, [pattern, replaced]) => some.replace(pattern, replaced), t.reason(say(text)));
  return { said, foreign: preferences().language !== 'en' && said === text };
}

/**
 * A command, or a step of a buyer's own in words.
 * @param {Json.GameCommand} command
 */
export const inWords = ({ text }) => traceWords().commands[text];

/** @param {Json.GameStep} s */
function told(s) {
  const w = words();
  const as = /** @type {import('../trace/model.js').Step} */ ({ fault: s.fault ?? '', command: s.command ?? '' });
  const what = event(as) ?? (s.command ? brief(s.command) : '');
  const fault = s.fault ? traceWords().faults[s.fault] ?? s.fault : '';
  return w.says.ran([s.renewer ? w.renewer(s.who ?? '') : s.who, fault].filter(Boolean).join(' '), what || w.states.done, s.result && s.result !== 'waits' ? traceWords().results[s.result] ?? s.result : traceWords().reply(s.reply ?? ''));
}

/**
 * What changed, for a screen reader.
 * @param {Json.Game} now @param {Json.Game | null} before
 */
export function announce(now, before) {
  const w = words();
  if (!before) return now.moves_made ? w.says.now(now.moves_made) : w.says.begun;
  if (now.steps.length < before.steps.length) return w.says.back(now.moves_made);
  const steps = now.steps.slice(before.steps.length);
  const was = (/** @type {string} */ who) => before.buyers.find((b) => b.name === who);
  const waits = now.buyers.filter((b) => b.waiting && !was(b.name)?.waiting).map((b) => w.says.waits(b.name, b.waiting ? translated(b.waiting.why).said : ''));
  const told_ = now.buyers.filter((b) => b.told && !was(b.name)?.told).map((b) => w.says.told(b.name, w.outcomes[b.outcome ?? ''] ?? b.told));
  return [...steps.map(told), ...steps.flatMap((s) => s.woke ?? []).map((who) => w.says.goesOn(who)), ...waits, ...told_, now.verdict && `${w.sold(now.verdict)}.`].filter(Boolean).join(' ');
}
