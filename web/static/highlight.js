// A small highlighter for Go, Lua, SQL and Redis commands. It knows keywords,
// strings, numbers and comments, but no grammar.
import { html } from './ui.js';

const words = {
  go: 'break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota error string bool int int64 uint64 any',
  lua: 'and break do else elseif end false for function if in local nil not or repeat return then true until while',
  sql: 'SELECT FROM WHERE UPDATE SET INSERT INTO VALUES DELETE BEGIN COMMIT ROLLBACK AND OR NOT NULL FOR NOWAIT SKIP LOCKED AS CASE WHEN THEN END ON DUPLICATE KEY IGNORE LIMIT ORDER BY CREATE TABLE PRIMARY UNIQUE INDEX IN IS LOCK SHARE MODE REPLACE EXISTS COUNT SUM COALESCE GET_LOCK RELEASE_LOCK LAST_INSERT_ID NOW',
  redis: 'SET GET DEL SETNX SETEX GETSET EXPIRE PEXPIRE PX EX NX XX EVAL EVALSHA INCR DECR INCRBY DECRBY MULTI EXEC WATCH BLPOP LPUSH RPUSH PUBLISH SUBSCRIBE HSET HGET HDEL SADD SREM EXISTS TTL PTTL',
};

const known = Object.fromEntries(Object.entries(words).map(([language, list]) => [language, new Set(list.split(' '))]));
const anyCase = ['sql', 'redis'];
const comments = { go: '//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)', lua: '--[^\\n]*', sql: '--[^\\n]*', redis: '--[^\\n]*' };
const texts = { go: '`[^`]*`?|"(?:\\\\.|[^"\\\\\\n])*"?|\'(?:\\\\.|[^\'\\\\\\n])*\'?', lua: '"(?:\\\\.|[^"\\\\\\n])*"?|\'(?:\\\\.|[^\'\\\\\\n])*\'?', sql: "'(?:''|[^'])*'?", redis: '"[^"\\n]*"?' };

/** The language by file extension, fence info or backend of a trace. */
export const languageOf = (name = '') => ({
  go: 'go', lua: 'lua', sql: 'sql', mysql: 'sql', redis: 'redis',
})[name.replace(/^.*\./, '').toLowerCase()] ?? '';

/** @param {string} text @param {string} language @returns {any} what to draw */
export function highlight(text, language) {
  if (!known[language]) return text;
  const token = new RegExp(`(${comments[language]})|(${texts[language]})|([A-Za-z_][A-Za-z0-9_]*)|(\\b\\d[\\d_.]*\\b)`, 'g');
  const parts = [];
  let end = 0;
  for (const m of text.matchAll(token)) {
    const kind = m[1] ? 'comment' : m[2] ? 'string' : m[4] ? 'num' : isKnown(m[3], language) ? 'word' : '';
    if (!kind) continue;
    const at = m.index ?? 0;
    parts.push(text.slice(end, at), html`<span class=${`hl-${kind}`}>${m[0]}</span>`);
    end = at + m[0].length;
  }
  return [...parts, text.slice(end)];
}

/**
 * A command or a path that may break between its names, not in one, nor at its end: a full stop may follow.
 * @param {any} parts text, or what highlight draws @returns {any}
 */
export const breakable = (parts) => [parts].flat().map((part) => (typeof part === 'string' ? part.split(/(?<=[/:,}_. ]|\w\()|(?<=[a-z])(?=[A-Z])/).map((name, i) => html`${i > 0 && html`<wbr />`}${name.length < 30 && /-./.test(name) ? html`<span class="unbroken">${name}</span>` : name}`) : part));

/** @param {string} word @param {string} language */
const isKnown = (word, language) => known[language].has(anyCase.includes(language) ? word.toUpperCase() : word);
