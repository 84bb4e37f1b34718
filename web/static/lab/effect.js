// What became of a fault: whether it took effect, and whether that could
// matter.
import { preferences } from '../preferences.js';
import { html } from '../ui.js';
import en from './text/en.js';
import zh from './text/zh.js';

const dictionaries = { en, zh };

/** @param {{effect: Json.Effect, on: boolean}} props */
export function Effect({ effect, on }) {
  const words = dictionaries[preferences().language].effects;
  const kind = !effect.took_effect ? 'void' : effect.could_matter ? 'bit' : 'idle';
  const seen = [
    effect.why && (words.why[effect.why] ?? effect.why),
    effect.holder && words.holder(effect.holder, effect.point),
    effect.stood_ms && words.stood(effect.stood_ms),
    effect.units_left !== undefined && effect.why !== 'no_units' && words.left(effect.units_left),
    effect.in_flight !== undefined && !effect.holder && effect.why !== 'idle' && words.inFlight(effect.in_flight),
  ].filter(Boolean);
  return html`
    <p class=${`effect ${kind}`} data-effect=${kind}>
      <strong>${words.says[kind]}</strong>${seen.length > 0 && words.colon + seen.join(words.semicolon)}${words.stop}
      ${on && ` ${words.goesOn}`}</p>`;
}
