// The texts of the lessons in English.
import { count } from '../../ui.js';

const plural = (/** @type {number} */ n, /** @type {string} */ one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;

export default {
  title: 'Lessons', chapters: 'Chapters', turn: 'Turn the page',
  chapter: (n, all) => `Chapter ${count(n)} of ${count(all)}`,
  progress: (n, all) => `${count(n)} of ${plural(all, 'chapter')} read`,
  read: 'read',
  unknown: (name) => `There is no chapter and no strategy “${name}”. This is the first chapter.`,
  source: 'The source code that runs', answer: 'A model answer',
  predict: {
    asks: (name, stock, buyers) => `Predict first: ${plural(buyers, 'buyer')} want one unit each, and there are ${count(stock)}. How many does ${name} sell?`,
    fewer: (stock) => `Fewer than ${count(stock)}`, all: (stock) => `Exactly ${count(stock)}`, more: (stock) => `More than ${count(stock)}`,
    right: 'You were right.', wrong: 'You expected something else.', was: (sold, initial) => `It sold ${count(sold)} of ${count(initial)}.`,
  },
  breakIt: (name, stock, buyers) => `Break it: ${plural(buyers, 'buyer')}, ${plural(stock, 'unit')}, ${name}`,
  live: (name, title) => `Break it live: ${name}, “${title}”`, liveRuns: 'The schedule runs on this lab’s servers …', said: ': ',
  liveBroke: (rules) => `Just now, on this lab’s servers, it broke: ${rules}.`, liveHeld: 'This time it held. Run it again.',
  play: (name, title) => `${name}, “${title}”, step by step`, inWords: 'The drawing in words', howItBreaks: 'How it breaks, drawn', playYourself: 'Play it yourself: you are the scheduler',
  drawn: (strategy, question = '') => `${strategy}${question && ` · ${question}`}: this drawing, step by step`, notDrawn: (why) => `The drawing could not be loaded: ${why}`,
  beside: (name) => `The same with ${name}, step by step`,
  noExample: 'This program’s matrix has no such counterexample. To find it, run',
  traces: 'With two buyers, step by step:',
  other: (name) => `A run of ${name} is in progress. Wait for its verdict.`,
  measure: 'Figures depend on the machine. Measure yours:',
  measured: {
    strategy: 'Strategy', sales: 'Sales/s', share: 'Of the bare transaction',
    lock: 'Lock', alone: 'Alone, locks/s', crowd: (n) => `${n} at once, locks/s`, wait: (n) => `${n}: p99 wait, ms`,
    pause: 'Pause between attempts', lease: 'Lease', rate: 'Locks/s', notYet: 'not measured yet', commands: 'Commands per lock', lost: 'Updates lost',
    on: (date, cpus, servers) => `Measured on ${date} with ${plural(cpus, 'processor')}: ${servers}. Medians of the rounds, with the lowest and the highest.`,
    how: {
      compare: (run) => `${count(run.at_once)} concurrent buyers.`,
      'bench locks': (run) => `Contenders hold the lock for ${run.hold_ms} ms.`,
      'bench claims': (run) => `${run.lock}, 8 contenders, tasks of ${run.task_ms} ms. One central row took ${run.central_over_segmented[0]} times as long as a hundred segments.`,
    },
  },
};
