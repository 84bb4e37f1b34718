// Commands, answers and values in few words, for labels. What is not known is
// shown as it is.
import { words } from './text.js';

/** @typedef {import('./model.js').Kept} Kept */

/** @param {string} s in which keys and nodes get the names that people give them */
export const named = (s) => s.replace(/\{?seckill:(?:[\w:]*stock|stream):\d+\}?(?=[\s:;]|$)/g, (key) => words().short(key.replace(/[{}]/g, '')))
  .replace(/\/seckill\/locks\/stock-\d+\S*/g, (path) => path.match(/_c_[^-]*-(lock-\d*)/)?.[1].replace(/-0+(?=\d)/, '-') ?? words().short('seckill:lock:stock:1'));

/** @type {[RegExp, (m: RegExpMatchArray) => string][]} */
const shapes = [
  [/^SELECT ((?:GET|RELEASE)_LOCK)\(/i, (m) => m[1]],
  [/^SELECT (.+?) FROM (\w+).*?( FOR UPDATE.*| FOR SHARE.*)?$/is, (m) => `SELECT ${m[2] === 'stock' ? m[1].replace(/^run, (?=num\b)/, '').replace(/, (?:run\b|COALESCE\(|\(starts_at\b).*/s, '') : `${m[1].length > 14 ? '…' : m[1]} FROM ${m[2]}`}${m[3] ?? ''}`],
  [/^UPDATE stock SET (.+?) WHERE (?:id = \d+|code = \d+)(?: AND run = \d+)?(?: AND (.+))?$/is, (m) => `UPDATE ${m[1].replace(/LAST_INSERT_ID\((.*)\)/, '$1')}${m[2] ? ` WHERE ${m[2].replace(/ AND \(starts_at\b.*/s, '')}` : ''}`],
  [/^UPDATE (\w+) SET (.+?) WHERE/is, (m) => `UPDATE ${m[1]} SET ${m[2]}`],
  [/^(INSERT(?: IGNORE)? INTO|DELETE FROM|REPLACE INTO) (\w+)/i, (m) => `${m[1]} ${m[2]}`],
  [/^CALL (?:seckill_)?(\w+?)(?:_v\d+)?\(/i, (m) => `CALL ${m[1]}`],
  [/^(?:evalsha|eval) (?:\S+…|\S{20,}) (?:[3-9]|\d\d) (\S+) .*$/is, (m) => `EVALSHA ${named(m[1])} …`],
  [/^(?:evalsha|eval) (?:\S+…|\S{20,}) \d+ (.*)$/is, (m) => `EVALSHA ${named(m[1])}`],
  [/^(x\w+) (\S+) .*$/is, (m) => `${m[1].toUpperCase()} ${named(m[2])}`],
  [/^eval .*\n (?:[3-9]|\d\d) (\S+) .*$/is, (m) => `EVAL ${named(m[1])} …`], // what follows the script
  [/^eval .*\n \d+ (.*)$/is, (m) => `EVAL ${named(m[1])}`],
  [/^eval\b/i, () => 'EVAL'],
  [/^multi; (.*?)(?:; exec)?$/is, (m) => `MULTI ${named(m[1])}`],
  [/^txn if .*? then (put|delete)\b/i, (m) => `txn: ${m[1]} ${words().short('seckill:lock:stock:1')}`],
  [/^txn if .*? then get\b/i, () => `txn: create ${words().short('seckill:lock:stock:1')}`],
  [/^(set|get|del|getset|setnx|psetex|pexpire|watch|exists|mget|decrby|incr)\b (.*)$/is, (m) => `${m[1].toUpperCase()} ${named(m[2]).replace(/\b(nx|ex|px)\b/g, (o) => o.toUpperCase())}`],
];

/** @param {string} command */
export function brief(command) {
  const [, node = '', rest] = command.match(/^(node \d+: )?(.*)$/s) ?? ['', '', command];
  const shape = shapes.find(([pattern]) => pattern.test(rest));
  return node + (shape ? shape[1](/** @type {RegExpMatchArray} */ (rest.match(shape[0]))) : named(rest)).replace(/\s+/g, ' ').trim();
}

/** @type {[RegExp, string][]} */
const found = [ // rows of which one or two columns matter
  [/^id = \S+, public_id = .*/s, 'id = …'],
  [/^id = \S+, (state = \w+, released = \d+),.*/s, '$1'],
  [/^sku_id = \d+, run = \d+, (id = \S+, quantity = \d+)$/, '$1'],
];

/** @param {string} reply */
const columns = (reply) => found.reduce((said, [pattern, short]) => said.replace(pattern, short), reply);

/** @param {string} reply that says nothing but that it is done is left out */
export const briefly = (reply) => (/^(1 rows?|OK|ok|succeeded)?$/.test(reply) ? '' : words().reply(columns(reply).replace(/^(?:run = \d+, )?(num = -?\d+)(?:, (?:run|started) = \d+)+$/, '$1').replace(/\[kind\b.*/s, '…').replace(/_c_[^-]*-(lock-)0*(\d)/g, '$1$2')));

/**
 * Which server keeps a value.
 * @param {string} name @param {string[]} servers
 */
function homeOf(name, servers) {
  if (/^(stock|distributed_lock|lock_record)\./.test(name)) return 'sql';
  return name.startsWith('/') ? servers.find((s) => s === 'zookeeper' || s === 'etcd') : 'redis';
}

/** @param {string} value */
const shortly = (value) => {
  const last = value.split(' ')[0].split('/').at(-1)?.replace(/^_c_[^-]*-lock-0*(?=\d)/, '#') ?? '';
  return !last || last === '<nil>' ? '—' : last.length > 10 ? `${last.slice(0, 9)}…` : last;
};

/**
 * What a server keeps now and did not before, in a few words for each.
 * @param {Kept} before @param {Kept} after @param {string[]} servers
 * @returns {Map<string, string>} by server
 */
export function news(before, after, servers) {
  const found = /** @type {Map<string, Set<string>>} */ (new Map());
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const home = homeOf(name, servers);
    if (before.get(name) === after.get(name) || !home || !servers.includes(home)) continue;
    if (!before.has(name) && shortly(after.get(name) ?? '') === '—') continue; // looked at for the first time, and not there
    const [table, field] = name.match(/^(distributed_lock|lock_record)\.(\w+)$/)?.slice(1) ?? [];
    if (table && !(field === 'status' || (field === 'owner' && after.get(name)) || (field === 'expire' && !after.get('distributed_lock.owner')))) continue;
    const short = words().short(table ? 'seckill:lock:stock:1' : name.startsWith('/') ? 'seckill:lock:stock:1' : name.replace(/ on node \d+$/, ''));
    found.set(home, (found.get(home) ?? new Set()).add(`${short} ${shortly(after.get(name) ?? '')}`));
  }
  return new Map([...found].map(([home, texts]) => [home, [...texts].join(' · ')]));
}
