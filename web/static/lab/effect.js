// The effect of a fault: whether it had one, and whether it could matter.
import { t } from '../text.js';
import { html } from '../ui.js';
import { words } from './text.js';

/**
 * Makes a blame for a fault give its reason in the chosen language.
 * @param {Record<string, any>} params
 */
export const explain = (params) => {
  const { lack, why } = params;
  Object.defineProperty(params, 'why', { get: () => words().lack(why, lack) });
};

/**
 * What a fault was, and where.
 * @param {Json.Fault} fault
 */
export const happened = ({ kind, service }) => (t.faults.kinds[kind] ?? kind) + (service > 0 ? `${t.comma}${t.machines.service(service)}` : '');

/** @param {{effect: Json.Effect, on: boolean}} props */
export function Effect({ effect, on }) {
  const said = words().effects;
  const kind = !effect.took_effect ? 'void' : effect.could_matter ? 'bit' : 'harmless';
  const seen = [
    effect.why && (said.why[effect.why] ?? effect.why),
    effect.holder && said.holder(effect.holder, effect.point),
    effect.stood_ms && said.stood(effect.stood_ms),
    effect.units_left !== undefined && effect.why !== 'no_units' && said.left(effect.units_left),
    effect.in_flight !== undefined && !effect.holder && effect.why !== 'idle' && said.inFlight(effect.in_flight),
  ].filter(Boolean);
  return html`
    <p class=${`effect ${kind}`} data-effect=${kind}>
      <strong>${said.says[kind]}</strong>${seen.length > 0 && t.colon + seen.join(t.semicolon)}${t.stop}
      ${on && ` ${said.goesOn}`}</p>`;
}
