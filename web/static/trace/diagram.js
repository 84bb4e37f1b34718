// A trace as a space-time diagram: buyers and servers are lines downwards,
// commands are arrows to a server and back. Pure: a trace in, SVG source out.
import { say } from '../guarantees/say.js';
import { preferences } from '../preferences.js';
import { t } from '../text.js';
import { labelOf, noteOf, replyOf, serverName } from './label.js';
import { layout, titleOf } from './layout.js';
import { model } from './model.js';
import { story } from './story.js';
import { words } from './text.js';
import { arrow, cross, el, hatched, line, lineOf, palette, size, svg, text, widthOf } from './drawing.js';

/** @typedef {import('./layout.js').Placed} Placed */
/** @typedef {import('./layout.js').Plan} Plan */
/** @typedef {ReturnType<typeof lineOf> & {x: number, inward: number}} Lane */

/**
 * width: of the drawing, in its own pixels; heading: what it shows is written
 * above; legend: below; current: the number of the step that is marked; scale:
 * how large it is shown; brief: it ends where all is lost.
 * @typedef {{width?: number, dark?: boolean, heading?: boolean, legend?: boolean, current?: number, scale?: number, brief?: boolean}} Options
 */

/** @param {import('./model.js').Trace} trace @param {Options} options @returns {string} SVG source */
export function diagram(trace, { width = 960, dark = false, heading = false, legend = true, current = 0, scale = 1, brief = false }) {
  const { m, plan } = planned(trace, { width, heading, legend, brief });
  const p = palette(dark);
  const lanes = new Map(m.buyers.map((who, i) => [who, { ...lineOf(p, i), x: plan.lanes.get(who) ?? 0, inward: plan.inward(who) }]));
  const front = [...heads(plan, p, lanes), ...plan.rows.flatMap((r) => texts(r, plan, p, lanes)), ...foot(plan, p)];
  const shapes = [...lifelines(plan, p, lanes), ...chip(plan.begins, p), ...bars(plan, p, lanes), ...plan.rows.flatMap((r) => arrows(r, plan, p, lanes)), ...plan.rows.flatMap((r) => fatal(r, p, lanes)), ...plan.rows.flatMap((r) => chip(r.chips, p))];
  const { title, lines } = inWords(plan);
  return svg(p, plan.width, plan.height, { title, desc: lines.join('\n'), language: preferences().language, scale },
    [frame(plan, p, current), ...shapes, ...sentences(plan, p), ...front, ...plan.rows.map(target)].join(''));
}

/** @param {import('./model.js').Trace} trace @param {{width: number, heading: boolean, legend: boolean, brief: boolean}} options */
function planned(trace, options) {
  const whole = model(trace);
  const rows = story(trace, whole, options.brief);
  const m = { ...whole, buyers: whole.buyers.filter((who) => who !== 'next' || rows.some((r) => r.kind !== 'rest' && r.step.who === who)) };
  return { m, plan: layout(trace, m, rows, options) };
}

/**
 * What a diagram shows, as a list of sentences.
 * @param {import('./model.js').Trace} trace
 */
export const sentencesOf = (trace) => inWords(planned(trace, { width: 960, heading: false, legend: false, brief: true }).plan).lines;

/**
 * What the drawing shows, for those who do not see it.
 * @param {Plan} plan
 */
function inWords({ trace, rows }) {
  const w = words().story;
  const of = (/** @type {Placed} */ r) => {
    const { step: s } = r.row;
    const who = s.who && words().who(s.who);
    const subject = r.row.kind === 'answer' ? w.answers(serverName(trace, s.backend), who) : who && r.server ? w.to(who, serverName(trace, s.backend)) : who;
    const said = [r.row.kind === 'answer' ? '' : r.label, r.reply].filter(Boolean).join(t.colon) || w.done;
    return `${r.number && `${r.number} `}${subject ? subject + t.colon : ''}${said}${r.row.notes.map((n) => t.aside(words().who(n.who) + t.colon + noteOf(n))).join('')}`;
  };
  const judged = trace.problems.map((problem) => `${t.rules[problem.rule] ?? problem.rule}${t.colon}${say(problem.message)}`);
  const told = trace.told.map((a) => `${words().who(a.who)}${t.colon}${say(a.answer)}`);
  return { title: trace.title ?? w.name(trace.strategy, titleOf(trace)), lines: [...rows.map(of), ...judged, ...told] };
}

