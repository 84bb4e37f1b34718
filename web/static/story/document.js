// The project's documents as blocks: titles, paragraphs, lists, tables, commands, pictures.

/** @typedef {{kind: 'title'|'text'|'list'|'code'|'table'|'picture', text: string, level?: number, items?: string[], rows?: string[][], src?: string}} Block */

/** @param {string} row @returns {string[]} its cells; a bar inside `code` is part of one */
const cellsOf = (row) => row.trim().replace(/^\||\|$/g, '').split(/\|(?=(?:[^`]*`[^`]*`)*[^`]*$)/).map((cell) => cell.trim());

/** @type {[RegExp, (lines: string[], match: RegExpMatchArray) => Block | null][]} takes the lines that it needs */
const kinds = [
  [/^```(\w*)/, (lines) => {
    const end = lines.indexOf('```', 1);
    return { kind: 'code', text: lines.splice(0, (end < 0 ? lines.length : end) + 1).slice(1, -1).join('\n') };
  }],
  [/^(#+) (.*)/, (lines, m) => (lines.shift(), { kind: 'title', level: m[1].length, text: m[2] })],
  [/^!\[([^\]]*)\]\(([^)\s]+)\)$/, (lines, m) => (lines.shift(), { kind: 'picture', text: m[1], src: m[2] })],
  [/^\s*$|^<!--/, (lines) => (lines.shift(), null)],
  [/^\|/, (lines) => ({ kind: 'table', text: '', rows: whileTrue(lines, (line) => line.startsWith('|')).map(cellsOf).filter((cells) => !cells.every((c) => /^:?-+:?$/.test(c))) })],
  [/^(?:[-*]|\d+\.) /, (lines) => {
    const items = /** @type {string[]} */ ([]);
    for (const line of whileTrue(lines, (line) => /^(?:[-*]|\d+\.) |^\s+\S/.test(line))) {
      if (/^\s/.test(line)) items[items.length - 1] += `\n${line.trim()}`;
      else items.push(line.replace(/^\S+ +/, ''));
    }
    return { kind: 'list', text: '', items };
  }],
];

/**
 * Takes the first lines for which this is so.
 * @param {string[]} lines @param {(line: string) => boolean} so
 */
function whileTrue(lines, so) {
  const end = lines.findIndex((line) => !so(line));
  return lines.splice(0, end < 0 ? lines.length : end);
}

/** @param {string} source @returns {Block[]} */
export function blocksOf(source) {
  const lines = source.replace(/\r/g, '').split('\n');
  const blocks = /** @type {Block[]} */ ([]);
  while (lines.length) {
    const [begins, take] = kinds.find(([begins]) => begins.test(lines[0])) ?? [null, null];
    const block = take && begins ? take(lines, /** @type {RegExpMatchArray} */ (lines[0].match(begins)))
      : { kind: /** @type {const} */ ('text'), text: whileTrue(lines, (line) => !kinds.some(([other]) => other.test(line))).join('\n') };
    if (block) blocks.push(block);
  }
  return blocks;
}

/**
 * A title's name in an address, as GitHub writes it.
 * @param {string} title
 */
export const anchorOf = (title) => title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
