// The settings of a sale, converted between the form (texts as typed), the
// address, a run, and the lab's request.

/** @typedef {{kind: string, service: string, at_ms: string, for_ms: string, strategy: string}} PlannedFault */
/** @typedef {{strategies: string[], profile: string, faults: PlannedFault[]} & Record<string, any>} Form */

/** The profiles, and the numbers that each needs. */
export const profiles = {
  closed: ['buyers', 'concurrency'], spike: ['buyers'], constant: ['rate', 'seconds'], ramp: ['rate', 'to_rate', 'seconds'],
};
const sale = ['stock', 'quantity'];
/** How buyers buy, and the numbers of those who reserve. */
export const ways = ['at_once', 'async', 'reserve'];
export const reserving = ['reserve_seconds', 'forget_percent', 'pay_late_percent'];
const ofWay = (form) => (form.buying === 'reserve' ? reserving : []);
/** Settings of the service processes; empty: unchanged. */
export const services = ['services', 'lease_ms', 'wait_ms', 'poll_ms'];
const holders = ['pause_holder', 'hang_holder', 'kill_holder', 'cut_holder'];
/** Whether the fault waits for a holder, in any process. */
export const isHolders = (kind) => holders.includes(kind);
/** Of a server that stays, and does not answer or refuses. */
const hurtServers = ['pause_redis', 'pause_mysql', 'full_redis', 'full_etcd', 'lock_row_mysql'];
/** Of several servers of one backend. */
const lostServers = ['lose_zookeeper', 'lose_etcd', 'failover_redis', 'lose_shard', 'pause_shard', 'lose_mysql'];
const ofService = ['pause_service', 'kill_service', 'jump_clock', 'cut_zookeeper_session'];
const lasting = ['pause_service', 'jump_clock', 'pause_holder', 'hang_holder', 'cut_holder', ...hurtServers, ...lostServers];
/** The fields of a fault, by kind. */
export const ofFault = (kind) => ['at_ms', ...(ofService.includes(kind) ? ['service'] : []), ...(lasting.includes(kind) ? ['for_ms'] : [])];

export const here = (all = []) => all.filter(({ lack }) => lack?.code !== 'no_link');

/**
 * The strategy whose holder a fault waits for; '' if there is no choice.
 * @param {{kind: string, strategy?: string}} fault @param {string[]} strategies
 */
export const whose = ({ kind, strategy = '' }, strategies) => (!isHolders(kind) || strategies.length < 2 ? ''
  : strategies.includes(strategy) ? strategy : strategies[0]);

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
  rate: '1000', to_rate: '3000', seconds: '5', seed: '', services: '', lease_ms: '', wait_ms: '', poll_ms: '', repeats: '1', faults: [],
  buying: 'at_once', reserve_seconds: '2', forget_percent: '10', pay_late_percent: '5',
};
/** How often a sale may be repeated. */
export const repeats = ['1', '5', '10', '20'];

/** Until the lab has sent its own. */
export const defaultLimits = {
  strategies: 4, stock: 1000000, buyers: 200000, concurrency: 1024, quantity: 1000, rate: 50000, seconds: 120,
  services: 8, lease_ms: 20000, wait_ms: 10000, poll_ms: 1000, faults: 8, at_ms: 120000, for_ms: 25000,
  reserve_seconds: 30,
};

const smallest = { at_ms: 0, lease_ms: 100, forget_percent: 0, pay_late_percent: 0 };
const shares = { forget_percent: 100, pay_late_percent: 100 };

/**
 * Every number of the form; those under More may be empty.
 * @param {Form} form
 */
function numbers(form) {
  const needed = [...sale, ...(profiles[form.profile] ?? []), ...ofWay(form)].map((name) => ({ field: name, name, text: form[name], needed: true }));
  const more = services.map((name) => ({ field: name, name, text: form[name], needed: false }));
  const faults = form.faults.flatMap((fault, i) => ofFault(fault.kind).map((name) => ({
    field: `faults[${i}].${name}`, name: name === 'service' ? 'services' : name, text: fault[name], needed: name === 'at_ms',
  })));
  return [...needed, ...more, ...faults];
}

/**
 * What cannot be sent, by field. The lab checks everything else.
 * @param {Form} form @param {Record<string, number>} limits
 */
export function findWrong(form, limits) {
  const wrong = /** @type {Record<string, Json.Blame>} */ ({});
  if (!form.strategies.length) wrong.strategies = { code: 'none' };
  if (!/^\d{0,20}$/.test(form.seed.trim())) wrong.seed = { code: 'seed' };
  for (const { field, name, text, needed } of numbers(form)) {
    const [least, most] = [smallest[name] ?? 1, shares[name] ?? limits[name]];
    const typed = text.trim();
    if (!typed && !needed) continue;
    if (!/^\d+$/.test(typed) || Number(typed) < least || Number(typed) > most) {
      wrong[field] = { code: 'range', params: { min: least, max: most } };
    }
  }
  if (ofWay(form).length && !wrong.forget_percent && !wrong.pay_late_percent && Number(form.forget_percent) + Number(form.pay_late_percent) > 100) {
    wrong.pay_late_percent = { code: 'both_shares' };
  }
  return wrong;
}

/**
 * The body of the request.
 * @param {Form} form
 */
export function request(form) {
  const given = (from, names) => Object.fromEntries(names.filter((name) => from[name].trim()).map((name) => [name, Number(from[name])]));
  return {
    strategies: form.strategies, profile: form.profile,
    ...(form.buying !== 'at_once' && { buying: form.buying }),
    ...given(form, [...sale, ...profiles[form.profile], ...ofWay(form), ...services]),
    ...(form.seed.trim() && { seed: form.seed.trim() }), ...(form.repeats !== '1' && { repeats: Number(form.repeats) }),
    faults: form.faults.map((fault) => {
      const strategy = whose(fault, form.strategies);
      return { kind: fault.kind, ...given(fault, ofFault(fault.kind)), ...(strategy && { strategy }) };
    }),
  };
}

/**
 * The query of an address with these settings.
 * @param {Form} form
 */
export const address = (form) => ({
  strategies: form.strategies.join(','), profile: form.profile,
  ...Object.fromEntries([...sale, ...profiles[form.profile], ...ofWay(form), 'seed', ...services].map((name) => [name, form[name].trim()])),
  buying: form.buying === 'at_once' ? '' : form.buying,
  repeats: form.repeats === '1' ? '' : form.repeats,
  faults: form.faults.map((f) => [f.kind, f.service, f.at_ms, f.for_ms, whose(f, form.strategies)].join('.')).join(','),
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
    buying: ways.includes(form.buying) ? form.buying : defaults.buying,
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
    strategies: settings.strategies, profile: settings.profile,
    ...(settings.buying === 'reserve' && Object.fromEntries(reserving.map((name) => [name, String(settings[name] ?? 0)]))),
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