/** @param {Plan} plan @param {import('./drawing.js').Palette} p @param {Map<string, Lane>} lanes */
function heads(plan, p, lanes) {
  const title = plan.heading.map((s, i) => text(p, s, 8, 22 + 17 * i, { bold: i === 0, of: i ? size : 15, colour: i ? p.muted : p.ink }));
  return [...title, ...plan.heads.flatMap(({ name, x, lines }) => [
    text(p, lines[0], x, plan.top - 14 * plan.headLines + 2, { anchor: 'middle', bold: true, of: 13, colour: lanes.get(name)?.colour ?? p.ink, class: 'head' }),
    ...lines.slice(1).map((s, i) => text(p, s, x, plan.top - 14 * (plan.headLines - i - 1), { anchor: 'middle', of: 11, colour: p.muted })),
  ])];
}

/** @param {Plan} plan @param {import('./drawing.js').Palette} p @param {Map<string, Lane>} lanes */
function lifelines(plan, p, lanes) {
  return [...plan.lanes].map(([name, x]) => {
    const lane = lanes.get(name);
    const end = plan.rows.find((r) => r.row.step.who === name && r.row.step.fault === 'dies');
    const to = lane && end ? end.middle : plan.bottom;
    return line(x, plan.top + 4, x, to, lane ? { stroke: lane.colour, 'stroke-width': 1.6, 'stroke-dasharray': lane.dash, class: 'life buyer' } : { stroke: p.plain, 'stroke-width': 2.6, class: 'life server' });
  });
}

/** @param {Plan} plan @param {import('./drawing.js').Palette} p @param {Map<string, Lane>} lanes */
function bars(plan, p, lanes) {
  return plan.bars.map(({ kind, who, from, to }) => {
    const lane = lanes.get(who);
    const height = Math.max(to - from, 4);
    if (!lane) return '';
    if (kind === 'stale') return el('g', { class: 'bar stale' }, el('rect', { x: lane.x - 5, y: from, width: 10, height, fill: p.panel }) + hatched(lane.x - 5, from, 10, height, p.bad));
    if (kind === 'waits') return el('rect', { class: 'bar waits', x: lane.x - 3, y: from, width: 6, height, rx: 3, fill: p['plain-soft'], stroke: p.field, 'stroke-width': 1.2 });
    if (kind === 'row') return el('g', { class: 'bar row' }, hatched(lane.x - lane.inward * 9.5 - 2.5, from, 5, height, lane.colour, true));
    return el('rect', { class: 'bar held', x: lane.x - 4.5, y: from, width: 9, height, rx: 2, fill: lane.colour });
  });
}

