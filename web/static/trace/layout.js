// Where everything of a diagram stands. Each text has a line of its own across
// the drawing, but for notes in a column beside their buyer's line: so no two
// texts can meet, at any width.
import { say } from '../guarantees/say.js';
import { t } from '../text.js';
import { news } from './brief.js';
import { fit, widthOf, widthOfCode, wrap } from './drawing.js';
import { event, labelOf, noteOf, replyOf, serverName } from './label.js';
import { narrow } from './model.js';
import { words } from './text.js';

/** @typedef {import('./story.js').Row} Row */
/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {{x: number, y: number, anchor: string, who: string, bad: boolean, lines: string[]}} NoteAt */
/**
 * @typedef {{row: Row, y: number, height: number, width: number, number: string, label: string, shown: string, code: boolean, textX: number,
 *   labelY: number, reply: string, replyShown: string, replyCode: boolean, replyBad: boolean, replyY: number, server: number, middle: number,
 *   sends: number, arrives: number, leaves: number, returns: number, notes: NoteAt[], chips: {x: number, y: number, width: number, said: string}[],
 *   verdict: {y: number, lines: string[]}}} Placed
 * @typedef {ReturnType<typeof columns> & {trace: Trace, rows: Placed[], top: number, bottom: number, height: number, heading: string[],
 *   heads: {name: string, x: number, lines: string[]}[], headLines: number, begins: Placed['chips'], at: (step: number) => Placed | undefined,
 *   bars: {kind: string, who: string, from: number, to: number}[], foot: {y: number, said: string, sample: string, bold: boolean}[]}} Plan
 */

const noteLine = 14;

/** @param {Trace} trace @param {Model} m @param {Row[]} rows @param {{width: number, heading: boolean, legend: boolean}} options @returns {Plan} */
export function layout(trace, m, rows, { width, heading, legend }) {
  const c = columns(m, width);
  const titles = heading ? headingOf(trace, c.width - 16) : [];
  const heads = headsOf(trace, m, c);
  const headLines = Math.max(...heads.map((h) => h.lines.length));
  const top = (titles.length ? 22 + 17 * titles.length : 0) + 14 * headLines + 8;
  const begins = atFirst(m, c, top + 8);
  let y = top + (begins.length ? 26 : 10);
  const placed = rows.map((row) => {
    const r = place(row, y, trace, m, c);
    y += r.height;
    return r;
  });
  const at = new Map(placed.filter((r) => r.row.kind !== 'answer').flatMap((r) => r.row.steps.map((i) => [i, r])));
  const bars = [...barsOf(m, trace, at, placed, y), ...waitsOf(placed, y)];
  const foot = footOf(trace, m, c.width, y + 22, new Set(legend ? [...m.bars, ...bars].map((b) => b.kind) : []));
  return { ...c, trace, rows: placed, top, bottom: y, height: foot.end, heading: titles, heads, headLines, begins, at: (i) => at.get(i), foot: foot.lines, bars };
}

/**
 * Buyers left and right of the servers; notes beside their lines where there is room.
 * @param {Model} m @param {number} wanted
 */
function columns(m, wanted) {
  const gutter = 40;
  const left = m.buyers.slice(0, Math.max(1, Math.floor(m.buyers.length / 2)));
  const right = m.buyers.slice(left.length);
  const all = [...left, ...m.servers, ...right];
  const wide = wanted >= gutter + m.buyers.length * 132 + (m.servers.length + 1) * 105;
  const note = wide ? Math.min(160, (wanted - gutter - (m.servers.length + 1) * 105) / m.buyers.length) : 0;
  const width = Math.max(wanted, gutter + all.length * 54);
  const [from, to] = wide ? [gutter + note * left.length, width - note * right.length - (right.length ? 0 : 60)] : [gutter + 12, width - 14];
  const inner = wide ? [left[left.length - 1], ...m.servers, ...right.slice(0, 1)] : all;
  const gap = (to - from) / Math.max(inner.length - 1 + (wide || right.length ? 0 : 0.5), 1);
  const lanes = new Map(inner.map((name, i) => [name, from + gap * i]));
  if (wide) {
    left.forEach((name, i) => lanes.set(name, gutter + note * (i + 1)));
    right.forEach((name, i) => lanes.set(name, to + note * i));
  }
  return { width, gutter, note, gap, lanes, order: all, inward: (/** @type {string} */ who) => (left.includes(who) ? 1 : -1), servers: m.servers };
}

/** @param {Trace} trace */
export const titleOf = ({ question }) => (question ? t.guarantees.titleOf({ id: question, title: question }) : '');

/** @param {Trace} trace @param {number} width */
function headingOf(trace, width) {
  return [fit([trace.strategy, titleOf(trace)].filter(Boolean).join(' · '), width * 0.75), ...wrap(say(trace.name), width)].filter(Boolean);
}

