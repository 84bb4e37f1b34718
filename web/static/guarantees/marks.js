// How an answer looks: a sign for everybody, a colour besides. That it holds in
// all schedules and that it holds in those that were tried look different.

/** Of `holds` in general: also what is only expected. */
export const signs = { holds: '✓', all: '✓', tried: '(✓)', breaks: '✗', measured: '•', 'n/a': '–', failed: '!', '': '?' };
export const kinds = {
  holds: 'good', all: 'good', tried: 'good tried', breaks: 'bad', measured: 'seen', 'n/a': 'void', failed: 'fault', '': 'void',
};

/**
 * The key of a cell's look and words: its answer; `all` or `tried` where it holds.
 * @param {{answer: string, exhausted?: boolean}} [cell]
 * @returns {string}
 */
export const markOf = (cell) => (cell?.answer === 'holds' ? (cell.exhausted ? 'all' : 'tried') : cell?.answer ?? '');
