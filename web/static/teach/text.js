// The texts of plans and sheets, here in English. text/zh.js has the same keys in Chinese.
import { chosenOf } from '../preferences.js';
import { count, plural } from '../ui.js';
import zh from './text/zh.js';

const en = {
  title: 'Teach with it',
  chapterOf: (n) => `Chapter ${count(n)}`,
  present: 'Present', plan: 'Plan', sheet: 'Exercises', solutions: 'Solutions', back: 'All chapters',
  unknown: (name) => `There is no chapter “${name}”.`,

  slides: {
    label: (title) => `Slides: ${title}`, at: (n, all) => `${count(n)} / ${count(all)}`, of: (n, all) => `Slide ${count(n)} of ${count(all)}`,
    part: (n, all) => `${count(n)}/${count(all)}`,
    before: 'Back', next: 'Next', leave: 'Leave', notes: 'Notes', full: 'Full screen', print: 'Print',
    keys: 'Keys: ← and → turn the slides, Home and End go to the first and the last, N shows the notes, F is full screen, Esc leaves.',
    live: 'Break it', predict: 'Predict first', yours: 'Your turn', answer: 'An answer', levelsHint: 'In the game you are the scheduler.',
    note: {
      title: () => 'Open the lab in a second window before you begin. The live slide needs it.',
      know: () => 'Read the goals aloud. Ask who has met the problem at work, and let one person tell it.',
      primer: () => 'Ask first who knows this. Skip the slide if everybody does.',
      problem: () => 'Stop here. Let the class say what must never happen before you go on.',
      steps: () => 'Ask after each step: which command comes next, and who could come between?',
      drawn: () => 'Time runs downwards, one column for each buyer. Cover the lower half, and ask for the next reply.',
      picture: () => 'Draw it on the board, part by part, before you show it.',
      table: () => 'Cover the last column. Let the class fill it, row by row.',
      predict: () => 'A show of hands for each answer, and write the numbers on the board. Do not say who is right.',
      figures: () => 'Compare only within the table. The figures of another machine differ; the order seldom does.',
      break: () => 'Say what the button does, and nothing of what will come of it.',
      live: (name, stock, buyers) => `Read out again how many think what: how many ${name} sells of ${count(stock)} to ${count(buyers)} buyers. Then press the button, and wait for the verdict. Ask for the reason before you open the drawing. If it holds this time, run it again: every run is another schedule.`,
      schedule: (name) => `Let them name the command of ${name} after which things go wrong. Then play the counterexample step by step, and ask for each reply before you show it.`,
      play: () => 'Ten minutes, in pairs: one moves the buyers, the other says what the database holds. The first pair that solves a level shows it.',
      close: () => 'One sentence to remember. The next chapter begins with its gap.',
      think: () => 'Two minutes alone, two with a neighbour, then collect the answers.',
      answer: () => 'Show this only after three different answers have been given.',
      sources: () => 'For those who want to read on. Hand out the sheet as homework.',
    },
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
    run: 'Run it and compare:',
    matrix: 'For each strategy and each question of the proof: does it hold (✓) or break (✗)?', strategy: 'Strategy',
    matrixSolved: 'As the proof found it; (✓) holds in the schedules that were tried.',
    think: 'Think, and give reasons.', play: 'Find a schedule, or say that there is none.',
    impossible: 'It cannot be done.', schedule: (moves, switches) => `${plural(moves, 'move')}, ${plural(switches, 'switch', 'switches')}:`,
  },
};

export const words = chosenOf(en, zh);
