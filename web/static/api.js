// Calls to the lab and, through it, to the service.
import { request } from './source.js';
import { t } from './text.js';

// A lab with a token prints its address with #token=…; it is kept for this tab
// and taken out of the address bar.
const given = new URLSearchParams(location.hash.slice(1)).get('token');
/** @type {Record<string, string>} */
let kept = {};
try {
  kept = sessionStorage;
} catch { /* this browser keeps nothing: the token is forgotten with the page */ }
if (given) {
  kept.token = given;
  history.replaceState(null, '', location.pathname + location.search);
}

/** @param {string} token */
export const keepToken = (token) => { kept.token = token; };

/** An answer that is not a success, in the form of problem+json. */
export class Refused extends Error {
  /** @param {Json.Problem} problem */
  constructor(problem) {
    super(t.problem(problem.code, problem.detail) || `HTTP ${problem.status}`);
    this.code = problem.code || '';
    this.status = problem.status;
    /** What is wrong, by field; blame.js turns it into text. */
    this.blames = /** @type {Record<string, Json.Blame>} */ (Object.fromEntries((problem.errors || []).map((e) => [e.field, e])));
  }
}

/** No answer at all, or one that broke off. */
class Unreachable extends Error {
  /** @override In the language of the moment. */
  get message() { return t.wrong.unreachable; }
}

/** Fires `back` at the first good answer after the lab gave none, or failed. */
export const answers = new EventTarget();
let missed = false;

/**
 * A request, with what its outcome says of the lab.
 * @template T
 * @param {string} path @param {RequestInit} init @param {(answer: Response) => Promise<T>} read
 */
export async function ask(path, init, read) {
  try {
    const answer = await request(path, init);
    const result = await read(answer);
    if (missed && answer.ok) {
      missed = false;
      answers.dispatchEvent(new Event('back'));
    }
    return result;
  } catch (error) {
    const none = !init.signal?.aborted && (error instanceof TypeError || error instanceof SyntaxError);
    if (none || error.status >= 500) missed = true;
    throw none ? new Unreachable() : error;
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {{headers?: Record<string, string>, signal?: AbortSignal, keepalive?: boolean}} [more]
 */
export async function call(method, path, body, more = {}) {
  const headers = /** @type {Record<string, string>} */ ({ ...more.headers });
  if (kept.token && method !== 'GET') headers.Authorization = `Bearer ${kept.token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  return ask(path, { method, headers, signal: more.signal, keepalive: more.keepalive, body: body && JSON.stringify(body) }, async (answer) => {
    if (answer.ok) return answer.status === 204 ? null : answer.json();
    const problem = await answer.json().catch(() => ({}));
    throw new Refused({ ...problem, status: answer.status });
  });
}
