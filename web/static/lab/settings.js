// The settings of a sale, converted between the form (texts as typed), the
// address, a run, and the lab's request.
import { noSeed } from '../blame.js';

/** @typedef {{kind: string, service: string, at_ms: string, for_ms: string, strategy: string}} PlannedFault */
/** @typedef {{strategies: string[], profile: string, faults: PlannedFault[]} & Record<string, any>} Form */

/** The profiles, and the numbers that each needs. */
export const profiles = {
  closed: ['buyers', 'concurrency'], spike: ['buyers'], constant: ['rate', 'duration'],
};
const sale = ['stock', 'quantity'];
/** Settings of the service processes; empty: unchanged. */
export const services = ['services', 'lease_ms', 'wait_ms', 'poll_ms'];
/** @typedef {Json.FaultKind[]} Kinds what the lab says of its faults */

/** @param {Kinds} kinds @param {string} kind */
export const faultOf = (kinds, kind) => kinds.find((k) => k.kind === kind);

/**
 * The fields of a fault.
 * @param {Json.FaultKind | undefined} kind
 */
export const ofFault = (kind) => ['at_ms', ...(kind?.service ? ['service'] : []), ...(kind?.lasts ? ['for_ms'] : [])];

/** @param {Kinds} [all] @returns {Kinds} those that a lab can have at all */
export const here = (all = []) => all.filter(({ lack }) => lack?.code !== 'no_link');

/**
 * The strategy whose holder a fault waits for; '' if there is no choice.
 * @param {Json.FaultKind | undefined} kind @param {string | undefined} strategy @param {string[]} strategies
 */
export const whose = (kind, strategy, strategies) => (!kind?.holder || strategies.length < 2 ? ''
  : strategy && strategies.includes(strategy) ? strategy : strategies[0]);

/**
 * The backend that a fault is about, if none of the strategies uses it: then it
 * cannot matter. '' otherwise.
 * @param {Json.FaultKind | undefined} fault @param {string[]} chosen @param {Json.Strategy[]} all
 */
export const besides = (fault, chosen, all) => {
  const known = all.filter(({ name }) => chosen.includes(name));
  return fault?.uses && known.length && !known.some(({ needs }) => needs.includes(fault.uses ?? '')) ? fault.uses : '';
};

/** @type {Form} */
export const defaults = {
  strategies: ['conditional'], stock: '100', quantity: '1', profile: 'closed', buyers: '2000', concurrency: '64',
  rate: '1000', duration: '5', seed: '', services: '', lease_ms: '', wait_ms: '', poll_ms: '', faults: [],
};

/**
 * Every number of the form; those under More may be empty.
 * @param {Form} form @param {Kinds} kinds
 */
function numbers(form, kinds) {
  const needed = [...sale, ...(profiles[form.profile] ?? [])].map((name) => ({ field: name, name, text: form[name], needed: true }));
  const more = services.map((name) => ({ field: name, name, text: form[name], needed: false }));
  const faults = form.faults.flatMap((fault, i) => ofFault(faultOf(kinds, fault.kind)).map((name) => ({
    field: `faults[${i}].${name}`, name: name === 'service' ? 'services' : name, text: fault[name], needed: name === 'at_ms',
  })));
  return [...needed, ...more, ...faults];
}

/**
 * What cannot be sent, by field. The lab checks everything else.
 * @param {Form} form @param {Json.Status['limits']} limits none until the lab has sent them @param {Kinds} kinds
 */
export function findWrong(form, limits, kinds) {
  const wrong = /** @type {Record<string, Json.Blame>} */ ({});
  if (!form.strategies.length) wrong.strategies = { code: 'none' };
  if (noSeed(form.seed.trim())) wrong.seed = { code: 'seed' };
  for (const { field, name, text, needed } of numbers(form, kinds)) {
    const { min, max } = limits[name] ?? { min: 0, max: Infinity };
    const typed = text.trim();
    if (!typed && !needed) continue;
    if (!/^\d+$/.test(typed) || Number(typed) < min || Number(typed) > max) {
      wrong[field] = { code: 'range', params: { min, max } };
    }
  }
  return wrong;
}

/**
 * The body of the request.
 * @param {Form} form @param {Kinds} kinds of its faults
 */
export function request(form, kinds) {
  const given = (from, names) => Object.fromEntries(names.filter((name) => from[name].trim()).map((name) => [name, Number(from[name])]));
  const { duration, ...numbers } = given(form, [...sale, ...profiles[form.profile], ...services]);
  return {
    strategies: form.strategies, profile: form.profile, ...numbers, ...(duration && { duration_ns: duration * 1e9 }),
    ...(form.seed.trim() && { seed: form.seed.trim() }),
    faults: form.faults.map((fault) => {
      const kind = faultOf(kinds, fault.kind);
      const strategy = whose(kind, fault.strategy, form.strategies);
      return { kind: fault.kind, ...given(fault, ofFault(kind)), ...(strategy && { strategy }) };
    }),
  };
}

/**
 * The query of an address with these settings.
 * @param {Form} form
 */
export const address = (form) => ({
  strategies: form.strategies.join(','), profile: form.profile,
  ...Object.fromEntries([...sale, ...profiles[form.profile], 'seed', ...services].map((name) => [name, form[name].trim()])),
  faults: form.faults.map((f) => [f.kind, f.service, f.at_ms, f.for_ms, f.strategy].join('.')).join(','),
});

/**
 * The form of an address; null without settings.
 * @returns {Form|null}
 */
export function fromAddress(query) {
  const known = Object.keys(defaults).filter((name) => name in query);
  if (!known.length) return null;
  const list = (text = '') => text.split(',').filter(Boolean);
  const form = { ...defaults, ...Object.fromEntries(known.map((name) => [name, query[name]])) };
  return {
    ...form,
    profile: form.profile in profiles ? form.profile : defaults.profile,
    strategies: 'strategies' in query ? [...new Set(list(query.strategies))] : defaults.strategies,
    faults: list(query.faults).map((text) => {
      const [kind = '', service = '', at_ms = '', for_ms = '', strategy = ''] = text.split('.');
      return { kind, service, at_ms, for_ms, strategy };
    }),
  };
}

/**
 * The form that would repeat a run.
 * @param {Json.Settings} settings @returns {Form}
 */
export function fromRun(settings) {
  const text = (value, otherwise) => (value === undefined || value === 0 ? otherwise : String(value));
  return {
    ...Object.fromEntries(Object.keys(defaults).map((name) => [name, text(settings[name], defaults[name])])),
    strategies: settings.strategies, profile: settings.profile, duration: text((settings.duration_ns ?? 0) / 1e9, defaults.duration),
    faults: (settings.faults ?? []).map((f) => ({
      kind: f.kind, service: text(f.service, '1'), at_ms: String(f.at_ms), for_ms: text(f.for_ms, ''), strategy: f.strategy ?? '',
    })),
  };
}

/**
 * The same sale, without what the lab chooses itself.
 * @param {Json.Settings} settings @returns {Form}
 */
export const another = (settings) => ({
  ...fromRun(settings), seed: '', faults: [], ...Object.fromEntries(services.map((name) => [name, ''])),
});
