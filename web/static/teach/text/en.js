// The texts of the teacher's pack in English.
import { count, plural } from '../../ui.js';

export default {
  title: 'Teach with it',
  chapterOf: (n) => `Chapter ${count(n)}`,
  present: 'Present', plan: 'Plan', sheet: 'Exercises', solutions: 'Solutions', back: 'All chapters',
  unknown: (name) => `There is no chapter “${name}”.`,

  slides: {
    label: (title) => `Slides: ${title}`, at: (n, all) => `${count(n)} / ${count(all)}`, of: (n, all) => `Slide ${count(n)} of ${count(all)}`,
    part: (n, all) => `${count(n)}/${count(all)}`,
    before: 'Back', next: 'Next', leave: 'Leave', notes: 'Notes', noNotes: 'No note for this slide.', full: 'Full screen', print: 'Print',
    keys: 'Keys: ← and → turn the slides, Home and End go to the first and the last, N shows the notes, F is full screen, Esc leaves.',
    live: 'Break it', yours: 'Your turn', answer: 'An answer', levelsHint: 'In the game you are the scheduler.',
  },

  plans: {
    title: 'The plan', minutes: (n) => `${count(n)} minutes`, length: 'Length of the lesson', watch: 'For the teacher',
    time: 'Minute', does: 'What', slides: 'Slides',
    range: (from, to) => (from === to ? `${count(from)}` : `${count(from)} to ${count(to)}`), span: (from, to) => `${count(from)} to ${count(to)}`,
    parts: {
      know: () => 'Open: what they will know, and what they need for it',
      primer: () => 'The primer: let them say what they know already',
      problem: () => 'The problem: let them find the two rules before you show them',
      steps: () => 'The steps: one slide, then one question to the class',
      break: (name, predicts) => (predicts ? `Predict first, each for themselves; then break ${name} live` : `Let them guess the fatal command; then play the counterexample of ${name}`),
      source: (names) => `Read the source in pairs: ${names}. Which line decides?`,
      play: (titles) => `In the game, alone or in pairs: ${titles}`,
      think: () => 'What comes next, and the question: think, talk to a neighbour, compare with the answer',
      close: () => 'Close: the sources, and the sheet as homework',
    },
  },

  sheets: {
    title: (chapter) => `Exercises: ${chapter}`, solved: (chapter) => `Solutions: ${chapter}`,
    name: 'Name', print: 'Print', other: { questions: 'Show the solutions', solutions: 'Show the questions' },
    predict: (name, stock, buyers) => `${count(buyers)} buyers want one unit each, and there are ${count(stock)}. How many does ${name} sell?`,
    few: (stock) => `fewer than ${count(stock)}`, all: (stock) => `exactly ${count(stock)}`, many: (stock) => `more than ${count(stock)}`,
    run: 'Run it and compare:',
    matrix: 'For each strategy and each question of the proof: does it hold (✓) or break (✗)?', strategy: 'Strategy',
    matrixSolved: 'As the proof found it; (✓) holds in the schedules that were tried.',
    think: 'Think, and give reasons.', play: 'Find a schedule, or say that there is none.',
    impossible: 'It cannot be done.', schedule: (moves, switches) => `${plural(moves, 'move')}, ${plural(switches, 'switch', 'switches')}:`,
  },
};
