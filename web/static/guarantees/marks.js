// The look of an answer: a sign, and a colour in addition. "Holds in all
// schedules" and "holds in those tried" look different.

export const signs = { all: '✓', tried: '(✓)', breaks: '✗', measured: '•', 'n/a': '–', failed: '!', '': '?' };
export const kinds = {
  all: 'good', tried: 'good tried', breaks: 'bad', measured: 'seen', 'n/a': 'void', failed: 'fault', '': 'void',
};

/**
 * The key of a cell's look and words: its answer; `all` or `tried` where it holds.
 * @param {{answer: string, exhausted?: boolean}} [cell]
 * @returns {string}
 */
export const markOf = (cell) => (cell?.answer === 'holds' ? (cell.exhausted ? 'all' : 'tried') : cell?.answer ?? '');

const about = /** @type {Record<string, string[]>} */ ({
  lock: ['stolen', 'two_holders', 'blocked', 'hindered', 'kept'], counter: ['counter_and_row_differ', 'unused_counter_changed'],
  answer: ['not_linearizable', 'undersold', 'missing_order', 'lost_request'],
});

/**
 * What a rule that was broken is about: the stock, unless it is another's.
 * @param {string} [rule]
 */
export const brokenOf = (rule = '') => Object.keys(about).find((what) => about[what].includes(rule)) ?? 'stock';