/** @param {Trace} trace @param {Model} m @param {ReturnType<typeof columns>} c */
function headsOf(trace, m, c) {
  return c.order.map((name) => {
    const buyer = trace.buyers.find((b) => b.name === name);
    const does = c.note && buyer?.does ? wrap(words().does(buyer), c.note - 12).slice(0, 3) : [];
    const room = c.note && m.buyers.includes(name) ? c.note : c.gap;
    const wide = (/** @type {string} */ s) => widthOf(s, 14);
    const said = m.buyers.includes(name) ? words().who(name) : serverName(trace, name);
    const lines = [fit(wide(said) > room - 4 ? narrow[name] ?? said : said, room - 4, wide), ...does];
    const half = Math.max(...lines.map((s) => widthOf(s, 13.5))) / 2 + 2;
    return { name, x: Math.min(Math.max(c.lanes.get(name) ?? 0, half), c.width - half), lines };
  });
}

/** @param {Row} row @param {number} y @param {Trace} trace @param {Model} m @param {ReturnType<typeof columns>} c @returns {Placed} */
function place(row, y, trace, m, c) {
  const { step: s, kind, steps } = row;
  const mine = kind === 'event' ? undefined : c.lanes.get(s.who);
  const inward = c.inward(s.who);
  const textX = mine === undefined ? (c.gutter + c.width) / 2 : mine + inward * 18;
  const room = mine === undefined ? c.width - c.gutter - 16 : inward > 0 ? c.width - textX - 6 : textX - c.gutter - 4;
  const server = ['act', 'event', 'rest'].includes(kind) ? 0 : c.lanes.get(s.backend) ?? 0;
  const [label, reply] = [labelOf(row), replyOf(row)];
  const code = kind !== 'again' && kind !== 'late' && Boolean(server) && !trace.named && event(s) === undefined;
  const replyCode = Boolean(reply) && !s.fault && !s.result && !trace.named;
  const cut = (/** @type {string} */ said, /** @type {boolean} */ mono) => fit(said, room, mono ? widthOfCode : (text) => widthOf(text) * 1.06);
  const labelY = y + (kind === 'answer' ? 0 : 14);
  const sends = labelY + 5;
  const arrives = sends + (server ? 5 : 2);
  const answered = Boolean(server) && (kind === 'message' || kind === 'again' || kind === 'answer');
  const leaves = kind === 'answer' ? y + 4 : arrives + 5;
  const returns = leaves + 5;
  const chips = kind === 'answer' ? [] : chipsOf(row, m, c, server, inward, server ? sends - 1 : sends + 2);
  let end = kind === 'answer' ? y + 10 : server ? (answered ? returns : arrives) : sends + 8;
  if (chips.length) end = Math.max(end, chips[0].y + 17);
  const replyY = (answered ? returns : arrives) + 13;
  if (reply) end = Math.max(end, replyY + 2);
  const { notes, end: noted } = notesOf(row, c, kind === 'event' ? sends + 24 : y + 12, Math.max(end, y + 4));
  const verdict = { y: noted + 2, lines: row.problems.flatMap((p) => wrap(`✗ ${t.rules[p.rule] ?? p.rule}${t.colon}${say(p.message)}`, (c.width - c.gutter - 30) / 1.12)) };
  const height = (verdict.lines.length ? verdict.y + 16 * verdict.lines.length + 14 : noted + 5) - y;
  const [first, last] = [steps[0] + 1, steps[steps.length - 1] + 1];
  return { row, y, height, width: c.width, number: kind === 'answer' || kind === 'rest' || trace.title ? '' : first === last ? `${first}` : `${first}–${last}`, label, shown: cut(label, code), code, textX, labelY,
    reply, replyShown: cut(reply, replyCode), replyCode, replyBad: replyOf.bad(row), replyY, server, middle: kind === 'event' ? sends + 10 : kind === 'act' ? y + 10 : (sends + returns) / 2,
    sends, arrives, leaves, returns, notes, chips, verdict };
}

/**
 * The stock row before the first step.
 * @param {Model} m @param {ReturnType<typeof columns>} c @param {number} y
 */
const atFirst = (m, c, y) => [...news(new Map(), new Map([...m.states[0]].filter(([name]) => name === 'stock.num')), c.servers)].map(([home, said]) => {
  const width = widthOf(said, 11.8) + 8;
  return { x: (c.lanes.get(home) ?? 0) - width / 2, y, width, said };
});

/**
 * What a server keeps, in little room: its name becomes shorter, not its value.
 * @param {string} said @param {number} room
 */
function cut(said, room) {
  const wide = (/** @type {string} */ s) => widthOf(s, 11.8);
  const [name, value] = said.includes('·') ? [said, ''] : [said.slice(0, said.lastIndexOf(' ')), said.slice(said.lastIndexOf(' '))];
  return wide(said) <= room || !value || wide(value) > room * 0.6 ? fit(said, room, wide) : fit(name, room - wide(value), wide) + value;
}

/**
 * What servers keep from here on: beside their lines, away from the arrow.
 * @param {Row} row @param {Model} m @param {ReturnType<typeof columns>} c @param {number} server @param {number} inward @param {number} y
 */
