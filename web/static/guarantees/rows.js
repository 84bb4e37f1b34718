// Which rows and columns of the matrix are shown. Pure functions.
/** The groups of columns, in order. Questions in no group are under "more". */
const groups = {
  sound: ['oversell', 'lost-update', 'processes', 'other-skus'],
  one: ['dead-holder', 'leaves', 'lease-end', 'clocks', 'owner', 'lost-reply', 'late-command', 'renewal', 'node-loss'],
  more: ['sold-out', 'cancel', 'restock', 'reset', 'same-key', 'two-faults'],
  measured: ['hung-holder', 'waits', 'order', 'reentrant'],
};

/**
 * The questions as the page shows them: by group.
 * @param {Json.Question[]} questions @returns {{group: string, questions: Json.Question[]}[]}
 */
export function grouped(questions) {
  const ids = Object.entries(groups);
  const groupOf = (/** @type {Json.Question} */ q) => ids.find(([, list]) => list.includes(q.id))?.[0] ?? 'more';
  return ids.map(([group]) => ({ group, questions: questions.filter((q) => groupOf(q) === group) })).filter((g) => g.questions.length);
}

/** The questions of the presets. */
export const presets = ['oversell', 'processes', 'dead-holder', 'lease-end', 'order'];

/**
 * Whether a row answers a question as one would wish: it holds, or waiters were
 * served in order.
 * @param {Json.Row} row @param {string} question
 */
export const meets = (row, question) => {
  const cell = row.cells[question];
  return cell?.answer === 'holds' || (question === 'order' && cell?.answer === 'measured' && cell.text?.split('; ')[0] === 'in order');
};

/**
 * The names in a list of the address.
 * @param {string} [text]
 */
export const listed = (text = '') => [...new Set(text.split(',').filter(Boolean))];

/**
 * Whether buyers wait for one another at something that one of them holds.
 * @param {Json.Row} row
 */
export const isLock = (row) => row.cells.waits?.answer === 'measured';

/** @param {Json.Row} row */
const broken = (row) => Object.values(row.cells).filter((c) => c.answer === 'breaks').length;

/**
 * The rows that match a filter: what breaks least comes first.
 * @param {Json.Matrix} matrix @param {Record<string, string>} filter @param {(row: Json.Row) => string} titleOf as the page shows it
 */
export const filtered = (matrix, { name = '', must = '' }, titleOf) => matrix.rows
  .filter((row) => listed(must).every((q) => meets(row, q)) && `${row.strategy} ${titleOf(row)}`.toLowerCase().includes(name.trim().toLowerCase()))
  .sort((a, b) => broken(a) - broken(b));