/** @param {Placed} r @param {Plan} plan @param {import('./drawing.js').Palette} p @param {Map<string, Lane>} lanes */
function arrows(r, plan, p, lanes) {
  const { kind, step: s, steps, sent } = r.row;
  const lane = lanes.get(s.who);
  if (kind === 'event') return [line(plan.gutter, r.middle, plan.width - 8, r.middle, { class: 'event', stroke: s.fault === 'time passes' ? p.muted : p.bad, 'stroke-width': 1.4, 'stroke-dasharray': '2 4' })];
  if (kind === 'act' && lane) return [s.fault === 'dies' ? cross(lane.x, r.middle, p.bad) : el('circle', { cx: lane.x, cy: r.middle, r: 4.5, fill: p.panel, stroke: lane.colour, 'stroke-width': 2 })];
  if (!lane || !r.server) return [];
  const toward = Math.sign(r.server - lane.x) || 1;
  const [here, there] = [lane.x + toward * 5, r.server - toward * 2];
  const group = (/** @type {string} */ name, /** @type {string} */ inner) => el('g', { class: name, 'data-steps': steps.map((i) => i + 1).join(' ') }, inner);
  const way = (/** @type {number} */ y1, /** @type {number} */ y2, late = false) => arrow(here, y1, there, y2, { colour: late ? p.warn : lane.colour, dash: late ? '2 4' : lane.dash, class: 'to' });
  const back = arrow(there, r.leaves, here, r.returns, { colour: lane.colour, dash: lane.dash, width: 1.1, class: 'back' });
  if (kind === 'answer') return [working(plan, sent, r.server, r.leaves, p), group('answer', back)];
  if (kind === 'late') return [group('command late', way(plan.at(sent ?? steps[0])?.sends ?? r.sends, r.arrives, true))];
  if (s.fault === 'delayed') return [group('command', el('path', { d: `M${here} ${r.sends}h${toward * 14}`, stroke: p.warn, 'stroke-width': 2, 'stroke-dasharray': '2 4' }))];
  const halfway = (here + there) / 2;
  if (s.fault === 'command lost') return [group('command', line(here, r.sends, halfway, (r.sends + r.arrives) / 2, { stroke: lane.colour, 'stroke-width': 1.6, 'stroke-dasharray': lane.dash }) + cross(halfway, (r.sends + r.arrives) / 2, p.bad))];
  const lost = s.fault === 'reply lost' && line(there, r.leaves, halfway, (r.leaves + r.returns) / 2, { stroke: lane.colour, 'stroke-width': 1.1, 'stroke-dasharray': lane.dash }) + cross(halfway, (r.leaves + r.returns) / 2, p.bad);
  return [group('command', way(r.sends, r.arrives) + (kind === 'sent' ? '' : lost || back))];
}

/**
 * How long a command was in the server: others come and go meanwhile.
 * @param {Plan} plan @param {number | undefined} sent @param {number} x @param {number} to @param {import('./drawing.js').Palette} p
 */
function working(plan, sent, x, to, p) {
  const from = plan.at(sent ?? -1)?.arrives ?? to;
  return el('rect', { class: 'working', x: x - 3, y: from, width: 6, height: Math.max(to - from, 1), fill: p.panel, stroke: p.plain, 'stroke-width': 1.2 });
}

/**
 * The fatal moment: where it happens, down to the judge's sentence.
 * @param {Placed} r @param {import('./drawing.js').Palette} p @param {Map<string, Lane>} lanes
 */
function fatal(r, p, lanes) {
  if (!r.row.fatal || !r.verdict.lines.length) return [];
  const [x, y] = r.server ? [r.server, r.arrives] : [lanes.get(r.row.step.who)?.x ?? 0, r.middle];
  return x ? [line(x, y, x, r.verdict.y + 3, { stroke: p.bad, 'stroke-width': 2 }), el('circle', { class: 'moment', cx: x, cy: y, r: 7.5, fill: 'none', stroke: p.bad, 'stroke-width': 2.4 })] : [];
}

/** @param {Placed['chips']} list @param {import('./drawing.js').Palette} p */
const chip = (list, p) => list.flatMap(({ x, y, width, said }) => {
  const colour = /(^|\s)-\d/.test(said) ? p.bad : p.ink;
  return [el('rect', { class: 'chip', x, y, width, height: 16, rx: 4, fill: p.panel, stroke: colour, 'stroke-width': 1.2 }),
    text(p, said.replace(/ -(?=\d)/g, ' −'), x + width / 2, y + 12, { anchor: 'middle', bold: true, of: 11, colour, class: 'value' })];
});

