// Where traces come from: the proof's counterexamples, lessons, and the lab's own.
import { Refused, ask, call } from '../api.js';
import { playable } from './live.js';
import { readExample } from './read.js';

const live = 'live.'; // a trace that the lab has recorded

/** There is no such trace: a key of words().wrong, and what was asked for. */
export class Missing extends Error {
  /** @param {string} code @param {string} [asked] */
  constructor(code, asked = '') {
    super(code);
    this.code = code;
    this.asked = asked;
  }
}

/** @param {string} name */
export const fileOf = (name) => (name.startsWith(live) ? `/api/lab/v1/traces/${name.slice(live.length)}` : `${name.startsWith('held.') ? '/static/lessons' : '/guarantees'}/${name}.json`);

/** @param {string} name @returns {Promise<import('./model.js').Trace>} */
export async function fetchExample(name) {
  if (!/^[\w-]+(\.[\w-]+)+$/.test(name)) throw new Missing('unknown', name);
  if (name.startsWith(live)) {
    return call('GET', fileOf(name)).then(playable, (error) => {
      throw error.code === 'unknown_trace' ? new Missing('gone') : error;
    });
  }
  // A trace that holds belongs to a lesson: the matrix has only counterexamples.
  return ask(fileOf(name), {}, async (answer) => {
    if (answer.status === 404) throw new Missing('unknown', name);
    if (!answer.ok) throw new Refused({ status: answer.status });
    return readExample(await answer.json());
  });
}
