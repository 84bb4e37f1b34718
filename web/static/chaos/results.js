// What `seckill chaos` came to, written by `make chaos` and fetched once; and what
// its cells are called.
import { call } from '../api.js';
import { words as labWords } from '../lab/effect.js';
import { t } from '../text.js';
import { words } from './text.js';

/** @type {Promise<Json.Chaos> | null} */
let asked = null;

/** @returns {Promise<Json.Chaos>} */
export function loadChaos() {
  asked ??= call('GET', '/static/chaos/results.json').catch((error) => {
    asked = null; // retry next time
    throw error;
  });
  return asked;
}

/** The look of a cell by its word: a sign, and a colour in addition. */
export const signs = { held: '✓', oversold: '✗', lost: '✗', blocked: '‖', stopped: '■', 'not tested': '?', 'proves nothing': '!', '': '–', left: '' };
export const kinds = {
  held: 'good', oversold: 'bad', lost: 'bad', blocked: 'fault', stopped: 'fault', 'not tested': 'void', 'proves nothing': 'void', '': 'void', left: 'void',
};

/** @param {Json.ChaosCell | null} cell null: not run */
export const wordOf = (cell) => (cell ? cell.word ?? '' : 'left');

const broken = ['oversold', 'lost', 'blocked', 'stopped'];

/** @param {Json.Chaos} all @param {Record<string, string>} query */
export const filtered = ({ rows }, query) => rows.filter((row) => row.strategy.includes((query.name ?? '').trim())
  && (!query.show || row.cells.some((cell) => (query.show === 'wrong' ? cell?.wrong : broken.includes(wordOf(cell))))));

/**
 * Which columns have something to say.
 * @param {Json.Chaos} all
 */
export const columnsOf = ({ faults, rows }) => faults.map((fault, i) => ({ fault, i })).filter(({ i }) => rows.some((row) => row.cells[i]?.word));

/** A fault of a link is called by what happens, and at which server. */
const ofLink = /^(none|partition|lose_replies)_?(\w*)$/;

/** @param {string} fault @returns {string} */
export const titleOf = (fault) => t.faults.kinds[fault] ?? words().link(...partsOf(fault)) ?? fault;

/** @param {string} fault @returns {string} */
export const hintOf = (fault) => labWords().faults.hints[fault] ?? words().linkHint(...partsOf(fault)) ?? '';

/** @param {string} fault @returns {[string, string]} */
function partsOf(fault) {
  const [, what = '', server = ''] = ofLink.exec(fault) ?? [];
  return [what, server];
}