/** @param {Placed} r @param {Plan} plan @param {import('./drawing.js').Palette} p @param {Map<string, Lane>} lanes */
function texts(r, plan, p, lanes) {
  const { kind, step: s } = r.row;
  const lane = lanes.get(s.who);
  const anchor = !lane || kind === 'event' ? 'middle' : lane.inward > 0 ? 'start' : 'end';
  const bad = Boolean(s.fault) && !['delayed', 'arrives late', 'time passes'].includes(s.fault);
  const post = s.fault === 'delayed' || s.fault === 'arrives late';
  const width = widthOf(r.shown) + 4;
  const colour = bad ? p.bad : post ? p.warn : ['again', 'rest', 'act', 'event'].includes(kind) ? p.muted : p.ink;
  return [
    text(p, r.number, plan.gutter - 6, r.labelY, { anchor: 'end', of: 10, colour: p.muted, class: 'number' }),
    ...(kind === 'rest' ? [el('rect', { x: r.textX - width / 2, y: r.labelY - size, width, height: size + 4, fill: p.panel })] : []), // it is written on a lifeline
    ...(kind === 'answer' ? [] : [text(p, r.shown, r.textX, r.labelY, { anchor, code: r.code, colour, bold: bad, class: 'label' })]),
    ...(r.replyShown ? [text(p, r.replyShown, r.textX, r.replyY, { anchor, code: r.replyCode, colour: r.replyBad ? p.bad : post ? p.warn : p.muted, bold: r.replyBad, class: 'reply' })] : []),
    ...r.notes.flatMap((n) => n.lines.map((said, i) => text(p, said, n.x, n.y + 14 * i, { anchor: n.anchor, colour: n.bad ? p.bad : lanes.get(n.who)?.colour, bold: n.bad, class: n.bad ? 'belief wrong' : 'belief' }))),
    ...r.verdict.lines.map((said, i) => text(p, said, plan.gutter + 12, r.verdict.y + 18 + 16 * i, { bold: true, colour: p.bad, ground: p['bad-soft'], class: 'verdict' })),
  ];
}

/**
 * Around the step that is marked.
 * @param {Plan} plan @param {import('./drawing.js').Palette} p @param {number} current
 */
function frame(plan, p, current) {
  const r = current && plan.at(current - 1);
  return r ? el('rect', { class: 'current', x: 1, y: r.y, width: plan.width - 2, height: r.height, rx: 6, fill: p['plain-soft'], stroke: p.accent, 'stroke-width': 1.5 }) : '';
}

/**
 * Grounds of the judge's sentences.
 * @param {Plan} plan @param {import('./drawing.js').Palette} p
 */
const sentences = (plan, p) => plan.rows.filter((r) => r.verdict.lines.length).map(({ verdict: { y, lines } }) => el('rect',
  { class: 'fatal', x: plan.gutter, y: y + 3, width: plan.width - plan.gutter - 6, height: 16 * lines.length + 10, rx: 6, fill: p['bad-soft'], stroke: p.bad, 'stroke-width': 1.5 }));

/** @param {Plan} plan @param {import('./drawing.js').Palette} p */
const foot = (plan, p) => plan.foot.flatMap(({ y, said, sample, bold }) => [
  text(p, said, sample ? 34 : 12, y, { colour: sample ? p.muted : p.ink, bold, class: 'foot' }),
  ...(sample === 'stale' ? [hatched(14, y - 11, 10, 14, p.bad)] : sample === 'row' ? [hatched(16, y - 11, 5, 14, p.plain, true)]
    : sample === 'flight' ? [line(12, y - 4, 28, y - 4, { stroke: p.warn, 'stroke-width': 2, 'stroke-dasharray': '2 4' })]
      : sample === 'waits' ? [el('rect', { x: 15, y: y - 11, width: 6, height: 14, rx: 3, fill: p['plain-soft'], stroke: p.field, 'stroke-width': 1.2 })]
        : sample && sample !== 'more' ? [el('rect', { x: 14, y: y - 11, width: 9, height: 14, rx: 2, fill: p.plain })] : []),
]);

/**
 * What is clicked, and the whole command for a pointer that rests there.
 * @param {Placed} r
 */
const target = (r) => el('rect', { class: 'target', 'data-step': r.row.steps[r.row.kind === 'rest' ? 0 : r.row.steps.length - 1] + 1, x: 0, y: r.y, width: r.width, height: r.height, 'fill-opacity': 0 },
  el('title', { class: 'whole' }, labelOf.whole(r.row.step, replyOf(r.row))));