function chipsOf({ steps, kind }, m, c, server, inward, y) {
  if (kind === 'rest') return [];
  return [...news(m.states[steps[0]], m.states[steps[steps.length - 1] + 1], c.servers)].map(([home, full]) => {
    const x = c.lanes.get(home) ?? 0;
    const said = cut(full, Math.max(c.gap * 0.9 - 14, 62));
    const width = widthOf(said, 11.8) + 8;
    return { x: x === server ? Math.min(x + inward * 7 - (inward < 0 ? width : 0), c.width - width - 2) : x - width / 2, y, width, said };
  });
}

/**
 * Beliefs: in the column outside their buyer's line; without columns, and where
 * an arrow passes, in lines of their own.
 * @param {Row} row @param {ReturnType<typeof columns>} c @param {number} y @param {number} from
 */
function notesOf(row, c, y, from) {
  let end = from;
  const used = /** @type {Map<string, number>} */ (new Map());
  const notes = row.notes.map((n) => {
    const x = c.lanes.get(n.who) ?? 0;
    const inward = c.inward(n.who);
    const bad = n.kind !== 'read';
    const own = c.lanes.get(row.step.who);
    const passed = own !== undefined && n.who !== row.step.who && c.inward(row.step.who) === inward && (own - x) * inward < 0;
    const column = c.note > 0 && !passed && row.kind !== 'rest';
    const lines = wrap(noteOf(n), column ? (c.note - 22) / (bad ? 1.12 : 1.02) : (inward > 0 ? c.width - x - 24 : x - c.gutter - 24) / 1.12);
    if (!column) {
      end += noteLine * lines.length;
      return { x: x + inward * 18, y: end - noteLine * lines.length + 12, anchor: inward > 0 ? 'start' : 'end', who: n.who, bad, lines };
    }
    const top = used.get(n.who) ?? y;
    used.set(n.who, top + noteLine * lines.length);
    return { x: x - inward * 17, y: top, anchor: inward > 0 ? 'end' : 'start', who: n.who, bad, lines };
  });
  return { notes, end: Math.max(end, ...[...used.values()].map((bottom) => bottom - noteLine + 3)) };
}

/** @param {Model} m @param {Trace} trace @param {Map<number, Placed>} at @param {Placed[]} placed @param {number} bottom */
function barsOf(m, trace, at, placed, bottom) {
  const answered = new Map(placed.filter((r) => r.row.kind === 'answer').map((r) => [r.row.sent, r]));
  const start = (/** @type {import('./model.js').Bar} */ b) => {
    const r = at.get(b.from);
    return r?.row.step.who === b.who && r.server ? (answered.get(b.from) ?? r).returns : r?.middle ?? bottom;
  };
  const died = (/** @type {string} */ who) => placed.find((r) => r.row.step.who === who && r.row.step.fault === 'dies')?.middle ?? bottom;
  return m.bars.filter((b) => b.kind !== 'flight' && at.has(b.from) && (b.from === b.to || at.get(b.from) !== at.get(b.to))).map((b) => {
    const next = m.bars.find((o) => o.who === b.who && o.from === b.to + 1 && ['held', 'stale'].includes(o.kind) && ['held', 'stale'].includes(b.kind));
    const r = at.get(b.to);
    const open = b.to === trace.steps.length - 1 && r?.row.step.who !== b.who;
    const to = next ? start(next) : open || !r ? bottom : r.row.step.who === b.who && r.server ? r.sends : r.middle;
    return { kind: b.kind, who: b.who, from: start(b), to: Math.min(to, died(b.who)) };
  });
}

/**
 * Where buyers wait in a server: until the answer, or until they do something else.
 * @param {Placed[]} placed @param {number} bottom
 */
const waitsOf = (placed, bottom) => placed.filter((r) => r.row.kind === 'sent' && r.row.step.result === 'waits').map((r) => {
  const { who } = r.row.step;
  const next = placed.slice(placed.indexOf(r) + 1).find((o) => o.row.step.who === who);
  return { kind: 'waits', who, from: r.arrives, to: !next ? bottom : next.row.kind === 'answer' ? next.returns : next.middle };
});

/** @param {Trace} trace @param {Model} m @param {number} width @param {number} from @param {Set<string>} kinds of bars to explain */
function footOf(trace, m, width, from, kinds) {
  const lines = /** @type {Plan['foot']} */ ([]);
  let y = from;
  const add = (/** @type {string} */ said, sample = '', bold = false) => wrap(said, (width - 50) / (bold ? 1.12 : 1.04)).forEach((one, i) => {
    lines.push({ y, said: one, sample: i && sample ? 'more' : sample, bold });
    y += 17;
  });
  if (trace.told.length) add(words().told, '', true);
  for (const a of trace.told) if (a.who !== 'next' || m.buyers.includes(a.who)) add(`${words().who(a.who)}${t.colon}${say(a.answer)}`);
  for (const kind of ['held', 'stale', 'key', 'row', 'waits', 'flight']) if (kinds.has(kind)) add(words().bars[kind], kind);
  return { lines, end: lines.length ? y : from - 10 };
}
