// The parts of a chapter, by their headings in either language.
import { sections } from './markdown.js';

/** @typedef {'know'|'primer'|'problem'|'steps'|'break'|'close'|'think'|'sources'} Part */

/** @type {[Part, string[]][]} */
const headings = [
  ['know', ['What you will know', '学完你会知道']], ['primer', ['A primer', '预备知识']], ['problem', ['The problem', '要解决的问题']],
  ['steps', ['The steps', '一步一步看']], ['break', ['Break it', '动手弄坏它']], ['close', ['What comes next', '下一步']],
  ['think', ['To think about', '想一想']], ['sources', ['Sources', '参考资料']],
];

/** @param {string} heading @returns {Part} what is not known is one of the steps */
export const partOf = (heading) => headings.find(([, names]) => names.includes(heading))?.[0] ?? 'steps';

/**
 * A chapter's sections, with their parts; what stands before the first is left out.
 * @param {string} text
 */
export const parts = (text) => sections(text).slice(1).map(([heading, blocks]) => ({ part: partOf(heading), heading, blocks }));
