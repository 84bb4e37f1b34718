// The texts of faults, here in English. text/zh.js has the same keys in Chinese.
import { chosenOf } from '../preferences.js';
import { count } from '../ui.js';
import zh from './text/zh.js';

const en = {
  what: 'Each cell is a real sale in which something is broken halfway. One sale is a sample; the proof tries many orders of commands, or all where there are few.',
  show: 'Show', didNotHold: 'did not hold, and what broke', stuck: 'stuck',
  shows: { '': 'all', broke: 'what did not hold', wrong: 'what broke a promise' },
  shown: (n, all) => (n === all ? `${count(all)} strategies` : n ? `${count(n)} of ${count(all)} strategies` : 'No strategy matches.'),
  held: (n) => (n ? `held; not tested: ${count(n)}` : 'held'),
  words: {
    held: 'held', oversold: 'oversold', lost: 'the ledger does not add up', blocked: 'blocked', stopped: 'stopped',
    'not tested': 'not tested', 'proves nothing': 'proves nothing', '': 'not available here, or about a server or clock that the strategy does not use',
  },
  means: {
    oversold: 'More was sold than there was.', lost: 'Units or orders were lost, invented or overwritten.',
    blocked: 'The ledger is right. The sale stood still for three seconds longer than the wait for a lock, its lease (two seconds at least) and the fault itself.',
    stopped: 'Nothing was sold after the fault, although units were left.',
  },
  may: 'Expected: it is not made for this.', wrong: 'It promises to withstand this.',
  seconds: (n) => `${n.toFixed(1)} s`,
  control: 'No fault: the control run', controlHint: 'The same sale without a fault.',
  course: 'The course of the first part', sold: 'sold', trouble: 'without an answer, or with an error', band: 'the fault',
  says: (sold, trouble, seconds) => `${count(sold)} sold in ${seconds.toFixed(1)} s, ${count(trouble)} without an answer or with an error`,
  figures: {
    told: 'Buyers told “sold”', unknown: 'Unknown answers', ledger: 'Units in the ledger', of: (n, all) => `${count(n)} of ${count(all)}`, after: 'Sold after the fault', left: (n, all) => `${count(n)}, when ${count(all)} were left`,
    stood: 'Longest time without a sale', broken: 'Broken rules', command: 'The command that runs it again',
  },
  ran: (begun, machine, servers) => `Run on ${begun}, ${machine}: ${servers}. `, command: 'The whole table: ', left: (n) => `${count(n)} cells were not run.`,
  sale: (s) => `${s.rate} buyers a second, ${s.services} service processes; lease ${count(s.lease_ms)} ms, wait ${count(s.wait_ms)} ms. Killing a process does not test whether data reach the disk. `,
  guarantee: 'All its answers',
};

export const words = chosenOf(en, zh);
